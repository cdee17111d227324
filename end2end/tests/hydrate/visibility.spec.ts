// Visibility of floating elements: connection status, pending message, way back, toasts, focus. Each is checked on
// the screen and not only in the document.
import type { Locator, Page } from "@playwright/test";

import { startChat, chooseModel, expectStatus, latestReply, messageBox, openPage, replies, sendMessage, sendButton, TEST_MODEL } from "../../support/chat.ts";
import { attachFiles, attachmentChips, textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";
import { askForStatus } from "../../support/live_channel.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { scrollTo, firstVisibleTurn, waitForScrollSettled, turn } from "../../support/reader.ts";
import { turnHeading, holdResponses, userTurns } from "../../support/turn_actions.ts";

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `Paragraph ${at + 1} of a reply.\n\n`).join("");
const toLatest = (page: Page) => page.getByRole("button", { name: /^Go to latest/ });

/** Asserts that the element is the hit target at its centre and its corners. */
async function expectOnTop(thing: Locator, label: string): Promise<void> {
  await expect(thing, label).toBeVisible();
  await waitForScrollSettled(thing.page());
  await expect.poll(() => thing.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const places = [[(left + right) / 2, (top + bottom) / 2], [left + 6, top + 6], [right - 6, bottom - 6]];
    return places.every(([x, y]) => {
      const found = document.elementFromPoint(x!, y!);
      return found !== null && (element.contains(found) || found.contains(element) && found.closest("button, .banner") === element);
    });
  }), `${label} is not covered`).toBe(true);
}

/**
 * Makes the server unreachable for the page's polls. Other requests of the browser pass, because a development build
 * would reload the page afterwards.
 */
async function goOffline(page: Page): Promise<void> {
  await page.route("**/api/page/glance_at_*", (route) => route.abort());
  await page.evaluate(() => dispatchEvent(new Event("offline")));
}

async function goOnline(page: Page): Promise<void> {
  await page.unroute("**/api/page/glance_at_*");
  await page.evaluate(() => dispatchEvent(new Event("online")));
}

/** Creates a chat whose only reply is longer than any window. */
async function longChat(page: Page, model: ModelServer): Promise<void> {
  await startChat(page, "Write a lot");
  (await model.nextReply()).finishWithText(lines(60));
  await expectStatus(latestReply(page), "complete");
  await toLatest(page).click();
  // Everything is rendered, and the page is at its end.
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight - innerHeight - scrollY)).toBeLessThanOrEqual(2);
}

test("the connection status is visible wherever the reader is, and moves nothing", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await longChat(page, model);
  const bar = page.locator(".banner.offline");
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    // The page follows its end into the new size; a scroll in that very frame would be overridden.
    await waitForScrollSettled(page);
    for (const top of [0, 600, 1_000_000]) {
      await scrollTo(page, top);
      const before = await firstVisibleTurn(page);
      await goOffline(page);
      await expect(bar).toBeInViewport({ ratio: 1 });
      await expectOnTop(bar, `${size.width} at ${top}`);
      await expectOnTop(bar.getByRole("button", { name: "Retry now" }), "Retry now");
      const after = await firstVisibleTurn(page);
      expect(after.id, `${size.width} at ${top}: ${before.y} and ${after.y}`).toBe(before.id);
      expect(Math.abs(after.y - before.y), "what is read stays where it is").toBeLessThanOrEqual(1);
      await goOnline(page);
      const isBack = page.locator(".banner.ok");
      await expect(isBack).toBeInViewport({ ratio: 1 });
      await expect(isBack).toHaveCount(0);
    }
  }
  // The focused element is not behind the bar.
  await page.setViewportSize(DESK);
  await goOffline(page);
  await expect(bar).toBeInViewport({ ratio: 1 });
  await scrollTo(page, 0);
  const last = latestReply(page).getByRole("button", { name: "Copy reply" });
  await last.focus();
  await waitForScrollSettled(page);
  expect((await last.boundingBox())!.y + (await last.boundingBox())!.height).toBeLessThanOrEqual((await bar.boundingBox())!.y);
  await goOnline(page);
});

test("a newer page is offered where the reader is", async ({ page, model }) => {
  await longChat(page, model);
  await page.route("**/api/page/glance_at_all", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), build: "another" } });
  });
  await askForStatus(page);
  await expect(page.getByRole("button", { name: "Reload" })).toBeInViewport({ ratio: 1 });
  // At the end of the page the bar is above the message box, and the last line can be read.
  await scrollTo(page, 1_000_000);
  const bar = (await page.locator(".banner").boundingBox())!;
  expect(bar.y + bar.height).toBeLessThanOrEqual((await page.getByRole("form", { name: "Message" }).boundingBox())!.y);
  const actions = (await latestReply(page).locator(".actions").boundingBox())!;
  expect(actions.y + actions.height).toBeLessThanOrEqual(bar.y);
});

