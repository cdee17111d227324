// Nothing moves under a reader who writes: with no key, on no paste and no tap. And a header that closes what is below it
// stays under the pointer.
import type { Locator, Page } from "@playwright/test";

import { expectStatus, latestReply, messageBox, openPage, startChat, textOf, waitForHydration } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { scrollTo, turn, waitForScrollSettled } from "../../support/reader.ts";
import { editBox, turnHeading } from "../../support/turn_actions.ts";

const top = async (page: Page): Promise<number> => {
  await waitForScrollSettled(page);
  return page.evaluate(() => scrollY);
};

/** Opens a chat, all of which is loaded, in its middle. */
async function openInTheMiddle(page: Page, long: { chat: string; turns: string[] }): Promise<number> {
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await scrollTo(page, 2_000);
  return top(page);
}

/** Types, deletes, breaks the line and pastes, and compares the scroll position after each key. */
async function expectStillWhileWriting(page: Page, box: Locator, before: number): Promise<void> {
  for (const key of [..."hello world", "Backspace", "Shift+Enter", "x", "ArrowLeft", "Home"]) {
    await page.keyboard.press(key === " " ? "Space" : key);
    expect(await top(page), key).toBe(before);
  }
  await page.evaluate(() => document.execCommand("insertText", false, "pasted words\n".repeat(6)));
  expect(await top(page), "paste").toBe(before);
  await expect(box).toHaveValue(/pasted words/);
}

test("the page stays where it is while a message is written further up", async ({ page, turnleaf }) => {
  const before = await openInTheMiddle(page, await turnleaf.plantLongChat(30));
  await messageBox(page).click();
  expect(await top(page), "click").toBe(before);
  await expectStillWhileWriting(page, messageBox(page), before);
});

test("the page stays where it is while a message is edited in its place", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(30);
  await openInTheMiddle(page, long);
  const question = turn(page, long.turns.at(-12)!);
  await question.evaluate((turn) => scrollBy(0, turn.getBoundingClientRect().top - 200));
  await question.hover();
  await question.getByRole("button", { name: "Edit your message" }).click();
  await expect(editBox(page)).toBeFocused();
  await expectStillWhileWriting(page, editBox(page), await top(page));
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("a tap on the box and every key leave the page where it is", async ({ page, turnleaf }) => {
    const before = await openInTheMiddle(page, await turnleaf.plantLongChat(30));
    // `tap` of a locator scrolls by itself, into the part of the page that the box does not cover.
    const box = (await messageBox(page).boundingBox())!;
    await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
    await expect(messageBox(page)).toBeFocused();
    expect(await top(page), "tap").toBe(before);
    for (const key of "hello world") {
      await page.keyboard.press(key === " " ? "Space" : key);
      expect(await top(page), key).toBe(before);
    }
  });
});

test("long reasoning that is closed leaves its header under the pointer", async ({ page, model }) => {
  await startChat(page, "Think");
  const reply = await model.nextReply();
  reply.sendReasoning("A thought of one line.\n\n".repeat(120));
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await page.reload();
  await waitForHydration(page);
  const panel = latestReply(page).locator("details.reasoning");
  const header = panel.locator("summary").first();
  await expect(textOf(latestReply(page)).last()).toContainText("Done.");
  await header.click();
  await expect(panel).toHaveJSProperty("open", true);
  await expect.poll(() => panel.evaluate((panel) => panel.getBoundingClientRect().height)).toBeGreaterThan(2_000);
  await header.evaluate((header) => scrollBy(0, header.getBoundingClientRect().top - 120));
  const y = () => header.evaluate((header) => Math.round(header.getBoundingClientRect().top));
  await waitForScrollSettled(page);
  const before = await y();
  expect(await top(page)).toBeGreaterThan(0);
  await header.click();
  await expect(panel).toHaveJSProperty("open", false);
  await waitForScrollSettled(page);
  expect(Math.abs((await y()) - before)).toBeLessThanOrEqual(1);
  // Scrolling up gives the space back.
  await page.evaluate(() => window.scrollTo(0, 0));
  await waitForScrollSettled(page);
  await expect.poll(() => page.evaluate(() => getComputedStyle(document.querySelector(".turns")!).getPropertyValue("--room"))).toBe("0px");
});

test("a click draws no ring round a turn, a key does", async ({ page, model }) => {
  await startChat(page, "Hello");
  (await model.nextReply()).finishWithText("Hello.");
  await expectStatus(latestReply(page), "complete");
  await textOf(latestReply(page)).click();
  await turnHeading(latestReply(page)).focus();
  await expect(latestReply(page)).toHaveCSS("outline-style", "none");
  await page.keyboard.press("Shift");
  await expect(latestReply(page)).toHaveCSS("outline-style", "solid");
});
