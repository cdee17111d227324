// Comparing two replies and rerunning a path with links and forms only.
// UX-47 of docs/acceptance.md.
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";

test("branches are compared, and a path is asked again, stopped, resumed and finished", async ({ page, model }) => {
  test.setTimeout(120_000);
  await page.goto("/");
  await page.getByRole("combobox", { name: "Model", exact: true }).selectOption(`openai/${MODEL}`);
  await page.getByRole("textbox", { name: "Message" }).fill("What is a tree?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  (await model.nextReply()).finishWithText("A tall green plant.");
  const chat = new URL(page.url()).pathname;
  await expect(page.getByText("A tall green plant.")).toBeVisible();

  await page.goto(`${chat}/compare`);
  await expect(page.getByText("This chat has only one branch.")).toBeVisible();
  const again = page.getByRole("region", { name: "Rerun this branch with another model" });
  await again.getByLabel("Model").selectOption(`openai/${MODEL}`);
  await again.getByRole("button", { name: "Rerun" }).click();
  await expect(page.getByRole("heading", { name: "Rerunning message 1 of 1" })).toBeVisible();
  await model.nextReply();
  await page.getByRole("link", { name: "Open new branch" }).click();
  await page.getByRole("button", { name: "Stop reply" }).click();

  await page.goto(`${chat}/compare`);
  await page.getByRole("link", { name: new RegExp(MODEL) }).or(page.locator(".graft-list a")).first().click();
  await expect(page.getByText("The last reply was stopped.")).toBeVisible();
  await page.getByRole("button", { name: "Resume" }).click();
  (await model.nextReply()).finishWithText("A tall woody plant.");
  // The page refreshes itself.
  await expect(page.getByRole("heading", { name: "The message was rerun" })).toBeVisible();
  await page.getByRole("link", { name: "Compare original and rerun" }).click();
  const first = page.getByRole("article", { name: "Message 1" });
  await expect(first.locator("del")).toContainText("green");
  await expect(first.locator("ins")).toContainText("woody");

  // The texts come first; other branches are chosen with the form below, and the figures are folded.
  await page.getByText("Branches to compare").click();
  const choose = page.getByRole("form", { name: "Branches to compare" });
  const options = choose.getByLabel("Right").locator("option");
  await expect(options).toHaveCount(3);
  const value = await options.nth(1).getAttribute("value");
  await choose.getByLabel("Right").selectOption(value!);
  await choose.getByRole("button", { name: "Compare" }).click();
  await expect(page.getByRole("table", { name: /^Models and usage/ })).toBeHidden();
  await page.getByText("Summary").click();
  await expect(page.getByRole("table", { name: /^Models and usage/ })).toBeVisible();
});
