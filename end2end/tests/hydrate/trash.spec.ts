// Trash as it is reached from a live page, with keys alone, and Undo from another chat.
import type { Page } from "@playwright/test";

import { expectStatus, hydrated, latestReply, open, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { chooseByKeys, heading, menu, said, tabTo, talk, users } from "../../support/verbs.ts";

/** Deletes the last exchange with keys alone and goes to Trash. */
async function removeByKeys(page: Page): Promise<void> {
  const row = page.getByRole("button", { name: "Delete this version and 1 message below" });
  await chooseByKeys(page, users(page).last(), row);
  await expect(replies(page)).toHaveCount(1);
  await expect(heading(latestReply(page))).toBeFocused();
  await tabTo(page, page.getByRole("link", { name: "Trash" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Trash" })).toBeVisible();
}

test("Trash gives back, and forgets for ever, with keys alone", async ({ page, model }) => {
  await talk(page, model, 2);
  await removeByKeys(page);
  await expect(page.getByRole("listitem").filter({ hasText: "q2" })).toContainText("2 messages");
  await tabTo(page, page.getByRole("button", { name: /^Restore/ }));
  await page.keyboard.press("Enter");
  await hydrated(page);
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "q2", "a2"]);

  await removeByKeys(page);
  await tabTo(page, page.getByRole("button", { name: /^Delete for ever/ }));
  await page.keyboard.press("Enter");
  // The way out has the focus: a second Enter by mistake deletes nothing.
  const question = page.getByRole("alertdialog", { name: "Delete “q2” for ever?" });
  await expect(question).toHaveAccessibleDescription(/^2 messages go for ever/);
  await expect(question.getByRole("link", { name: "Keep it" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(question).toHaveCount(0);
  await tabTo(page, page.getByRole("button", { name: /^Delete for ever/ }));
  await page.keyboard.press("Enter");
  await tabTo(page, question.getByRole("button", { name: "Delete for ever" }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("Deleted for ever.")).toBeVisible();
  await expect(page.getByText("Nothing is here.")).toBeVisible();
  await open(page);
  await page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: "q1", exact: true }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1"]);
});

test("what was deleted is undone from another chat", async ({ page, model }) => {
  await talk(page, model, 1, "other ");
  await talk(page, model, 2);
  await menu(users(page).last()).click();
  await page.getByRole("button", { name: "Delete this version and 1 message below" }).click();
  await expect(replies(page)).toHaveCount(1);
  await page.getByRole("link", { name: "other q1" }).click();
  await expect.poll(() => said(page)).toEqual(["other q1", "other a1"]);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.locator("#say")).toHaveText("Restored.");
  // Who reads elsewhere is left there.
  expect(await said(page)).toEqual(["other q1", "other a1"]);
  await page.getByRole("link", { name: "q1", exact: true }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("a2");
});
