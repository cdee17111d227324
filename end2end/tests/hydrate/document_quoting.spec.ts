// Quoting from a document: a selection of its lines by mouse, touch or keys is attached to the next message of a
// chat.
// UX-36 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { expectAccessibleState } from "../../support/accessibility_checks.ts";
import { waitForHydration, messageBox, openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { Turnleaf } from "../../support/turnleaf.ts";

interface Made { id: string; version_timestamp: string }

/** Han characters, an emoji, a combining accent, and CRLF line ends. */
const TEXT = "你好😀世界\r\nsecond line\r\ncafe\u0301 au lait\r\n\r\nlast line";

async function postJson<T>(turnleaf: Turnleaf, path: string, body: unknown): Promise<T> {
  const answer = await fetch(`${turnleaf.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return await answer.json() as T;
}

const newDocument = (turnleaf: Turnleaf, content = TEXT) => postJson<Made>(turnleaf, "/api/documents", { title: "Plan", content });
const chat = (turnleaf: Turnleaf, title: string) => postJson<{ id: string }>(turnleaf, "/api/chats", { title });

const bar = (page: Page) => page.getByRole("group", { name: "Selected text" });
const quoteButton = (page: Page) => page.getByRole("button", { name: "Quote in chat" }).first();

/** Selects with the DOM API: from a position in one line to one in another, in UTF-16 code units. */
async function select(page: Page, from: [number, number], to: [number, number]): Promise<void> {
  await page.evaluate(([from, to]) => {
    const place = ([line, unit]: [number, number]): [Node, number] => {
      const text = document.querySelector(`#L${line} code`)!;
      return text.firstChild ? [text.firstChild, unit] : [text, 0];
    };
    getSelection()!.setBaseAndExtent(...place(from), ...place(to));
  }, [from, to] as const);
}

/** Returns the request that quotes the selection. */
async function quoteAndReadRequest(page: Page, quote: () => Promise<void>): Promise<Record<string, unknown>> {
  const request = page.waitForRequest((request) => request.url().endsWith("/api/drafts/attachments"));
  await quote();
  return (await request).postDataJSON() as Record<string, unknown>;
}

test("what a mouse selects is quoted in the newest chat, counted in characters", async ({ page, turnleaf }) => {
  await chat(turnleaf, "Older");
  const newest = await chat(turnleaf, "Newest");
  const made = await newDocument(turnleaf);
  await openPage(page, `/documents/${made.id}`);
  await expect(bar(page)).toBeHidden();
  await page.locator("#L2 code").dblclick({ position: { x: 20, y: 8 } });
  await expect(bar(page)).toBeVisible();
  await expect(bar(page)).toContainText("Line 2");
  await expect(page.locator("#quote-bar-said")).toContainText("Line 2 selected");
  await expect(quoteButton(page)).toHaveAccessibleDescription("Newest");
  const body = await quoteAndReadRequest(page, () => quoteButton(page).click());
  expect(body).toMatchObject({ chat_id: newest.id, content: [{ selection_start: 6, selection_end: 12, quote: "second" }] });
  await expect(page).toHaveURL(new RegExp(`/c/${newest.id}`));
  await waitForHydration(page);
  await expect(messageBox(page)).toBeFocused();
});

