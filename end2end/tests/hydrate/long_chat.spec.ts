// Chats longer than a page should hold: they open at once, load and unload turns as the reader scrolls, and do not
// jump.
// UX-17, UX-18 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import {
  expectStatus, waitForHydration, latestReply, messageBox, openPage, sendMessage, stopButton, textOf,
} from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { expectFirstTurnChanged, RequestGate, heightOf, loadedTurnIds, scrollTo, firstVisibleTurn, waitForScrollSettled, turn, turns } from "../../support/reader.ts";

/** The most turns in the document: the window, plus one load. */
const MOST = 120;

const older = (page: Page) => page.getByRole("button", { name: "Load older messages" });
const newer = (page: Page) => page.getByRole("button", { name: "Load newer messages" });
const toLatest = (page: Page) => page.getByRole("button", { name: "Go to latest" });

test("a chat of a thousand turns opens at its end with thirty of them", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(1_000);
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  expect(await loadedTurnIds(page)).toEqual(long.turns.slice(-30));
  await expect(older(page)).toBeAttached();
  await expect(newer(page)).not.toBeAttached();
  expect(await turnleaf.fsck()).toBe(0);
});

test("a print of a part says that there is more, and where all of it is", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(40);
  await openPage(page, `/c/${long.chat}`);
  const note = page.getByText("Some messages are not shown here. To print them all, use Share › Print.");
  await expect(note).toBeHidden();
  await page.emulateMedia({ media: "print" });
  await expect(note).toBeVisible();
  await expect(older(page)).toBeHidden();
  await expect(turn(page, long.turns.at(-1)!)).toBeVisible();
});

test("Print prints all of the path, says that it is preparing, and stays in the chat", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(400);
  await page.addInitScript(() => {
    window.print = () => {
      const turns = document.querySelectorAll("article[data-turn-id]").length;
      (window.top as any).printed = { turns, path: location.pathname + location.search };
      dispatchEvent(new Event("afterprint"));
    };
  });
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("link", { name: "Print" }).click();
  await expect(page.getByText("Preparing all messages to print…").first()).toBeVisible();
  await expect.poll(() => page.evaluate(() => (window as any).printed))
    .toEqual({ turns: 400, path: `/c/${long.chat}/print?leaf=${long.turns.at(-1)}` });
  await expect(page.locator("iframe")).toHaveCount(0);
  expect(await loadedTurnIds(page)).toEqual(long.turns.slice(-30));
});

test("a print that fails says so, and leaves no frame", async ({ page, turnleaf, watch }) => {
  watch.expect(/503|frame-ancestors/);
  const long = await turnleaf.plantLongChat(40);
  await openPage(page, `/c/${long.chat}`);
  // As our error pages are: none of them may be framed.
  const headers = { "content-security-policy": "default-src 'none'; frame-ancestors 'none'" };
  await page.route("**/print?*", (route) => route.fulfill({ status: 503, contentType: "text/html", headers, body: "<p>Busy" }));
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("link", { name: "Print" }).click();
  await expect(page.getByText("Could not prepare the messages to print.").first()).toBeVisible();
  await expect(page.locator("iframe")).toHaveCount(0);
});

