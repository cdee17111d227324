// Trash from a hydrated page, with keys only, and Undo from another chat.
import type { Page } from "@playwright/test";

import { expectStatus, waitForHydration, latestReply, openPage, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { chooseByKeys, turnHeading, menuButton, visibleTexts, tabTo, holdConversation, userTurns } from "../../support/turn_actions.ts";

/** Deletes the last exchange with keys only and goes to Trash. */
async function removeByKeys(page: Page): Promise<void> {
  const row = page.getByRole("button", { name: "Delete this version and 1 message below" });
  await chooseByKeys(page, userTurns(page).last(), row);
  await expect(replies(page)).toHaveCount(1);
  await expect(turnHeading(latestReply(page))).toBeFocused();
  await tabTo(page, page.getByRole("link", { name: "Trash" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Trash" })).toBeVisible();
}

test("Trash restores, and deletes permanently, with keys alone", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  await removeByKeys(page);
  await expect(page.getByRole("listitem").filter({ hasText: "q2" })).toContainText("2 messages");
  await tabTo(page, page.getByRole("button", { name: /^Restore/ }));
  await page.keyboard.press("Enter");
  await waitForHydration(page);
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);

  await removeByKeys(page);
  await tabTo(page, page.getByRole("button", { name: /^Delete permanently…/ }));
  await page.keyboard.press("Enter");
  // Cancel has the focus, so a second Enter by mistake deletes nothing.
  const question = page.getByRole("alertdialog", { name: "Delete “q2” permanently?" });
  await expect(question).toHaveAccessibleDescription(/^Permanently deletes 2 messages, their costs in Usage/);
  await expect(question.getByRole("link", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(question).toHaveCount(0);
  await tabTo(page, page.getByRole("button", { name: /^Delete permanently…/ }));
  await page.keyboard.press("Enter");
  await tabTo(page, question.getByRole("button", { name: "Delete permanently" }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("Deleted permanently.")).toBeVisible();
  await expect(page.getByText("Trash is empty. Deleted items are kept here for 30 days.")).toBeVisible();
  await openPage(page);
  await page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: "q1", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
});

test("a deletion is undone from another chat", async ({ page, model }) => {
  await holdConversation(page, model, 1, "other ");
  await holdConversation(page, model, 2);
  await menuButton(userTurns(page).last()).click();
  await page.getByRole("button", { name: "Delete this version and 1 message below" }).click();
  await expect(replies(page)).toHaveCount(1);
  await page.getByRole("link", { name: "other q1" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["other q1", "other a1"]);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.locator("#say")).toHaveText("Restored.");
  // A reader of another path stays there.
  expect(await visibleTexts(page)).toEqual(["other q1", "other a1"]);
  await page.getByRole("link", { name: "q1", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("a2");
});
