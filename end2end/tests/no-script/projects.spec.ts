// Projects without script: create, begin a chat, move chats, change, delete. UX-48 of docs/acceptance.md.
import { expect, test } from "../../support/fixtures.ts";

test("chats are grouped in a project, begin with its instructions, and stay when it is deleted", async ({ page, turnleaf }) => {
  const headers = { "content-type": "application/json" };
  for (const title of ["Oak trees", "Stones"]) {
    await fetch(`${turnleaf.url}/api/chats`, { method: "POST", headers, body: JSON.stringify({ title, provider: "demo" }) });
  }
  await page.goto("/projects");
  await page.getByRole("textbox", { name: /^Name/ }).fill("Boat");
  await page.getByRole("combobox", { name: "Color" }).selectOption("Blue");
  await page.getByRole("textbox", { name: /^Instructions/ }).fill("Metric units.");
  await page.getByRole("button", { name: "Create project" }).click();
  await expect(page.getByText("Project created.")).toBeVisible();
  await expect(page.getByText("No chats in this project.")).toBeVisible();
  const project = new URL(page.url()).pathname;

  // A chat that begins in it has its instructions.
  await page.getByRole("button", { name: "New chat in this project" }).click();
  await page.waitForURL("**/c/*");
  await page.goto(`${new URL(page.url()).pathname}/settings`);
  await expect(page.getByRole("textbox", { name: /^System prompt/ })).toHaveValue("Metric units.");
  await expect(page.getByRole("combobox", { name: "Move to" })).toContainText("Boat");
  const settings = page.url();

  // Others are moved into it at once.
  await page.goto("/chats");
  await page.getByRole("checkbox", { name: "Select “Oak trees”" }).check();
  await page.getByRole("combobox", { name: "Move to" }).selectOption("Boat");
  await page.getByRole("button", { name: "Move", exact: true }).click();
  await expect(page.getByText("Moved 1 chat.")).toBeVisible();
  await page.goto(project);
  const chats = page.getByRole("list", { name: "Chats", exact: true });
  await expect(chats.getByRole("listitem")).toHaveCount(2);
  await expect(chats).toContainText("Oak trees");

  // Other instructions are offered to the chats that began with the earlier ones.
  await page.getByRole("textbox", { name: /^Instructions/ }).fill("Imperial units.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  await page.goto(settings);
  await page.getByRole("button", { name: "Use in new branches" }).click();
  await expect(page.getByRole("textbox", { name: /^System prompt/ })).toHaveValue("Imperial units.");
  await expect(page.getByRole("button", { name: "Use in new branches" })).toHaveCount(0);

  await page.goto(project);
  await page.getByRole("link", { name: "Search in this project" }).click();
  await expect(page.getByText("Only in project “Boat”")).toBeVisible();
  await page.goto(`${project}/delete`);
  await expect(page.getByRole("radio", { name: /Keep the chats/ })).toBeChecked();
  await page.getByRole("button", { name: "Delete project" }).click();
  await expect(page.getByText("Project deleted.")).toBeVisible();
  await page.goto("/chats");
  await expect(page.getByRole("checkbox")).toHaveCount(3);
});