test("a thousand turns upward: the reading position holds at every page, and the page stays small", async ({ page, turnleaf }) => {
  test.setTimeout(180_000);
  const long = await turnleaf.plantLongChat(1_000);
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  const gate = await RequestGate.install(page);
  let pages = 0;
  for (let first = long.turns.at(-30)!; first !== long.turns[0]; pages += 1) {
    gate.close();
    await scrollTo(page, 350);
    await gate.request;
    const before = await firstVisibleTurn(page);
    gate.release();
    await expectFirstTurnChanged(page, first);
    expect(Math.abs((await heightOf(page, before.id)) - before.y), `page ${pages}`).toBeLessThanOrEqual(1);
    const ids = await loadedTurnIds(page);
    expect(ids.length).toBeLessThanOrEqual(MOST);
    first = ids[0]!;
    const at = long.turns.indexOf(first);
    expect(ids, "nothing is missing and nothing is there twice").toEqual(long.turns.slice(at, at + ids.length));
  }
  expect(pages).toBe(Math.ceil(970 / 30));
  await expect(older(page)).not.toBeAttached();

  // And back to the end.
  for (let last = (await loadedTurnIds(page)).at(-1)!; last !== long.turns.at(-1); ) {
    gate.close();
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight - innerHeight - 350));
    await gate.request;
    const before = await firstVisibleTurn(page);
    gate.release();
    await expect(turns(page).last()).not.toHaveAttribute("data-turn-id", last);
    expect(Math.abs((await heightOf(page, before.id)) - before.y)).toBeLessThanOrEqual(1);
    const ids = await loadedTurnIds(page);
    expect(ids.length).toBeLessThanOrEqual(MOST);
    last = ids.at(-1)!;
  }
  await expect(newer(page)).not.toBeAttached();
});

test("a wheel alone reaches older turns, one request at a time", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(400);
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  let running = 0;
  let most = 0;
  page.on("request", (request) => request.url().endsWith("load_turns") && (most = Math.max(most, ++running)));
  page.on("requestfinished", (request) => request.url().endsWith("load_turns") && (running -= 1));
  await page.mouse.move(700, 400);
  await expect(async () => {
    await page.mouse.wheel(0, -3_000);
    await expect(turn(page, long.turns[200]!)).toBeAttached({ timeout: 50 });
  }).toPass({ timeout: 40_000 });
  expect(most).toBe(1);
});

test("a reload in the middle of a long chat comes back to the same line", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(600);
  await openPage(page, `/c/${long.chat}?at=${long.turns[100]}`);
  await expect(turn(page, long.turns[100]!)).toBeInViewport();
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  // Several pages up, so that the position is not among the newest turns.
  for (const _ of [1, 2, 3]) {
    const first = (await loadedTurnIds(page))[0]!;
    await scrollTo(page, 350);
    await expectFirstTurnChanged(page, first);
  }
  await scrollTo(page, 2_000);
  const before = await firstVisibleTurn(page);
  expect(long.turns.indexOf(before.id)).toBeLessThan(540);
  await expect.poll(() => page.evaluate(() => Object.values({ ...sessionStorage }).join())).toContain(before.id);
  await page.reload();
  await waitForHydration(page);
  await expect(turn(page, before.id)).toBeInViewport();
  await expect.poll(async () => Math.abs((await heightOf(page, before.id)) - before.y)).toBeLessThanOrEqual(2);
});

test("Back from another chat leads to the line that was left", async ({ page, turnleaf }) => {
  await page.clock.install();
  const other = await turnleaf.plantLongChat(4);
  const long = await turnleaf.plantLongChat(600);
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  for (const _ of [1, 2, 3]) {
    const first = (await loadedTurnIds(page))[0]!;
    await scrollTo(page, 350);
    await expectFirstTurnChanged(page, first);
  }
  await scrollTo(page, 2_000);
  const before = await firstVisibleTurn(page);
  await expect.poll(() => page.evaluate(() => Object.values({ ...sessionStorage }).join())).toContain(before.id);
  // The other chat loads slowly; meanwhile the previous one stays in place, on the page and in the saved position.
  let letGo = () => {};
  const held = new Promise<void>((open) => (letGo = open));
  await page.route("**/api/page/load_chat", async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("link", { name: "4 turns" }).click();
  await expect(page).toHaveURL(new RegExp(other.chat));
  await page.clock.fastForward(1_000);
  expect((await firstVisibleTurn(page)).id).toBe(before.id);
  expect(await page.evaluate(() => Object.values({ ...sessionStorage }).join())).toContain(before.id);
  letGo();
  await expect(turn(page, other.turns.at(-1)!)).toBeVisible();
  await page.goBack();
  await expect(turn(page, before.id)).toBeInViewport();
  await expect.poll(async () => Math.abs((await heightOf(page, before.id)) - before.y)).toBeLessThanOrEqual(2);
});

test("a link to a turn far up opens the turns around it, and Latest leads back", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(600);
  await openPage(page, `/c/${long.chat}?at=${long.turns[300]}`);
  await expect(turn(page, long.turns[300]!)).toBeInViewport();
  await expect(page.locator(`#turn-${long.turns[300]}-heading`)).toBeFocused();
  await expect(older(page)).toBeAttached();
  await expect(newer(page)).toBeAttached();
  await toLatest(page).click();
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await expect(newer(page)).not.toBeAttached();
  await expect(toLatest(page)).not.toBeVisible();
});

