// Whole chats without script: renamed, deleted, restored; and errors are pages.
// UX-32, UX-44, UX-50 of docs/acceptance.md.
import { chooseModel, latestReply, sendMessage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a chat is renamed and deleted by forms, and restored from Trash", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Hello");
  (await model.nextReply()).finishWithText("Good day.");
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  const chat = new URL(page.url()).pathname;

  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`${chat}/settings`));
  await page.getByRole("textbox", { name: "Title" }).fill("Plans & more");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  await page.goto(chat);
  await expect(page.getByRole("heading", { name: "Plans & more" })).toBeVisible();

  // A suggested title is proposed in the form that renames the chat.
  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("button", { name: "Suggest a title" }).click({ noWaitAfter: true });
  (await model.nextReply()).finishWithText("\"Greetings\"");
  await expect(page).toHaveURL(/\/title-suggestions\//);
  await expect(page.getByRole("textbox", { name: "Title" })).toHaveValue("Greetings");
  await page.getByRole("textbox", { name: "Title" }).fill("Plans & more");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  await page.goto(chat);

  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page).toHaveURL(/\/trash\?done=chat/);
  await expect(page.getByText("Chat moved to Trash. You can restore it as it was.")).toBeVisible();
  await page.getByRole("button", { name: /^Restore/ }).click();
  await expect(page.getByRole("heading", { name: "Plans & more" })).toBeVisible();
});

test("a failure is a page with a back link", async ({ page, watch }) => {
  watch.expect(/status of 404/);
  for (const path of ["/documents/none", "/c/none/settings", "/turns/none/again"]) {
    const answer = await page.goto(path);
    expect(answer?.status()).toBe(404);
    await expect(page.getByText("This page does not exist, or you do not have access to it.")).toBeVisible();
    await expect(page.getByText("Request ID:")).toBeVisible();
    await expect(page.getByRole("main").getByRole("link").first()).toBeVisible();
  }
});

test("plain pages fit on 320 px", async ({ page, watch }) => {
  watch.expect(/status of 404.*documents\/none/);
  await page.setViewportSize({ width: 320, height: 640 });
  for (const path of [
    "/documents",
    "/documents/new",
    "/settings/general",
    "/settings/appearance",
    "/settings/providers",
    "/settings/tools",
    "/settings/shortcuts",
    "/settings/shared-links",
    "/settings/about",
    "/usage",
    "/trash",
    "/notifications",
    "/search?q=x",
    "/documents/none",
  ]) {
    await page.goto(path);
    const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(tooWide, path).toBeLessThanOrEqual(0);
  }
});

test("a new chat and a chat whose reply runs fit on 320 px", async ({ page, model }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await page.goto("/");
  await expect(page.getByRole("link", { name: "Insert from a server" })).toBeVisible();
  expect(await tooWide()).toBeLessThanOrEqual(0);
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Hello");
  const reply = await model.nextReply();
  reply.sendText("half");
  await page.waitForURL(/\/c\//);
  // A page that is written on does not refresh itself.
  await page.goto(`${new URL(page.url()).pathname}?hold=1`);
  await expect(page.getByRole("button", { name: "Queue message" })).toBeVisible();
  expect(await tooWide()).toBeLessThanOrEqual(0);
  reply.finish();
});

test("on a phone the settings are a list that leads to its pages and back", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/settings");
  const sections = page.getByRole("navigation", { name: "Settings" });
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toHaveAccessibleName("Settings");
  await expect(sections.getByRole("list", { name: "You" }).getByRole("link")).toHaveText(["General", "Appearance", "Shortcuts"]);
  await expect(page.getByRole("group", { name: "Language" })).toBeHidden();
  await sections.getByRole("link", { name: "Appearance" }).click();
  await expect(title).toHaveText("Appearance");
  await expect(sections.getByRole("link")).toHaveText(["Settings"]);
  await sections.getByRole("link", { name: "Settings" }).click();
  // With room beside the list, the index is the first page.
  await page.setViewportSize({ width: 1024, height: 800 });
  await expect(title).toHaveAccessibleName("General");
  await expect(page.getByRole("group", { name: "Language" })).toBeVisible();
  await expect(sections.getByRole("link", { name: "Trash" })).toHaveCount(0);
  // Pages beside the chats have a list of their own.
  await page.goto("/trash");
  await page.getByRole("navigation", { name: "Chats and files" }).getByRole("link", { name: "Usage" }).click();
  await expect(title).toHaveText("Usage");
});

test("trying again, searching and choosing a look are forms, on a phone too", async ({ page, model }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Hello there");
  (await model.nextReply()).finishWithText("Good day.");
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("Good evening.");
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  await expect(latestReply(page)).toContainText("Good evening.");
  await expect(latestReply(page)).toContainText("2/2");

  await page.goto("/search");
  await page.getByRole("searchbox", { name: "Search for" }).fill("evening");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.locator("mark", { hasText: "evening" }).first()).toBeVisible();

  await page.goto("/settings/appearance");
  await page.locator("#theme").getByRole("button", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
