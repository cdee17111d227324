// Whole chats without script: renamed, deleted, restored; and errors are pages.
// UX-32, UX-44, UX-47 of docs/acceptance.md.
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
  await expect(page.getByText("Saved.")).toBeVisible();
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
  await expect(page.getByText("Saved.")).toBeVisible();
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

test("on a phone the pages are listed behind the name of the current one", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/settings/general");
  const sections = page.getByRole("navigation", { name: "Settings" });
  await expect(sections.getByRole("link")).toHaveCount(0);
  await sections.locator("summary", { hasText: "General" }).click();
  await sections.getByRole("link", { name: "Appearance" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Appearance");
  await expect(sections.getByRole("link")).toHaveCount(0);
  await page.setViewportSize({ width: 1024, height: 800 });
  await expect(sections.getByRole("link", { name: "General" })).toBeVisible();
  await expect(sections.locator("summary")).toBeHidden();
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
