// Deletion of a version with its descendants: by mouse, by keys only, seen in another tab, undone at once and from
// Trash.
// UX-24 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, openPage, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { holdResponses, visibleTexts } from "../../support/turn_actions.ts";
import type { ModelServer } from "../../support/model_server.ts";

async function startChatWithReply(page: Page, model: ModelServer): Promise<void> {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "Two");
  (await model.nextReply()).finishWithText("Second.");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
}

function menuOf(turn: Locator): Locator {
  return turn.getByRole("button", { name: "More", exact: true });
}

test("a message goes with its reply, other tabs follow, and Undo brings both back", async ({ page, context, model }) => {
  await startChatWithReply(page, model);
  const other = await context.newPage();
  await openPage(other, page.url());
  await expect(replies(other)).toHaveCount(2);

  const second = page.locator("article[data-role=user]").last();
  await menuOf(second).click();
  await second.getByRole("button", { name: "Delete this version and 1 message below" }).click();
  await expect(replies(page)).toHaveCount(1);
  await expect(page.getByText("Deleted 2 messages.")).toBeVisible();
  // The note stays while the pointer is on it, however long the other tab takes.
  await page.locator(".toast").hover();
  await expect(page.getByRole("status").first()).toHaveText("Deleted. Undo available.");
  await expect(page).toHaveURL(/\?at=/);
  await expect(replies(other)).toHaveCount(1);

  await page.getByRole("button", { name: "Undo" }).click();
  await expect(replies(page)).toHaveCount(2);
  await expect(textOf(latestReply(page))).toHaveText("Second.");
  await expect(page.getByText("Deleted 2 messages.")).toBeHidden();
  await expect(replies(other)).toHaveCount(2);
  await page.reload();
  await waitForHydration(page);
  await expect(textOf(latestReply(page))).toHaveText("Second.");
});

test("a version is deleted and restored with keys alone", async ({ page, model }) => {
  await startChatWithReply(page, model);
  await menuOf(latestReply(page)).focus();
  await page.keyboard.press("Enter");
  const row = latestReply(page).getByRole("button", { name: "Delete this version", exact: true });
  await expect(row).toBeVisible();
  for (let presses = 0; presses < 20 && !(await row.evaluate((element) => element === document.activeElement)); presses++) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await expect(replies(page)).toHaveCount(1);
  // The nearest remaining turn gets the focus.
  await expect(page.locator("article[data-role=user]").last().getByRole("heading")).toBeFocused();
  await page.keyboard.press("Control+z");
  await expect(replies(page)).toHaveCount(2);
  await expect(textOf(latestReply(page))).toHaveText("Second.");
});

test("a message whose reply was deleted is tried again by mouse and by key, and the chat continues", async ({ page, model }) => {
  await startChatWithReply(page, model);
  const second = page.locator("article[data-role=user]").last();
  for (const press of [
    () => second.getByRole("button", { name: "Retry", exact: true }).click(),
    async () => {
      await second.getByRole("heading").focus();
      await page.keyboard.press("r");
    },
  ]) {
    await menuOf(latestReply(page)).click();
    await latestReply(page).getByRole("button", { name: "Delete this version", exact: true }).click();
    await expect(replies(page)).toHaveCount(1);
    await press();
    (await model.nextReply()).finishWithText("Once more.");
    await expect(replies(page)).toHaveCount(2);
    await expectStatus(latestReply(page), "complete");
    await expect(textOf(latestReply(page))).toHaveText("Once more.");
    await expect(second.getByRole("button", { name: "Retry", exact: true })).toHaveCount(0);
  }
  await sendMessage(page, "Three");
  (await model.nextReply()).finishWithText("Third.");
  await expect(replies(page)).toHaveCount(3);
  await expectStatus(latestReply(page), "complete");
});

test("a reply that is written is stopped, and what comes after a deletion stands beside it", async ({ page, model }) => {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "Two");
  const running = await model.nextReply();
  running.sendText("half");
  await expect(textOf(latestReply(page))).toHaveText("half");
  const second = page.locator("article[data-role=user]").last();
  await menuOf(second).click();
  await second.getByRole("button", { name: /^Delete this version/ }).click();
  await running.closed;
  await expect(replies(page)).toHaveCount(1);
  await sendMessage(page, "Three");
  (await model.nextReply()).finishWithText("Third.");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");

  const chat = new URL(page.url()).pathname;
  await page.goto("/trash");
  await page.getByRole("button", { name: /^Restore Two/ }).click();
  await expect(page).toHaveURL(new RegExp(chat));
  await waitForHydration(page);
  await expect(textOf(latestReply(page))).toHaveText("half");
  await expectStatus(latestReply(page), "cancelled");
  await expect(page.getByRole("button", { name: "1/2" })).toBeVisible();
});

test("a version is deleted optimistically, with Undo, and the path is resolved afterwards", async ({ page, model }) => {
  await startChatWithReply(page, model);
  const held = await holdResponses(page, "delete_turn");
  const polled = page.waitForRequest("**/api/page/glance*");
  await menuOf(latestReply(page)).click();
  await latestReply(page).getByRole("button", { name: "Delete this version", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["One", "First.", "Two"]);
  await expect(page.locator(".toast")).toContainText("Deleted 1 message.");
  await expect(page.locator("#say")).toHaveText("Deleted. Undo available.");
  await held.requested;
  // The page is told of the deletion meanwhile.
  await polled;
  expect(await visibleTexts(page)).toEqual(["One", "First.", "Two"]);
  held.release();
  await expect(page).toHaveURL(/\?at=/);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["One", "First.", "Two", "Second."]);
  await page.reload();
  await waitForHydration(page);
  expect(await visibleTexts(page)).toEqual(["One", "First.", "Two", "Second."]);
});

test("Undo before the response restores a version at once and permanently", async ({ page, model }) => {
  await startChatWithReply(page, model);
  const held = await holdResponses(page, "delete_turn");
  await menuOf(latestReply(page)).click();
  await latestReply(page).getByRole("button", { name: "Delete this version", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["One", "First.", "Two"]);
  await held.requested;
  await page.keyboard.press("Control+z");
  await expect.poll(() => visibleTexts(page)).toEqual(["One", "First.", "Two", "Second."]);
  const restored = page.waitForResponse(/restore_deletion/);
  held.release();
  await (await restored).finished();
  await page.reload();
  await waitForHydration(page);
  expect(await visibleTexts(page)).toEqual(["One", "First.", "Two", "Second."]);
});

test("a version the server fails to delete is restored, with an error in its place", async ({ page, model, watch }) => {
  watch.expect(/status of 503.*delete_turn/);
  await startChatWithReply(page, model);
  let go = () => {};
  const held = new Promise<void>((resolve) => { go = resolve; });
  await page.route("**/api/page/delete_turn", async (route) => {
    await held;
    await route.fulfill({ status: 503, contentType: "text/plain", body: "busy" });
  });
  const second = page.locator("article[data-role=user]").last();
  await menuOf(second).click();
  await second.getByRole("button", { name: "Delete this version and 1 message below" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["One", "First."]);
  await expect(page.locator(".toast")).toContainText("Deleted 2 messages.");
  go();
  await expect.poll(() => visibleTexts(page)).toEqual(["One", "First.", "Two", "Second."]);
  await expect(second.locator(".refused")).toBeVisible();
  await expect(page.locator("#alert")).not.toBeEmpty();
  await expect(page.locator(".toast")).toHaveCount(0);
});
