// Actions on a turn on a phone: nothing can hover, and all actions are reached by touch.
import { expectStatus, waitForHydration, latestReply, messageBox, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { editBox, menuButton, modelButton, visibleTexts, holdConversation, userTurns, versionSwitcher } from "../../support/turn_actions.ts";

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

test("a message is edited, and its versions are turned", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  const edit = userTurns(page).first().getByRole("button", { name: "Edit your message" });
  await expect(edit).toHaveCSS("opacity", "1");
  await edit.tap();
  await editBox(page).fill("other");
  // Enter is a new line on a phone.
  await editBox(page).press("Enter");
  await expect(editBox(page)).toHaveValue("other\n");
  await page.getByRole("form", { name: "Edit your message" }).getByRole("button", { name: "Send" }).tap();
  (await model.nextReply()).finishWithText("b1");
  await expect.poll(async () => (await visibleTexts(page)).at(-1)).toBe("b1");
  await expectStatus(latestReply(page), "complete");
  await versionSwitcher(userTurns(page).first()).getByRole("button", { name: "Previous version" }).tap();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await versionSwitcher(userTurns(page).first()).getByRole("button", { name: "1/2" }).tap();
  await page.getByRole("link", { name: /2\/2 other/ }).tap();
  await expect.poll(async () => (await visibleTexts(page)).at(-1)).toBe("b1");
});

test("a reply is tried again, by another model too, and edited by hand", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).tap();
  (await model.nextReply()).finishWithText("again");
  await expect(textOf(latestReply(page))).toHaveText("again");
  await expectStatus(latestReply(page), "complete");
  await modelButton(latestReply(page)).tap();
  await page.getByRole("dialog").getByRole("option", { name: /Demo: tour/ }).tap();
  await expect(versionSwitcher(latestReply(page))).toContainText("3/3");
  await expectStatus(latestReply(page), "complete");
  await menuButton(latestReply(page)).tap();
  await page.getByRole("button", { name: "Edit as new version" }).tap();
  await page.getByRole("textbox", { name: "Edit as new version" }).fill("Mine");
  await page.getByRole("button", { name: "Save as new version" }).tap();
  await expect(textOf(latestReply(page))).toHaveText("Mine");
});

test("a reply is branched from, copied, and deleted with a way back", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  await replies(page).first().getByRole("button", { name: "Branch", exact: true }).tap();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await messageBox(page).fill("Another way");
  await page.getByRole("button", { name: "Send", exact: true }).tap();
  (await model.nextReply()).finishWithText("fork");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "Another way", "fork"]);
  await expectStatus(latestReply(page), "complete");

  await menuButton(userTurns(page).last()).tap();
  await page.getByRole("button", { name: "Delete this version and 1 message below" }).tap();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await page.getByRole("button", { name: "Undo" }).tap();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "Another way", "fork"]);

  const origin = new URL(page.url()).pathname;
  await menuButton(replies(page).first()).tap();
  await page.getByRole("button", { name: "Copy to new chat" }).tap();
  await expect.poll(() => new URL(page.url()).pathname).not.toBe(origin);
  await waitForHydration(page);
  expect(await visibleTexts(page)).toEqual(["q1", "a1"]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