for (const size of [PHONE, DESK]) {
  for (const from of ["the end", "above"]) {
    test(`UX-03 S6 a message is seen before the server answers, ${size.width} from ${from}`, async ({ page, model }) => {
      await page.setViewportSize(size);
      await longChat(page, model);
      await scrollTo(page, from === "the end" ? 1_000_000 : 500);
      const held = await holdResponses(page, "send_message");
      await sendMessage(page, "Seen at once");
      const words = page.locator(".sending-text");
      await held.requested;
      await expect(words).toBeInViewport({ ratio: 1 });
      await expectOnTop(words, "the words");
      await expect(page.getByText("Sending…")).toBeInViewport();
      await waitForScrollSettled(page);
      const before = (await words.boundingBox())!.y;
      held.release();
      const call = await model.nextReply();
      await expect(userTurns(page)).toHaveCount(2);
      await expect(words).toHaveCount(0);
      await waitForScrollSettled(page);
      const bubble = userTurns(page).last().locator(".bubble");
      await expect(bubble).toBeInViewport({ ratio: 1 });
      const moved = async () => Math.abs((await bubble.boundingBox())!.y - before);
      await expect.poll(moved, { message: "its turn takes its place" }).toBeLessThanOrEqual(2);
      call.finishWithText("Yes.");
      await expectStatus(latestReply(page), "complete");
      await expect(bubble).toBeInViewport({ ratio: 1 });
    });
  }
}

test("UX-31 the connection bar hides nothing of a first pending message, on a phone", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await page.setViewportSize(PHONE);
  await openPage(page);
  const held = await holdResponses(page, "send_message");
  await chooseModel(page, TEST_MODEL);
  await sendMessage(page, "Seen at once");
  await held.requested;
  await goOffline(page);
  const bar = page.locator(".banner.offline");
  await expectOnTop(bar, "the bar");
  const words = page.locator(".sending-text");
  await expectOnTop(words, "the words");
  await expectOnTop(page.getByText("Sending…"), "what is said of them");
  await expectOnTop(messageBox(page), "the message box");
  const [over, wordsBox, form] = await Promise.all([bar.boundingBox(), words.boundingBox(), page.getByRole("form", { name: "Message" }).boundingBox()]);
  // On a new chat's page the form is in the middle, and the bar lies below it.
  for (const [name, part] of [["the words", wordsBox!], ["the form", form!]] as const) {
    const isApart = part.y + part.height <= over!.y + 1 || over!.y + over!.height <= part.y + 1;
    expect(isApart, `${name}: ${JSON.stringify(part)}, the bar: ${JSON.stringify(over)}`).toBe(true);
  }
  await goOnline(page);
  held.release();
  (await model.nextReply()).finishWithText("Yes.");
  await expectStatus(latestReply(page), "complete");
});

test("a failed message leaves no empty space behind", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await longChat(page, model);
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  const before = await height();
  await page.route("**/api/page/send_message", (route) => route.abort());
  await sendMessage(page, "Lost");
  await expect(messageBox(page)).toHaveValue("Lost");
  await expect(page.locator(".sending")).toHaveCount(0);
  await waitForScrollSettled(page);
  expect(await height()).toBeLessThan(before + 120);
});

test("S3 a wheel that turns by a pixel or two stops following", async ({ page, model }) => {
  for (const step of [1, 2]) {
    await startChat(page, "Write a lot");
    const reply = await model.nextReply();
    reply.sendText(lines(40));
    await expect(latestReply(page)).toContainText("Paragraph 40 of");
    await toLatest(page).click();
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight - innerHeight - scrollY)).toBeLessThanOrEqual(2);
    await page.mouse.move(700, 300);
    for (let turned = 0; turned < 20; turned += 1) {
      await page.mouse.wheel(0, -step);
      await waitForScrollSettled(page);
    }
    const before = await page.evaluate(() => scrollY);
    reply.sendText(`${lines(20)}The end of it.`);
    await expect(latestReply(page)).toContainText("The end of it.");
    await waitForScrollSettled(page);
    expect(Math.abs((await page.evaluate(() => scrollY)) - before), `steps of ${step}`).toBeLessThanOrEqual(1);
    reply.finish();
    await expectStatus(latestReply(page), "complete");
  }
});

