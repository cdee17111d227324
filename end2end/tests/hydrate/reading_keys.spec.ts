// Keyboard navigation between the message box and the transcript.
import type { Page } from "@playwright/test";

import { startChat, expectStatus, latestReply, messageBox, openPage, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { firstVisibleTurn, waitForScrollSettled, turn } from "../../support/reader.ts";
import { turnHeading, menuButton, holdConversation, userTurns } from "../../support/turn_actions.ts";

const below = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight - scrollY);

test("F6 goes to the last turn while the end is followed, and to the one in view where somebody reads", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  for (const n of [2, 3]) {
    await messageBox(page).fill(`q${n}`);
    await page.keyboard.press("Enter");
    (await model.nextReply()).finishWithText(`line ${n}\n\n`.repeat(60));
    await expect(replies(page)).toHaveCount(n);
    await expectStatus(latestReply(page), "complete");
  }
  await openPage(page, new URL(page.url()).pathname);
  // The page opens where it was left: at the beginning of the last reply.
  await page.mouse.move(700, 300);
  await page.mouse.wheel(0, 20_000);
  await expect.poll(() => below(page)).toBeLessThanOrEqual(60);
  await messageBox(page).focus();
  await page.keyboard.press("Shift+F6");
  await expect(turnHeading(latestReply(page))).toBeFocused();
  await waitForScrollSettled(page);
  expect(await below(page), "the end is still in view").toBeLessThanOrEqual(60);

  await page.keyboard.press("F6");
  await expect(messageBox(page)).toBeFocused();
  await turn(page, (await replies(page).nth(1).getAttribute("data-turn-id")) ?? "").hover();
  await page.mouse.wheel(0, -2000);
  await waitForScrollSettled(page);
  const before = await firstVisibleTurn(page);
  await page.keyboard.press("Shift+F6");
  await expect(turnHeading(turn(page, before.id))).toBeFocused();
  expect(Math.abs((await firstVisibleTurn(page)).y - before.y), "the page stays where it is").toBeLessThanOrEqual(1);
});

test("Alt+Up reads the last reply from the start of the box, and Esc comes back", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  await messageBox(page).focus();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(latestReply(page))).toBeFocused();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(userTurns(page).last())).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(messageBox(page)).toBeFocused();

  await page.keyboard.type("words");
  await page.keyboard.press("Alt+ArrowUp");
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Home");
  await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(latestReply(page))).toBeFocused();

  // An open menu is closed first.
  await menuButton(latestReply(page)).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("link", { name: "Link to this message" }).last()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("link", { name: "Link to this message" }).last()).toBeHidden();
  await expect(messageBox(page)).not.toBeFocused();
  await page.keyboard.press("Escape");
  await expect(messageBox(page)).toBeFocused();
});

test("a long reply announces how to read it", async ({ page, model }) => {
  await startChat(page, "Tell");
  await expect(messageBox(page)).toBeFocused();
  (await model.nextReply()).finishWithText("word ".repeat(120));
  await expectStatus(latestReply(page), "complete");
  await expect(page.locator("#say")).toHaveText("Reply complete, 120 words. Press Alt+Up to read.");
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(latestReply(page))).toBeFocused();
  // The key works without focus as from the box.
  await turnHeading(latestReply(page)).evaluate((element) => (element as HTMLElement).blur());
  await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(latestReply(page))).toBeFocused();
});

test("the link to the latest reply comes before the list of chats", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await page.reload();
  // The box takes the focus after hydration; skip links lead to the transcript from the top of the page.
  await expect(messageBox(page)).toBeFocused();
  await page.locator("body").evaluate((body) => {
    body.tabIndex = -1;
    body.focus();
    body.removeAttribute("tabindex");
  });
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the message box" })).toBeFocused();
  await page.keyboard.press("Tab");
  const skip = page.getByRole("link", { name: "Skip to the latest reply" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await openPage(page);
  await expect(skip).toBeHidden();
  await expect(textOf(latestReply(page))).toHaveCount(0);
});
