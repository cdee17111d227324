// Errors are shown where the action was started, with Retry, and nothing typed is lost (docs/reference/ux.md 4.10).
import type { Locator, Page } from "@playwright/test";

import { startChat, expectStatus, latestReply, messageBox, openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { holdConversation } from "../../support/turn_actions.ts";

const list = (page: Page): Locator => page.locator("#chats");
const failureNotice = (page: Page): Locator => list(page).locator(".failed-deed");
const rows = (page: Page): Locator => list(page).locator(".chat-item");

async function createChat(page: Page, model: ModelServer, text: string): Promise<void> {
  await startChat(page, text);
  (await model.nextReply()).finishWithText("Fine.");
  await page.waitForURL("**/c/*");
  await expectStatus(latestReply(page), "complete");
}

async function choose(page: Page, deed: string): Promise<void> {
  await rows(page).first().hover();
  await rows(page).first().getByRole("button").click();
  await page.locator("#chat-menu").getByRole("button", { name: deed, exact: true }).click();
}

for (const [deed, call, left] of [["Delete", "delete_chat", 0], ["Archive", "place_chat", 0], ["Pin", "place_chat", 1]] as const) {
  test(`${deed} that fails is reported above the list, and retried from there`, async ({ page, model, watch }) => {
    watch.expect(/ERR_FAILED|Failed to fetch/);
    await createChat(page, model, "How do leaves grow?");
    await page.route(`**/api/page/${call}*`, (route) => route.abort());
    await choose(page, deed);
    await expect(failureNotice(page)).toContainText("“How do leaves grow?”: Could not reach the server");
    await expect(rows(page)).toHaveCount(1);
    await expect(page.locator(".toast")).toHaveCount(0);
    // The error stays after a failed retry.
    await failureNotice(page).getByRole("button", { name: "Retry", exact: true }).click();
    await expect(failureNotice(page)).toContainText("Could not reach the server");
    await page.unroute(`**/api/page/${call}*`);
    await failureNotice(page).getByRole("button", { name: "Retry", exact: true }).click();
    await expect(failureNotice(page)).toHaveCount(0);
    await expect(rows(page)).toHaveCount(left);
    if (deed === "Pin") await expect(list(page).getByRole("list", { name: "Pinned" }).getByRole("listitem")).toHaveCount(1);
  });
}

test("a failed Undo is reported, and can be retried after its toast is gone", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await createChat(page, model, "How do leaves grow?");
  await choose(page, "Delete");
  await expect(rows(page)).toHaveCount(0);
  await page.route("**/api/page/restore_chat*", (route) => route.abort());
  await page.locator(".toasts").getByRole("button", { name: "Undo" }).click();
  await expect(failureNotice(page)).toBeVisible();
  await page.unroute("**/api/page/restore_chat*");
  await failureNotice(page).getByRole("button", { name: "Retry", exact: true }).click();
  await expect(rows(page)).toHaveCount(1);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("where the list is not on screen, a toast reports it and retries", async ({ page, model, watch }) => {
    watch.expect(/ERR_FAILED|Failed to fetch/);
    await createChat(page, model, "How do leaves grow?");
    await page.route("**/api/page/delete_chat*", (route) => route.abort());
    await page.locator(".chat-head").getByRole("button", { name: "More actions for this chat" }).click();
    await page.locator(".chat-head").getByRole("button", { name: "Delete", exact: true }).click();
    const note = page.locator(".toast", { hasText: "Could not reach the server" });
    await expect(note).toBeVisible();
    await page.unroute("**/api/page/delete_chat*");
    const gone = page.waitForResponse("**/api/page/delete_chat*");
    await note.getByRole("button", { name: "Retry", exact: true }).click();
    await gone;
  });
});

test("a branch that could not be renamed keeps what was typed, with the reason beside it", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await openPage(page);
  await holdConversation(page, model, 1);
  await page.keyboard.press("Control+.");
  const card = page.locator("#panel .tree-card");
  const field = card.getByRole("textbox", { name: "Name" });
  await expect(field).toBeVisible();
  await page.route("**/api/page/change_branch*", (route) => route.abort());
  await field.fill("Leaves");
  await field.press("Enter");
  await expect(card.locator(".problem")).toContainText("Could not reach the server");
  await expect(field).toHaveValue("Leaves");
  await expect(page.locator(".toast")).toHaveCount(0);
  await page.unroute("**/api/page/change_branch*");
  await field.press("Enter");
  await expect(card.locator(".problem")).toHaveCount(0);
  await expect(page.locator(".toast")).toContainText("Saved");
});

test("another tab's draft of the new chat is requested again when it failed to load", async ({ page, context, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await openPage(page);
  let refused = 0;
  await page.route("**/api/page/load_chat*", (route) => {
    refused += 1;
    return refused === 1 ? route.abort() : route.continue();
  });
  const other = await context.newPage();
  await openPage(other);
  const saved = other.waitForResponse("**/api/page/save_draft*");
  await messageBox(other).fill("Written in the other tab");
  await saved;
  await page.bringToFront();
  await expect(messageBox(page)).toHaveValue("Written in the other tab");
  expect(refused).toBeGreaterThan(1);
});