test("S9 a list of sources opens and closes under its header", async ({ page, model }) => {
  await startChat(page, "What about water?");
  const reply = await model.nextReply();
  const text = `${lines(40)}Water boils.`;
  reply.sendText(text);
  await expect(latestReply(page)).toContainText("Water boils.");
  for (let n = 1; n <= 12; n += 1) reply.sendCitation(`https://source-${n}.example/page`, `Page ${n}`, 0, text.length);
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  const summary = latestReply(page).locator("details.sources > summary");
  await scrollTo(page, 1_000_000);
  for (const state of ["open", "closed", "open"]) {
    const before = (await summary.boundingBox())!.y;
    await summary.click();
    await expect(latestReply(page).locator("details.sources")).toHaveJSProperty("open", state === "open");
    for (let frames = 0; frames < 6; frames += 1) await waitForScrollSettled(page);
    // At the end of the page a closing part may pull the page down.
    if (state === "open") expect(Math.abs((await summary.boundingBox())!.y - before), state).toBeLessThanOrEqual(1);
  }
});

test("S7 the button to the latest message is never behind the message box", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await longChat(page, model);
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    await scrollTo(page, 300);
    await expectOnTop(toLatest(page), `${size.width}, one line`);
    await messageBox(page).fill("line\n".repeat(8));
    await scrollTo(page, 300);
    await expectOnTop(toLatest(page), `${size.width}, eight lines`);
    await attachFiles(page, textFile("notes.txt", "A note."));
    await expect(attachmentChips(page).first()).toBeVisible();
    await scrollTo(page, 300);
    await expectOnTop(toLatest(page), `${size.width}, and a file`);
    await page.getByRole("button", { name: "Expand message box" }).or(page.locator(".expand")).first().click();
    await scrollTo(page, 300);
    await expectOnTop(toLatest(page), `${size.width}, the whole height`);
    await page.locator(".expand").click();
    await goOffline(page);
    await expect(page.locator(".banner.offline")).toBeVisible();
    await expectOnTop(toLatest(page), `${size.width}, with a bar`);
    await goOnline(page);
    await expect(page.locator(".banner")).toHaveCount(0);
    await messageBox(page).fill("");
    await attachmentChips(page).first().getByRole("button", { name: /^Remove/ }).click();
  }
});

test("the turn that has the focus shows it", async ({ page, model }) => {
  await longChat(page, model);
  await messageBox(page).focus();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(latestReply(page))).toBeFocused();
  const ring = (of: Locator) => of.evaluate((element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
  });
  expect(await ring(latestReply(page))).toBeGreaterThanOrEqual(2);
  expect(await ring(userTurns(page).first())).toBe(0);
  await page.keyboard.press("Alt+ArrowUp");
  expect(await ring(userTurns(page).first())).toBeGreaterThanOrEqual(2);
  expect(await ring(latestReply(page))).toBe(0);
});

test("notes never lie on the message box", async ({ page, model }) => {
  await startChat(page, "Gone");
  (await model.nextReply()).finishWithText("So.");
  await expectStatus(latestReply(page), "complete");
  for (const width of [390, 820, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await latestReply(page).getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("button", { name: /^Delete/ }).filter({ visible: true }).first().click();
    const note = page.locator(".toast").last();
    await expect(note).toBeInViewport({ ratio: 1 });
    await waitForScrollSettled(page);
    const place = (await note.boundingBox())!;
    const box = (await page.getByRole("form", { name: "Message" }).boundingBox())!;
    expect(place.y + place.height, `${width}`).toBeLessThanOrEqual(box.y);
    await expectOnTop(messageBox(page), `the box at ${width}`);
    await note.getByRole("button", { name: "Undo" }).click();
    await expect(page.locator(".toast")).toHaveCount(0);
    await expect(replies(page)).toHaveCount(1);
  }
});

test("far up, commands for the last turn act on the last turn of the path", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(300);
  const [first, last] = [long.turns[20]!, long.turns.at(-1)!];
  const lastMessage = long.turns.at(-2)!;
  const farUp = async () => {
    await openPage(page, `/c/${long.chat}?at=${first}`);
    await expect(turn(page, first)).toBeInViewport();
    await expect(turn(page, last)).toHaveCount(0);
    await messageBox(page).focus();
  };
  await farUp();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(turn(page, last))).toBeFocused();
  await expect(turn(page, last)).toBeInViewport();
  await farUp();
  await page.keyboard.press("ArrowUp");
  const box = turn(page, lastMessage).getByRole("textbox", { name: "Edit your message" });
  await expect(box).toBeFocused();
  await expect(box).toBeInViewport();
});

test("F6 works on a phone, where the list of chats is in a drawer", async ({ page, model }) => {
  await page.setViewportSize(PHONE);
  await longChat(page, model);
  await messageBox(page).focus();
  await page.keyboard.press("F6");
  await expect(turnHeading(latestReply(page))).toBeFocused();
  await page.keyboard.press("F6");
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Shift+F6");
  await expect(turnHeading(latestReply(page))).toBeFocused();
});