test("with the keyboard alone: older turns by Enter and Space, the focus at its place, End for the latest", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(600);
  const gate = await RequestGate.install(page);
  gate.close();
  await openPage(page, `/c/${long.chat}?at=${long.turns[300]}`);
  await expect(turn(page, long.turns[300]!)).toBeInViewport();
  gate.release();
  for (const key of ["Enter", "Space"]) {
    await waitForScrollSettled(page);
    const count = gate.count;
    const first = (await loadedTurnIds(page))[0]!;
    gate.close();
    // Focused without scrolling, so that only the key requests turns.
    await older(page).evaluate((button) => (button as HTMLElement).focus({ preventScroll: true }));
    await page.keyboard.press(key);
    await gate.request;
    expect(gate.count).toBe(count + 1);
    gate.release();
    await expectFirstTurnChanged(page, first);
    await expect(page.locator(`#turn-${first}-heading`)).toBeFocused();
  }
  await page.keyboard.press("End");
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await expect(newer(page)).not.toBeAttached();
});

test("a failed load is reported and retried by the button", async ({ page, turnleaf, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch|load_turns/);
  const long = await turnleaf.plantLongChat(200);
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await page.route("**/api/page/load_turns", (route) => route.abort());
  await scrollTo(page, 0);
  const error = page.getByRole("main").getByText("Could not load older messages.");
  await expect(error).toBeVisible();
  await page.unroute("**/api/page/load_turns");
  await older(page).click();
  await expectFirstTurnChanged(page, long.turns.at(-30)!);
  await expect(error).not.toBeAttached();
});

test("a message is sent from far up, answered, and shown with what it follows", async ({ page, turnleaf, model }) => {
  const long = await turnleaf.plantLongChat(400);
  await openPage(page, `/c/${long.chat}?at=${long.turns[50]}`);
  await expect(turn(page, long.turns[50]!)).toBeInViewport();
  await sendMessage(page, "From far up");
  const reply = await model.nextReply();
  expect(reply.request.messages).toHaveLength(401);
  await expect(page.locator("article[data-role=user]").last()).toContainText("From far up");
  await expect(page.locator("article[data-role=user]").last()).toBeInViewport();
  reply.finishWithText("Heard.");
  await expect(textOf(latestReply(page))).toHaveText("Heard.");
  await expectStatus(latestReply(page), "complete");
  // Earlier turns are loaded when the reader scrolls to them.
  await expect(turn(page, long.turns.at(-2)!)).toBeAttached();
  expect((await loadedTurnIds(page)).slice(-4, -2)).toEqual(long.turns.slice(-2));
});

test("a reply that is written while somebody reads far up can be stopped and found again", async ({ page, turnleaf, model }) => {
  const long = await turnleaf.plantLongChat(300);
  await openPage(page, `/c/${long.chat}`);
  await sendMessage(page, "Go on");
  const reply = await model.nextReply();
  reply.sendText("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, 0));
    await expect(newer(page)).toBeAttached({ timeout: 500 });
  }).toPass({ timeout: 30_000 });
  reply.sendText("two ");
  await page.getByRole("button", { name: "Go to latest, new text" }).click();
  await expect(textOf(latestReply(page))).toHaveText("one two");
  reply.sendText("three");
  await expect(textOf(latestReply(page))).toHaveText("one two three");
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await reply.closed;
});