for (const [name, from, to, start, end, quote] of [
  ["a Han character behind an emoji", [1, 4], [1, 5], 3, 4, "世"],
  ["an emoji", [1, 2], [1, 4], 2, 3, "😀"],
  ["an accent with the letter before it", [3, 3], [3, 5], 21, 23, "e\u0301"],
  ["lines with ends as on Windows", [1, 5], [3, 4], 4, 22, "界\nsecond line\ncafe"],
  ["over an empty line", [3, 6], [5, 4], 24, 37, "au lait\n\nlast"],
] as const) {
  test(`${name} is selected as what it is (S-OF-09)`, async ({ page, turnleaf }) => {
    const made = await newDocument(turnleaf);
    await openPage(page, `/documents/${made.id}`);
    await select(page, [...from], [...to]);
    await expect(bar(page)).toBeVisible();
    const answer = page.waitForResponse((answer) => answer.url().endsWith("/api/drafts/attachments"));
    const body = await quoteAndReadRequest(page, () => page.keyboard.press("Control+Shift+L"));
    expect(body["content"]).toMatchObject([{ selection_start: start, selection_end: end, quote }]);
    // The server has verified the quoted text against the offsets.
    expect((await answer).status()).toBe(200);
    await expect(page).toHaveURL(/\/#message$/);
  });
}

test("keys select lines, and quote them, where browsers have no caret", async ({ page, turnleaf }) => {
  const made = await newDocument(turnleaf);
  const target = await chat(turnleaf, "Target");
  await openPage(page, `/documents/${made.id}`);
  await page.getByRole("region", { name: "Text with line numbers" }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("#L1")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("#L2")).toBeFocused();
  await page.keyboard.press("Shift+ArrowDown");
  await expect(page.locator("#L3")).toBeFocused();
  await expect(bar(page)).toContainText("Lines 2–3");
  await page.keyboard.press("Shift+ArrowUp");
  await page.keyboard.press("Shift+ArrowUp");
  await expect(bar(page)).toContainText("Lines 1–2");
  await page.keyboard.press("Shift+End");
  await expect(bar(page)).toContainText("Lines 2–5");
  // Tab moves to the bar; Esc closes it and keeps the selection.
  await page.keyboard.press("Tab");
  await expect(quoteButton(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(bar(page)).toBeHidden();
  await expect(page.getByRole("region", { name: "Text with line numbers" })).toBeFocused();
  // The context menu key opens the bar again.
  await page.keyboard.press("ContextMenu");
  await expect(quoteButton(page)).toBeFocused();
  const body = await quoteAndReadRequest(page, () => page.keyboard.press("Enter"));
  expect(body).toMatchObject({ chat_id: target.id, content: [{ quote: "second line\ncafe\u0301 au lait\n\nlast line" }] });
  await waitForHydration(page);
  await expect(messageBox(page)).toBeFocused();
});

test("a selection beyond the document is cut, and an empty one is not offered", async ({ page, turnleaf }) => {
  const made = await newDocument(turnleaf, "one\ntwo\nthree");
  await openPage(page, `/documents/${made.id}`);
  await page.keyboard.press("Control+a");
  await expect(bar(page)).toContainText("Lines 1–3");
  const body = await quoteAndReadRequest(page, () => page.keyboard.press("Control+Shift+L"));
  expect(body["content"]).toMatchObject([{ selection_start: 0, selection_end: 13, quote: "one\ntwo\nthree" }]);
  await expect(page).toHaveURL(/#message$/);
  await waitForHydration(page);

  await openPage(page, `/documents/${made.id}`);
  await page.evaluate(() => getSelection()!.selectAllChildren(document.querySelector("h1")!));
  await page.waitForTimeout(400);
  await expect(bar(page)).toBeHidden();
  await page.keyboard.press("Control+Shift+L");
  await expect(page.locator("#quote-bar-said")).toHaveText("Select some text first.");
});

test("a part far down counts from the beginning of the text", async ({ page, turnleaf }) => {
  const lines = Array.from({ length: 4_500 }, (_, at) => `😀 line ${at + 1}`);
  const made = await newDocument(turnleaf, lines.join("\n"));
  await openPage(page, `/documents/${made.id}?from=4001`);
  await select(page, [4002, 0], [4003, 7]);
  await expect(bar(page)).toContainText("Lines 4002–4003");
  const answer = page.waitForResponse((answer) => answer.url().endsWith("/api/drafts/attachments"));
  await quoteButton(page).click();
  expect((await answer).status()).toBe(200);
});

test("a link to the selection shows the same lines, and the chat that one came from is the one", async ({ page, context, turnleaf }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const from = await chat(turnleaf, "Came from");
  await chat(turnleaf, "Newest");
  const made = await newDocument(turnleaf);
  await openPage(page, `/c/${from.id}`);
  await openPage(page, `/documents/${made.id}`);
  await select(page, [2, 0], [3, 3]);
  await expect(quoteButton(page)).toHaveAccessibleDescription("Came from");
  await page.getByRole("combobox", { name: "Chat" }).first().selectOption("New chat");
  await expect(quoteButton(page)).toHaveAccessibleDescription("New chat");
  await expect(bar(page)).toBeVisible();
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.locator("#quote-bar-said")).toHaveText("Link copied.");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toContain(`/documents/${made.id}?version=`);
  await openPage(page, link);
  await expect(page.locator("li.marked")).toHaveText(["second line", "cafe\u0301 au lait"]);
});

test("a refusal is reported, and the selection stays", async ({ page, turnleaf, watch }) => {
  watch.expect(/404|ERR_FAILED/);
  const made = await newDocument(turnleaf);
  const target = await chat(turnleaf, "Target");
  await openPage(page, `/documents/${made.id}`);
  await select(page, [1, 0], [1, 2]);
  await expect(bar(page)).toBeVisible();
  await page.route("**/api/drafts/attachments", (route) => route.abort());
  await quoteButton(page).click();
  await expect(bar(page).getByRole("alert")).toContainText("Could not reach the server.");
  await page.unroute("**/api/drafts/attachments");
  await fetch(`${turnleaf.url}/api/chats/${target.id}`, { method: "DELETE" });
  await quoteButton(page).click();
  await expect(bar(page).getByRole("alert")).toHaveText("It does not exist, or you do not have access to it.");
  expect(await page.evaluate(() => getSelection()!.toString())).toBe("你好");
});

test("the selection bar is accessible", async ({ page, turnleaf }) => {
  await chat(turnleaf, "A chat with a title that is rather long for a narrow screen");
  const made = await newDocument(turnleaf);
  await openPage(page, `/documents/${made.id}`);
  await expectAccessibleState(page, "the selection bar", async (width) => {
    await select(page, [1, 0], [1, 0]);
    await expect(bar(page)).toBeHidden();
    await select(page, [1, 0], [2, 6]);
    await expect(bar(page)).toBeVisible();
    const box = (await bar(page).boundingBox())!;
    expect.soft(box.x >= 0 && box.x + box.width <= width && box.y + box.height <= 900, JSON.stringify(box)).toBe(true);
  });
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("what a finger selects is quoted", async ({ page, turnleaf }) => {
    const target = await chat(turnleaf, "Target");
    const made = await newDocument(turnleaf);
    await openPage(page, `/documents/${made.id}`);
    // Native touch handles cannot be driven here, so the selection is made by script, with the event that they cause.
    await page.locator("#L2 code").scrollIntoViewIfNeeded();
    await select(page, [2, 0], [2, 6]);
    await expect(bar(page)).toBeVisible();
    for (const control of await bar(page).locator("button, select").all()) {
      expect((await control.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    }
    const body = await quoteAndReadRequest(page, () => quoteButton(page).tap());
    expect(body).toMatchObject({ chat_id: target.id, content: [{ quote: "second" }] });
    await expect(page).toHaveURL(new RegExp(`/c/${target.id}`));
  });
});
