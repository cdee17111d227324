// Global keys of a chat page (docs/reference/ux.md 11), each pressed once.
// UX-24, UX-27 of docs/acceptance.md.
import { startChat, expectStatus, latestReply, messageBox, openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { turnHeading, holdConversation, userTurns } from "../../support/turn_actions.ts";

test("Ctrl+Shift+O starts a new chat, also while typing in the old one", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await messageBox(page).focus();
  await page.keyboard.press("Control+Shift+O");
  await expect(page).toHaveURL(/\/$/);
  await expect(userTurns(page)).toHaveCount(0);
  await expect(messageBox(page)).toBeFocused();
});

test("Ctrl+B hides the column of chats and brings it back, and a reload keeps it hidden", async ({ page }) => {
  await openPage(page);
  const chats = page.locator("#chats");
  await expect(chats).toBeVisible();
  await page.keyboard.press("Control+b");
  await expect(chats).toBeHidden();
  await page.reload();
  await expect(page.locator("html[data-hydrated]")).toBeAttached();
  await expect(chats).toBeHidden();
  await page.keyboard.press("Control+b");
  await expect(chats).toBeVisible();
});

test("Ctrl+Shift+; copies the newest block of code", async ({ page, model, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await startChat(page, "Show me code");
  (await model.nextReply()).finishWithText("One:\n\n```rust\nlet first = 1;\n```\n\nTwo:\n\n```rust\nlet second = 2;\n```\n");
  await expectStatus(latestReply(page), "complete");
  await page.keyboard.press("Control+Shift+;");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("let second = 2;\n");
  await expect(page.locator(".toast").getByText("Copied.")).toBeVisible();
});

test("? lists the keys, and is a letter where somebody types", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await messageBox(page).press("?");
  await expect(messageBox(page)).toHaveValue("?");
  await expect(list).toBeHidden();
  await turnHeading(latestReply(page)).focus();
  await page.keyboard.press("?");
  await expect(list).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(list).toBeHidden();
  await expect(turnHeading(latestReply(page))).toBeFocused();
});

test("keys of other alphabets are known in small letters and in capitals", async ({ page }) => {
  await page.goto("/settings/shortcuts");
  const row = page.locator("#search");
  await row.getByText("Change", { exact: true }).click();
  await row.getByRole("textbox").fill("Ctrl+ж");
  await row.getByRole("textbox").press("Enter");
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  await expect(page.locator("#search kbd").last()).toHaveText("Ж");
  await openPage(page);
  const search = page.getByRole("dialog", { name: "Search and commands" });
  for (const key of ["ж", "Ж"]) {
    // With Caps Lock the key is a capital; Playwright cannot press Caps Lock.
    const press = { key, ctrlKey: true, bubbles: true, cancelable: true };
    await page.evaluate((press) => document.body.dispatchEvent(new KeyboardEvent("keydown", press)), press);
    await expect(search).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(search).toBeHidden();
  }
  await page.keyboard.press("Control+/");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" }).locator("kbd", { hasText: "Ж" })).toBeVisible();
});
