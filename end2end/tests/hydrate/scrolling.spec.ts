// The reader owns the viewport: the scroll rules of docs/reference/ux.md S1 to S15, each by an action of a person.
// Loading older turns (S8) and restoring a position (S11) are in long_chat.spec.ts, where chats are long enough.
// UX-17, UX-28 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, chooseModel, expectStatus, waitForHydration, idOf, latestReply, messageBox, openPage, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer, Reply } from "../../support/model_server.ts";
import { scrollTo, waitForScrollSettled, turn } from "../../support/reader.ts";
import { turnHeading, userTurns } from "../../support/turn_actions.ts";

const toLatest = (page: Page) => page.getByRole("button", { name: /^Go to latest/ });

/** Returns the distance from the visible part to the bottom of the page. */
async function distanceToBottom(page: Page): Promise<number> {
  await waitForScrollSettled(page);
  return page.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight - scrollY);
}

const top = (page: Page): Promise<number> => page.evaluate(() => scrollY);

/** Waits until scrolling has stopped: keys and touch continue for a while. */
async function waitForStillness(page: Page): Promise<void> {
  let last = Number.NaN;
  await expect.poll(async () => {
    const before = last;
    await waitForScrollSettled(page);
    last = await top(page);
    return last === before;
  }).toBe(true);
}

/** Builds paragraphs; thirty of them fill more than a screen. */
const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `Paragraph ${from + at} of a reply that is long enough to be scrolled.\n\n`).join("");

/** Streams this many paragraphs and waits until they are on the page. */
async function sendLines(page: Page, reply: Reply, from: number, count: number): Promise<void> {
  reply.sendText(lines(from, count));
  await expect(textOf(latestReply(page)).last()).toContainText(`Paragraph ${from + count - 1} of`);
}

/** Starts a reply that fills the screen and continues, with the page following its end, to which the reader went. */
async function startFollowedReply(page: Page, model: ModelServer): Promise<Reply> {
  await startChat(page, "Write a lot");
  const reply = await model.nextReply();
  await sendLines(page, reply, 1, 40);
  await toLatest(page).click();
  // All the way: what is measured from here must not be a place on the way.
  await expect.poll(() => distanceToBottom(page)).toBeLessThanOrEqual(2);
  return reply;
}

/** Asserts that new text keeps the end in view. */
async function expectFollowed(page: Page, reply: Reply, from: number): Promise<void> {
  await sendLines(page, reply, from, 20);
  await expect.poll(() => distanceToBottom(page), "the end stays in view").toBeLessThanOrEqual(60);
}

async function expectLeftAlone(page: Page, reply: Reply, from: number): Promise<void> {
  const before = await top(page);
  await sendLines(page, reply, from, 20);
  await waitForScrollSettled(page);
  expect(Math.abs((await top(page)) - before), "the page is where the reader left it").toBeLessThanOrEqual(1);
}

test("S1 S2 growth keeps the bottom in view for a reader within 60 px of it", async ({ page, model }) => {
  const reply = await startFollowedReply(page, model);
  await expectFollowed(page, reply, 41);
  reply.finish();
});

test.describe("S3 every way upwards stops following at once", () => {
  const ways: [string, (page: Page) => Promise<void>][] = [
    ["the wheel", async (page) => {
      await page.mouse.move(700, 300);
      await page.mouse.wheel(0, -40);
    }],
    ["a finger", async (page) => {
      const browser = await page.context().newCDPSession(page);
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", y?: number) =>
        browser.send("Input.dispatchTouchEvent", { type, touchPoints: y === undefined ? [] : [{ x: 700, y }] });
      await touch("touchStart", 300);
      for (let y = 310; y <= 360; y += 10) await touch("touchMove", y);
      await touch("touchEnd");
    }],
    ["a key", async (page) => {
      await turnHeading(latestReply(page)).evaluate((element) => (element as HTMLElement).focus({ preventScroll: true }));
      await page.keyboard.press("ArrowUp");
    }],
    ["the bar", async (page) => scrollTo(page, (await top(page)) - 30)],
    ["the focus", async (page) => turnHeading(userTurns(page).first()).focus()],
    ["the browser's search", async (page) => {
      await page.evaluate(() => [...document.querySelectorAll("p")].find((p) => p.textContent?.startsWith("Paragraph 2 "))?.scrollIntoView({ block: "center" }));
    }],
  ];
  for (const [name, move] of ways) {
    test(name, async ({ page, model }) => {
      const reply = await startFollowedReply(page, model);
      const before = await top(page);
      await move(page);
      await expect.poll(() => top(page)).toBeLessThan(before - 2);
      await waitForStillness(page);
      await expectLeftAlone(page, reply, 41);
      reply.finish();
    });
  }
});

test("S4 coming back within 60 px resumes following", async ({ page, model }) => {
  const reply = await startFollowedReply(page, model);
  await scrollTo(page, (await top(page)) - 300);
  await expectLeftAlone(page, reply, 41);
  await scrollTo(page, (await top(page)) + (await distanceToBottom(page)) - 50);
  await expectFollowed(page, reply, 61);
  reply.finish();
});