test("what another tab adds does not move a reader far up", async ({ page, context, turnleaf, model }) => {
  const long = await turnleaf.plantLongChat(300);
  await openPage(page, `/c/${long.chat}?at=${long.turns[60]}`);
  await expect(turn(page, long.turns[60]!)).toBeInViewport();
  const before = await firstVisibleTurn(page);
  const other = await context.newPage();
  await openPage(other, `/c/${long.chat}`);
  await sendMessage(other, "From elsewhere");
  (await model.nextReply()).finishWithText("Answered.");
  await expectStatus(latestReply(other), "complete");
  await page.bringToFront();
  // The link to the newest turn shows that the page has polled.
  const newest = await latestReply(other).getAttribute("data-turn-id");
  await expect(page.getByRole("link", { name: "Skip to the latest reply" })).toHaveAttribute("href", new RegExp(newest!));
  expect(Math.abs((await heightOf(page, before.id)) - before.y)).toBeLessThanOrEqual(1);
  await toLatest(page).click();
  await expect(textOf(latestReply(page))).toHaveText("Answered.");
});

test("another version far up keeps its place, and Back shows the first again", async ({ page, turnleaf, model }) => {
  const long = await turnleaf.plantLongChat(300);
  const at = long.turns[101]!;
  await openPage(page, `/c/${long.chat}?at=${long.turns[100]}`);
  await expect(turn(page, at)).toBeInViewport();
  await turn(page, at).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("Another.");
  await expect(textOf(latestReply(page))).toHaveText("Another.");
  await expectStatus(latestReply(page), "complete");
  const version = await latestReply(page).getAttribute("data-turn-id");
  const y = await heightOf(page, version!);
  await latestReply(page).getByRole("button", { name: "Previous version" }).click();
  await expect(turn(page, at)).toBeInViewport();
  await expect(turn(page, long.turns[102]!)).toBeAttached();
  await expect.poll(async () => Math.abs((await heightOf(page, at)) - y)).toBeLessThanOrEqual(1);
  await expect(turn(page, version!)).not.toBeAttached();
});

test("selected text and its turn stay in the page while others leave it", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(400);
  await openPage(page, `/c/${long.chat}`);
  const kept = long.turns.at(-20)!;
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await turn(page, kept).evaluate((turn) => getSelection()?.selectAllChildren(turn));
  for (let loads = 0; loads < 5; loads += 1) {
    const first = (await loadedTurnIds(page))[0]!;
    await scrollTo(page, 350);
    await expectFirstTurnChanged(page, first);
  }
  await expect(turn(page, kept)).toBeAttached();
  expect(await page.evaluate(() => getSelection()?.toString().length)).toBeGreaterThan(20);
  await page.evaluate(() => getSelection()?.removeAllRanges());
  const first = (await loadedTurnIds(page))[0]!;
  await scrollTo(page, 350);
  await expectFirstTurnChanged(page, first);
  await expect(turn(page, kept)).not.toBeAttached();
});

test("a focus that was left behind keeps its turn for a while, and not the whole chat", async ({ page, turnleaf }) => {
  test.setTimeout(120_000);
  const long = await turnleaf.plantLongChat(600);
  const at = long.turns[550]!;
  await openPage(page, `/c/${long.chat}?at=${at}`);
  const heading = page.locator(`#turn-${at}-heading`);
  await expect(heading).toBeFocused();
  let most = 0;
  for (let first = (await loadedTurnIds(page))[0]!; first !== long.turns[0]; ) {
    if (long.turns.indexOf(first) > 330) await expect(heading).toBeFocused();
    await scrollTo(page, 350);
    await expectFirstTurnChanged(page, first);
    const ids = await loadedTurnIds(page);
    first = ids[0]!;
    most = Math.max(most, ids.length);
  }
  expect(most).toBeLessThanOrEqual(330);
  // The focus moved to a turn near the reader: it is neither lost nor at the old place.
  await expect(heading).not.toBeAttached();
  expect(await page.evaluate(() => document.activeElement?.closest("article")?.id)).toMatch(/^turn-/);
});

