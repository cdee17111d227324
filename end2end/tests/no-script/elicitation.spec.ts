// Questions of a tool server, and its resources and prompts, with forms only.
import { expect } from "../../support/fixtures.ts";
import { approvalPrompt, createChatWithTools, decisionButton, test, toolCards, toolMessages, wireName } from "../../support/tools.ts";

test("a question is answered with a form, and an error stands beside its field", async ({ page, model, turnleaf }) => {
  const chat = await createChatWithTools(turnleaf);
  await page.goto(`/c/${chat}`);
  await page.getByRole("textbox", { name: "Message" }).fill("Go");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  (await model.nextReply()).finishWithToolCalls([wireName("ask"), "form"]);
  await expect(async () => {
    await page.goto(`/c/${chat}`);
    await expect(approvalPrompt(page)).toBeVisible({ timeout: 1_000 });
  }).toPass();
  const city = approvalPrompt(page).getByLabel("City");
  await city.evaluate((input: HTMLInputElement) => input.form!.setAttribute("novalidate", "")).catch(() => undefined);
  await city.fill("Bergen");
  await decisionButton(page, "Send").click();
  const reply = await model.nextReply();
  expect(toolMessages(reply.request)[0]!.content).toContain("Bergen");
  reply.finishWithText("Done.");
  await expect(async () => {
    await page.goto(`/c/${chat}`);
    await expect(toolCards(page).first()).toHaveAttribute("data-tool-status", "done", { timeout: 1_000 });
  }).toPass();
});

test("a resource that a result links to is attached from the reply", async ({ page, model, turnleaf }) => {
  const chat = await createChatWithTools(turnleaf);
  await page.goto(`/c/${chat}`);
  await page.getByRole("textbox", { name: "Message" }).fill("Go");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  (await model.nextReply()).finishWithToolCalls([wireName("search"), "links"]);
  (await model.nextReply()).finishWithText("Done.");
  await expect(async () => {
    await page.goto(`/c/${chat}`);
    await expect(toolCards(page).first()).toHaveAttribute("data-tool-status", "done", { timeout: 1_000 });
  }).toPass();
  await toolCards(page).first().locator("summary").first().click();
  await toolCards(page).first().getByRole("button", { name: "Attach Today" }).click();
  await expect(page).toHaveURL(new RegExp(`/c/${chat}`));
  await expect(page.locator(".attached-item")).toContainText("today");
});

test("values of arguments are suggested by the server", async ({ page, turnleaf }) => {
  const chat = await createChatWithTools(turnleaf);
  await page.goto(`/insert?chat=${chat}`);
  await page.getByLabel("topic").fill("my");
  await page.getByRole("button", { name: "Suggest values review" }).click();
  const topic = page.getByLabel("topic");
  await expect(topic).toHaveAttribute("list", /.+/);
  await expect(topic).toHaveValue("my");
  const offered = (list: string) => page.locator(`#${list} option`).evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
  expect(await offered((await topic.getAttribute("list"))!)).toEqual(["my code", "my text"]);
  await page.getByRole("button", { name: "Suggest values A day" }).click();
  const address = page.getByLabel("Address");
  await expect(address).toHaveAttribute("list", /.+/);
  expect(await offered((await address.getAttribute("list"))!)).toEqual(["notes://monday", "notes://a%20%26%20b"]);
  await address.fill("notes://monday");
  await page.getByRole("button", { name: "Attach A day" }).click();
  await expect(page.locator(".attached-item")).toContainText("monday");
});

test("a resource is viewed and attached, and a prompt is filled in", async ({ page, turnleaf }) => {
  const chat = await createChatWithTools(turnleaf);
  await page.goto(`/c/${chat}`);
  await page.getByRole("link", { name: "Insert from a server" }).click();
  await page.getByRole("button", { name: "View Today" }).click();
  await expect(page.getByText("# Notes of today")).toBeVisible();
  await page.getByRole("button", { name: "Attach" }).click();
  await expect(page.locator(".attached-item")).toContainText("today");
  await page.getByRole("link", { name: "Insert from a server" }).click();
  await page.getByLabel("topic").fill("my code");
  await page.getByRole("button", { name: "Insert review" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("Review my code.");
});

test.describe("a server that asks before it gives a prompt", () => {
  test.use({ withPages: true });

  test("gets the answer and writes the prompt", async ({ page, turnleaf }) => {
    const chat = await createChatWithTools(turnleaf);
    await page.goto(`/insert?chat=${chat}`);
    await page.getByRole("button", { name: "Insert Trip" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "“Files” has a question for you" })).toBeVisible();
    await page.getByLabel("City").fill("Bergen");
    await page.getByRole("button", { name: "Send" }).click();
    await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("Plan a trip to Bergen (begun).");
  });
});