test("S5 the end of a reply moves nothing, at the bottom or above it", async ({ page, model }) => {
  const reply = await startFollowedReply(page, model);
  await scrollTo(page, (await top(page)) - 400);
  const word = page.getByText("Paragraph 20 of");
  const y = (await word.boundingBox())!.y;
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await waitForScrollSettled(page);
  expect(Math.abs((await word.boundingBox())!.y - y)).toBeLessThanOrEqual(1);

  await sendMessage(page, "And more");
  const second = await model.nextReply();
  await sendLines(page, second, 1, 40);
  await toLatest(page).click();
  await expect.poll(() => distanceToBottom(page)).toBeLessThanOrEqual(60);
  const last = page.getByText("Paragraph 40 of").last();
  await waitForStillness(page);
  const at = (await last.boundingBox())!.y;
  second.finish();
  await expectStatus(latestReply(page), "complete");
  await waitForScrollSettled(page);
  expect(Math.abs((await last.boundingBox())!.y - at), "nothing jumps at the end").toBeLessThanOrEqual(1);
});

test("S6 what is sent stands under the header with room for its reply, which is read from its beginning", async ({ page, model }) => {
  await startChat(page, "A first question");
  const reply = await model.nextReply();
  await sendLines(page, reply, 1, 40);
  await expect(toLatest(page)).toBeVisible();
  await expect(userTurns(page).first(), "the first message of a chat stays, too").toBeInViewport();
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "A second question");
  const second = await model.nextReply();
  const question = userTurns(page).last();
  await expect(question).toContainText("A second question");
  const place = async () => {
    await waitForScrollSettled(page);
    const header = await page.locator("#main header").first().evaluate((element) => element.getBoundingClientRect().bottom);
    return (await question.boundingBox())!.y - header;
  };
  await expect.poll(place).toBeGreaterThanOrEqual(0);
  expect(await place()).toBeLessThanOrEqual(32);
  second.sendText("A short answer.");
  await expect(textOf(latestReply(page))).toContainText("A short answer.");
  expect(await place(), "a short answer moves nothing").toBeLessThanOrEqual(32);
  await sendLines(page, second, 1, 40);
  await waitForStillness(page);
  expect(await place(), "a long one is not followed beyond a screen").toBeLessThanOrEqual(32);
  expect(await place()).toBeGreaterThanOrEqual(0);
  await toLatest(page).click();
  await expect.poll(() => distanceToBottom(page)).toBeLessThanOrEqual(60);
  await expectFollowed(page, second, 41);
  second.finish();
});

test("S7 the button to the latest message appears beyond 200 px and disappears below 60", async ({ page, model }) => {
  const reply = await startFollowedReply(page, model);
  await expect(toLatest(page)).toBeHidden();
  const bottom = async () => (await top(page)) + (await distanceToBottom(page));
  await scrollTo(page, (await bottom()) - 150);
  await expect(toLatest(page)).toBeHidden();
  await scrollTo(page, (await bottom()) - 260);
  await expect(toLatest(page)).toBeVisible();
  await expect(toLatest(page)).toHaveAccessibleName("Go to latest, new text");
  await sendLines(page, reply, 41, 2);
  await expect(toLatest(page)).toContainText("New text");
  await scrollTo(page, (await bottom()) - 120);
  await expect(toLatest(page), "it does not flicker on the way").toBeVisible();
  await toLatest(page).click();
  await expect(toLatest(page)).toBeHidden();
  await expect.poll(() => distanceToBottom(page)).toBeLessThanOrEqual(60);
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await scrollTo(page, 0);
  await expect(toLatest(page)).toHaveAccessibleName("Go to latest");
});

test("S9 what is opened and closed keeps its header still", async ({ page, model }) => {
  await startChat(page, "Think");
  const reply = await model.nextReply();
  reply.sendReasoning(lines(1, 30));
  reply.sendText(lines(100, 30));
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  const summary = latestReply(page).locator("details.reasoning > summary");
  await summary.scrollIntoViewIfNeeded();
  await waitForScrollSettled(page);
  for (const state of ["open", "closed", "open"]) {
    const before = (await summary.boundingBox())!.y;
    await summary.click();
    await waitForScrollSettled(page);
    expect(Math.abs((await summary.boundingBox())!.y - before), state).toBeLessThanOrEqual(1);
  }
});