test("words are found in all of the chat, from turn to turn", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(600);
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await page.keyboard.press("Control+Shift+F");
  const box = page.getByRole("searchbox", { name: "Text to find" });
  await expect(box).toBeFocused();
  const bar = page.getByRole("search", { name: "Find in chat" });
  // The matches are questions 17 and 170 to 179, none of them among the newest turns.
  await box.fill("question 17");
  await expect(bar, "found while typing").toContainText("11 of 11");
  await expect(page.locator("#say")).toContainText("11 of 11");
  await expect(turn(page, long.turns[358]!)).toBeInViewport();
  const marked = () => page.evaluate(() => [...((CSS as any).highlights.get("found") ?? [])].map(String));
  await expect.poll(marked).toEqual(["Question 17"]);
  await page.keyboard.press("Enter");
  await expect(bar).toContainText("1 of 11");
  await expect(turn(page, long.turns[34]!)).toBeInViewport();
  await page.keyboard.press("Shift+Enter");
  await expect(bar).toContainText("11 of 11");
  await expect(turn(page, long.turns[358]!)).toBeInViewport();
  await box.fill("");
  await expect(bar).not.toContainText("of 11");
  expect(await marked()).toEqual([]);
  await box.fill("100%_nowhere");
  await expect(bar).toContainText("No matches");
  const read = await firstVisibleTurn(page);
  await page.keyboard.press("Escape");
  await expect(bar).not.toBeAttached();
  expect(await marked()).toEqual([]);
  await expect(messageBox(page)).toBeFocused();
  expect(await firstVisibleTurn(page), "whoever reads stays where they are").toEqual(read);
});

test("a hit above all that is loaded is brought, marked and seen, again and both ways", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(300);
  await openPage(page, `/c/${long.chat}`);
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  for (const _ of [1, 2]) {
    const first = (await loadedTurnIds(page))[0]!;
    await scrollTo(page, 350);
    await expectFirstTurnChanged(page, first);
  }
  expect((await loadedTurnIds(page)).length).toBeGreaterThanOrEqual(90);
  await page.keyboard.press("Control+Shift+F");
  const bar = page.getByRole("search", { name: "Find in chat" });
  /** Counts the frames in a row in which the words stand in the upper half of the view. */
  const seenFor = (words: string) =>
    page.evaluate(
      (words) =>
        new Promise<boolean>((done) => {
          let frames = 0;
          const look = (left: number) => {
            const mark: Range | undefined = [...((CSS as any).highlights.get("found") ?? [])][0];
            const y = mark?.getBoundingClientRect().top ?? -1;
            frames = String(mark) === words && y > 60 && y < innerHeight * 0.75 ? frames + 1 : 0;
            if (frames >= 20 || left === 0) done(frames >= 20);
            else requestAnimationFrame(() => look(left - 1));
          };
          look(240);
        }),
      words,
    );
  for (const [words, place] of [["question 20:", 40], ["question 140:", 280], ["question 3:", 6], ["question 75:", 150]] as const) {
    await page.getByRole("searchbox", { name: "Text to find" }).fill(words);
    for (const key of ["Enter", "Enter", "Shift+Enter"]) {
      await page.keyboard.press(key);
      await expect(bar).toContainText("1 of 1");
      await expect(turn(page, long.turns[place]!)).toBeInViewport();
      expect(await seenFor(words.replace("q", "Q")), `${words} ${key}`).toBe(true);
    }
  }
});

test("words inside code and across marks are marked where they stand", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(40);
  await openPage(page, `/c/${long.chat}`);
  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("link", { name: "Find in chat" }).click();
  await page.getByRole("searchbox").fill("fn place_11() -> usize");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("search")).toContainText("1 of 1");
  await expect.poll(() => page.evaluate(() => [...((CSS as any).highlights.get("found") ?? [])].map(String)))
    .toEqual(["fn place_11() -> usize"]);
  const y = await page.evaluate(() => [...(CSS as any).highlights.get("found")][0].getBoundingClientRect().top);
  expect(y).toBeGreaterThan(40);
  expect(y).toBeLessThan(700);
});