test("Ctrl+B opens and closes the drawer where there is no column, and remembers nothing", async ({ page, context, model }) => {
  for (const width of [390, 820]) {
    await page.setViewportSize({ width, height: 900 });
    await openPage(page);
    const drawer = page.locator("#chats");
    await page.keyboard.press("Control+b");
    await expect(drawer).toBeInViewport();
    await page.keyboard.press("Control+b");
    await expect(drawer).not.toBeVisible();
  }
  expect((await context.cookies()).map(({ name }) => name)).not.toContain("turnleaf_sidebar");
  await page.setViewportSize(DESK);
  await openPage(page);
  await expect(page.getByRole("button", { name: "Hide chats" }).filter({ visible: true })).toHaveAttribute("title", "Ctrl+B");
  expect(model.requestCount).toBe(0);
});

test("the page behind the tree is inert where the tree overlays it", async ({ page, model }) => {
  await longChat(page, model);
  const box = messageBox(page);
  await page.setViewportSize({ width: 1000, height: 900 });
  await page.keyboard.press("Control+.");
  await expect(page.getByRole("tree")).toBeVisible();
  await expect(page.locator("#main[inert]")).toBeAttached();
  expect(await page.locator("#message").evaluate((element) => (element as HTMLElement).focus() ?? document.activeElement === element)).toBe(false);
  await page.keyboard.press("Escape");
  await expect(page.locator("[inert]")).toHaveCount(0);
  await expect(page.locator("#tree-button")).toBeFocused();
  await page.keyboard.press("Control+.");
  await expect(page.locator("#main[inert]")).toBeAttached();
  // There is room for both.
  await page.setViewportSize(DESK);
  await expect(page.locator("[inert]")).toHaveCount(0);
  await box.click();
  await expect(box).toBeFocused();
});

test("a keyboard that lies over the page lifts the message box", async ({ page, model }) => {
  // As on iPhones: the visual viewport shrinks, and the page does not.
  await page.addInitScript(() => {
    const seen = Object.assign(new EventTarget(), { height: 844, offsetTop: 0, scale: 1 });
    Object.defineProperty(window, "visualViewport", { value: seen });
  });
  await page.setViewportSize(PHONE);
  await longChat(page, model);
  const bottom = async () => {
    await waitForScrollSettled(page);
    const box = (await page.getByRole("form", { name: "Message" }).boundingBox())!;
    return box.y + box.height;
  };
  const keyboard = (height: number) => page.evaluate((height) => {
    Object.assign(window.visualViewport!, { height: 844 - height });
    window.visualViewport!.dispatchEvent(new Event("resize"));
  }, height);
  const without = await bottom();
  await keyboard(336);
  await expect.poll(bottom).toBeLessThanOrEqual(844 - 336);
  await keyboard(0);
  await expect.poll(bottom).toBe(without);
});

test("while a reply grows nothing outside of it shifts", async ({ page, model }) => {
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText(lines(3));
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "Everything");
  const reply = await model.nextReply();
  await expect(replies(page)).toHaveCount(2);
  await waitForScrollSettled(page);
  await page.evaluate(() => {
    const shifts: string[] = [];
    Object.assign(window, { shifts });
    const growing = [...document.querySelectorAll("article[data-role=assistant]")].at(-1);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; sources: { node: Node | null }[] })[]) {
        for (const { node } of entry.sources) {
          if (node && growing && !growing.contains(node)) shifts.push(`${entry.value} ${(node as Element).outerHTML?.slice(0, 160)}`);
        }
      }
    }).observe({ type: "layout-shift", buffered: false });
  });
  const pieces = [
    ...Array.from({ length: 12 }, (_, at) => `Text ${at} with $x_${at}^2$ in it.\n\n`),
    "| a | b |\n| - | - |\n", ...Array.from({ length: 8 }, (_, at) => `| ${at} | row |\n`),
    "\n```rust\n", ...Array.from({ length: 12 }, (_, at) => `let a${at} = ${at};\n`), "```\n\n",
    "$$\\sum_{i=0}^n i$$\n\n",
  ];
  for (let at = 0; at < 10; at += 1) {
    reply.sendReasoning(`Thought ${at}\n\n`);
    await waitForScrollSettled(page);
  }
  for (const piece of pieces) {
    reply.sendText(piece);
    await waitForScrollSettled(page);
  }
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await waitForScrollSettled(page);
  expect(await page.evaluate(() => (window as unknown as { shifts: string[] }).shifts)).toEqual([]);
  await expect(sendButton(page)).toBeVisible();
});