test("S10 images reserve their space before they load", async ({ page, model }) => {
  await openPage(page);
  let letGo: () => void = () => {};
  const held = new Promise<void>((done) => (letGo = done));
  await page.route("**/api/blobs/*", async (route) => {
    await held;
    await route.continue();
  });
  // A plain 400 by 300 image.
  const picture = await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [400, 300];
    canvas.getContext("2d")?.fillRect(0, 0, 400, 300);
    return canvas.toDataURL("image/png").split(",")[1] ?? "";
  });
  await page.locator("input[type=file]").setInputFiles({ name: "red.png", mimeType: "image/png", buffer: Buffer.from(picture, "base64") });
  await expect(page.getByRole("list", { name: "Attachments" })).toContainText("red.png");
  await chooseModel(page, "demo/plain");
  await sendMessage(page, "See");
  await expectStatus(latestReply(page), "complete");
  const reply = turnHeading(latestReply(page));
  await waitForScrollSettled(page);
  const before = (await latestReply(page).boundingBox())!.y;
  const image = userTurns(page).first().locator("img").first();
  await expect(image).toBeAttached();
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth), "it is not there yet").toBe(0);
  letGo();
  await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
  await waitForScrollSettled(page);
  expect(Math.abs((await latestReply(page).boundingBox())!.y - before)).toBeLessThanOrEqual(1);
  await expect(reply).toBeAttached();
});

test("S12 a link to a turn puts it under the header and focuses its heading", async ({ page, model }) => {
  const reply = await startFollowedReply(page, model);
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "Again");
  const second = await model.nextReply();
  await sendLines(page, second, 1, 40);
  second.finish();
  await expectStatus(latestReply(page), "complete");
  await expect(replies(page)).toHaveCount(2);
  const first = await idOf(userTurns(page).nth(1));
  const chat = new URL(page.url()).pathname;
  await page.goto("about:blank");
  await page.goto(`${chat}?at=${first}`);
  await waitForHydration(page);
  await expect(turnHeading(turn(page, first))).toBeFocused();
  const place = async () => {
    const header = await page.locator("#main header").first().evaluate((element) => element.getBoundingClientRect().bottom);
    return (await turn(page, first).boundingBox())!.y - header;
  };
  await expect.poll(place).toBeGreaterThanOrEqual(0);
  expect(await place()).toBeLessThanOrEqual(32);
});

test("S13 a keyboard that takes half of the screen keeps the bottom in view", async ({ page, model }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const reply = await startFollowedReply(page, model);
  await page.setViewportSize({ width: 390, height: 450 });
  await expect.poll(() => distanceToBottom(page)).toBeLessThanOrEqual(60);
  await expectFollowed(page, reply, 41);
  await scrollTo(page, (await top(page)) - 800);
  await page.setViewportSize({ width: 390, height: 844 });
  await waitForScrollSettled(page);
  expect(await distanceToBottom(page), "a reader who left the bottom stays there").toBeGreaterThan(300);
  reply.finish();
});

test("S14 selected text and open menus pause following", async ({ page, model }) => {
  const reply = await startFollowedReply(page, model);
  await page.evaluate(() => {
    const words = [...document.querySelectorAll("p")].findLast((p) => p.textContent?.startsWith("Paragraph"));
    if (words) getSelection()?.selectAllChildren(words);
  });
  await expectLeftAlone(page, reply, 41);
  // Following resumes once nothing is selected.
  await page.evaluate(() => getSelection()?.removeAllRanges());
  await expectFollowed(page, reply, 61);
  await page.locator("#main header button[popovertarget]").last().click();
  await expect(page.locator(":popover-open")).toBeVisible();
  await expectLeftAlone(page, reply, 81);
  await page.keyboard.press("Escape");
  reply.finish();
});

test("S15 with less motion the page is at its end at once", async ({ page, model }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  const reply = await startFollowedReply(page, model);
  // Records the distance in each frame from the moment when the text is there.
  await page.evaluate(() => {
    const seen: number[] = [];
    Object.assign(window, { seen });
    let height = document.documentElement.scrollHeight;
    let left = -1;
    const look = (): void => {
      const now = document.documentElement.scrollHeight;
      if (now !== height) [height, left] = [now, 3];
      else if (left > 0) left -= 1;
      if (left === 0) seen.push(now - document.documentElement.clientHeight - scrollY);
      requestAnimationFrame(look);
    };
    look();
  });
  await expectFollowed(page, reply, 41);
  await waitForScrollSettled(page);
  await waitForScrollSettled(page);
  await expect.poll(() => page.evaluate(() => (window as unknown as { seen: number[] }).seen.length)).toBeGreaterThan(0);
  const far = await page.evaluate(() => (window as unknown as { seen: number[] }).seen.filter((distance) => distance > 1));
  expect(far, "three frames after it grew").toEqual([]);
  reply.finish();
});

test("the setting for less motion is as good as the system's", async ({ page, context, turnleaf, model }) => {
  await context.addCookies([{ name: "turnleaf_motion", value: "reduced", url: turnleaf.url }]);
  const reply = await startFollowedReply(page, model);
  await expectFollowed(page, reply, 41);
  const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((element) => parseFloat(getComputedStyle(element).transitionDuration) > 0.01).length);
  expect(moving).toBe(0);
  await messageBox(page).focus();
  reply.finish();
});
