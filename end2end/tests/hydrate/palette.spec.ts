// The palette: one field for chats, messages of all branches, documents, commands and settings.
// UX-19, UX-30 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, chooseModel, expectStatus, waitForHydration, latestReply, messageBox, openPage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL, type ModelServer } from "../../support/model_server.ts";
import { turn } from "../../support/reader.ts";
import { addExchange } from "../../support/tree.ts";
import type { Turnleaf } from "../../support/turnleaf.ts";
import { holdConversation, userTurns } from "../../support/turn_actions.ts";

const palette = (page: Page) => page.getByRole("dialog", { name: "Search and commands" });
const box = (page: Page) => palette(page).getByRole("combobox");
const rows = (page: Page) => palette(page).getByRole("option");
const chosen = (page: Page) => palette(page).getByRole("option", { selected: true });
const group = (page: Page, name: string) => palette(page).getByRole("group", { name });
const announcement = (page: Page) => palette(page).locator(".palette-said");

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect(box(page)).toBeFocused();
}

async function postJson<T>(turnleaf: Turnleaf, path: string, body: unknown): Promise<T> {
  const headers = { "content-type": "application/json" };
  return await (await fetch(`${turnleaf.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json() as T;
}

/** Creates a chat in which an older branch has words that the newest lacks. */
async function createForkedChat(turnleaf: Turnleaf, model: ModelServer): Promise<{ chat: string; side: string }> {
  const answering = (async () => {
    for (const text of ["Well.", "那就是你好的意思", "Something else."]) (await model.nextReply()).finishWithText(text);
  })();
  const { id: chat } = await postJson<{ id: string }>(turnleaf, "/api/chats", { provider: "openai", model: MODEL, title: "Greetings" });
  const first = await addExchange(turnleaf, chat, "How does one greet?");
  const side = await addExchange(turnleaf, chat, "In Chinese?", first);
  await addExchange(turnleaf, chat, "In Dutch?", first);
  await answering;
  return { chat, side };
}

test("a Chinese word of two characters leads to the very turn on its side branch (UX-30)", async ({ page, turnleaf, model }) => {
  const { chat, side } = await createForkedChat(turnleaf, model);
  await page.addInitScript(() => {
    const flashed: string[] = [];
    Object.assign(window, { flashed });
    new MutationObserver((changes) => {
      for (const { target } of changes) if (target instanceof Element && target.hasAttribute("data-flash")) flashed.push(target.id);
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-flash"] });
  });
  await openPage(page);
  await openPalette(page);
  await box(page).fill("你好");
  const hit = group(page, "Messages").getByRole("option");
  await expect(hit).toHaveCount(1);
  await expect(hit.locator("mark")).toHaveText("你好");
  await expect(hit).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(palette(page)).toBeHidden();
  await expect(page).toHaveURL(new RegExp(`/c/${chat}\\?at=${side}`));
  await expect(textOf(turn(page, side))).toHaveText("那就是你好的意思");
  await expect(turn(page, side)).toBeInViewport();
  // The turn flashes once, and the flash may be over before a poll sees it, so it is recorded.
  await expect.poll(() => page.evaluate(() => (window as unknown as { flashed: string[] }).flashed)).toEqual([`turn-${side}`]);
  await expect(turn(page, side)).not.toHaveAttribute("data-flash", "");
  // The same chat from another branch.
  await page.goto(`/c/${chat}?at=${side}`);
  await waitForHydration(page);
  await openPalette(page);
  await box(page).fill("dutch");
  await expect(group(page, "Messages").getByRole("option")).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(userTurns(page).last()).toContainText("In Dutch?");
});

test("without words there are recent chats and commands, and the keys walk through them", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await page.getByRole("heading", { level: 3 }).first().focus();
  await openPalette(page);
  await expect(group(page, "Recent chats").getByRole("option")).toHaveCount(1);
  await expect(group(page, "Commands").getByRole("option").first()).toContainText("New chat");
  await expect(group(page, "Settings")).toContainText("Chat settings");
  const count = await rows(page).count();
  await expect(rows(page).first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowUp");
  await expect(rows(page).nth(count - 1)).toHaveAttribute("aria-selected", "true");
  await expect(rows(page).nth(count - 1)).toBeInViewport();
  await expect(box(page)).toHaveAttribute("aria-activedescendant", (await chosen(page).getAttribute("id"))!);
  await page.keyboard.press("ArrowDown");
  await expect(rows(page).first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("End");
  await expect(rows(page).nth(count - 1)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Home");
  await expect(rows(page).first()).toHaveAttribute("aria-selected", "true");
  // Esc closes the palette and restores the focus.
  await page.keyboard.press("Escape");
  await expect(palette(page)).toBeHidden();
  await expect(page.getByRole("heading", { level: 3 }).first()).toBeFocused();
});

test("commands do what they say", async ({ page, model, turnleaf }) => {
  await holdConversation(page, model, 1);
  await openPalette(page);
  await box(page).fill("dark theme");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await openPalette(page);
  await box(page).fill("tree");
  await page.keyboard.press("Enter");
  await expect(page.locator("#panel")).toBeVisible();
  await openPalette(page);
  await box(page).fill("chat list");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-sidebar", "closed");
  await openPalette(page);
  await box(page).fill("keyboard");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await page.keyboard.press("Escape");
  await openPalette(page);
  await box(page).fill("new chat");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${turnleaf.url}/`);
  await openPalette(page);
  await box(page).fill("usage");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/usage$/);
});

test("a running reply can be stopped from it", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, `openai/${MODEL}`);
  await messageBox(page).fill("Go on");
  await page.keyboard.press("Enter");
  (await model.nextReply()).sendText("Half");
  await expect(textOf(latestReply(page))).toHaveText("Half");
  await openPalette(page);
  await box(page).fill("stop");
  await page.keyboard.press("Enter");
  await expectStatus(latestReply(page), "cancelled");
});

test("documents and chats are found, empty results are reported, and the search page is one row away", async ({ page, turnleaf }) => {
  const document = await postJson<{ id: string }>(turnleaf, "/api/documents", { title: "C++ notes", content: "About 100% of a-b" });
  await postJson(turnleaf, "/api/chats", { title: "Learning C++" });
  await openPage(page);
  await page.getByRole("link", { name: "Search" }).first().click();
  await expect(box(page)).toBeFocused();
  await box(page).fill("c++");
  await expect(group(page, "Chats").locator("mark")).toHaveText("C++");
  await expect(group(page, "Documents").locator("mark").first()).toHaveText("C++");
  await expect(announcement(page)).toHaveText("2 results");
  await box(page).fill("<b>qqq</b>");
  await expect(announcement(page)).toHaveText("No results for “<b>qqq</b>”.");
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/search\?q=%3Cb%3Eqqq%3C%2Fb%3E$/);
  await page.goBack();
  await waitForHydration(page);
  await openPalette(page);
  await box(page).fill("100%");
  await group(page, "Documents").getByRole("option").click();
  await expect(page).toHaveURL(new RegExp(`/documents/${document.id}`));
});

test("Ctrl and Enter open what was found in a tab of its own", async ({ page, context, turnleaf }) => {
  const { id } = await postJson<{ id: string }>(turnleaf, "/api/chats", { title: "Beside" });
  await openPage(page);
  await openPalette(page);
  await box(page).fill("beside");
  await expect(group(page, "Chats").getByRole("option")).toHaveCount(1);
  const newPage = context.waitForEvent("page");
  await page.keyboard.press("Control+Enter");
  await expect(await newPage).toHaveURL(new RegExp(`/c/${id}$`));
  await expect(palette(page)).toBeVisible();
});

test("the Enter of an input method chooses nothing (UX-19)", async ({ page, turnleaf }) => {
  await postJson(turnleaf, "/api/chats", { title: "你好" });
  await openPage(page);
  await openPalette(page);
  await box(page).evaluate((input: HTMLInputElement) => {
    const key = (init: KeyboardEventInit) => input.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, key: "Enter", ...init }));
    input.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
    input.value = "nihao";
    input.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
    key({ isComposing: true });
    input.value = "你好";
    input.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "你好" }));
    key({ keyCode: 229 } as KeyboardEventInit);
  });
  await expect(palette(page)).toBeVisible();
  await expect(group(page, "Chats").getByRole("option")).toContainText("你好");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/c\//);
});

test("an outdated response is dropped, a slow one is awaited, and being offline is shown", async ({ page, turnleaf, watch }) => {
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await postJson(turnleaf, "/api/chats", { title: "apple" });
  await postJson(turnleaf, "/api/chats", { title: "banana" });
  await openPage(page);
  let letGo = (): void => {};
  const held = new Promise<void>((done) => (letGo = done));
  await page.route("**/api/search?q=apple&**", async (route) => {
    await held;
    await route.continue().catch(() => undefined);
  });
  await openPalette(page);
  await box(page).fill("apple");
  await expect(announcement(page)).toHaveText("Searching…");
  await box(page).fill("banana");
  await expect(group(page, "Chats")).toContainText("banana");
  const late = page.waitForResponse((answer) => answer.url().includes("q=apple&in=chats"));
  letGo();
  await late;
  await expect(announcement(page)).toHaveText("1 result");
  await expect(group(page, "Chats")).not.toContainText("apple");
  await page.context().setOffline(true);
  await box(page).fill("theme");
  await expect(announcement(page)).toContainText("Offline");
  await expect(group(page, "Commands").getByRole("option")).toHaveCount(3);
  await page.context().setOffline(false);
});

test("a palette reopened before the close event of the browser stays open", async ({ page }) => {
  await openPage(page);
  await openPalette(page);
  const isOpen = await page.evaluate(async () => {
    const dialog = document.querySelector<HTMLDialogElement>("dialog.palette")!;
    const closed = new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
    // Esc requests the close, and the opening key arrives before the task of the close event.
    dialog.dispatchEvent(new Event("cancel"));
    dialog.close();
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "k", code: "KeyK", ctrlKey: true, bubbles: true }));
    await Promise.resolve();
    const isOpenAtOnce = dialog.open;
    await closed;
    await new Promise((next) => setTimeout(next));
    await new Promise((next) => requestAnimationFrame(next));
    return [isOpenAtOnce, dialog.open];
  });
  expect(isOpen).toEqual([true, true]);
  await box(page).fill("theme");
  await expect(group(page, "Commands").getByRole("option").first()).toBeVisible();
});

test("a reply and its message are copied with what they quote", async ({ page, context, turnleaf, model }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const document = await postJson<{ id: string }>(turnleaf, "/api/documents", { title: "Plan", content: "one\ntwo\nthree" });
  const { id: chat } = await postJson<{ id: string }>(turnleaf, "/api/chats", { provider: "openai", model: MODEL, title: "Quotes" });
  const quote = { type: "partial_reference", ref_id: document.id, ref_type: "document", selection_start: 4, selection_end: 13 };
  await postJson(turnleaf, `/api/chats/${chat}/turns`, { content: [quote, { type: "text", text: "What is it?" }] });
  (await model.nextReply()).finishWithText("A **plan**.");
  await openPage(page, `/c/${chat}`);
  await expectStatus(latestReply(page), "complete");
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await latestReply(page).getByRole("button", { name: "Copy reply" }).click();
  await expect.poll(copied).toMatch(/^A \*\*plan\*\*\.\n\n---\n\n> two\n> three\n>\n> — \[Plan, lines 2-3\]\(\/documents\//);
  await userTurns(page).first().getByRole("heading", { level: 3 }).focus();
  await page.keyboard.press("c");
  await expect.poll(copied).toMatch(/^> two\n> three\n>\n> — \[Plan, lines 2-3\].*\n\nWhat is it\?$/);
});

test("a hit is shown as rendered, without Markdown syntax", async ({ page, model }) => {
  await startChat(page, "How do leaves grow?");
  (await model.nextReply()).finishWithText("## Growth\n\nThey come from **small buds**, see [the `atlas`](https://example.org/trees).");
  await expectStatus(latestReply(page), "complete");
  await page.keyboard.press("Control+k");
  await box(page).fill("buds");
  const hit = group(page, "Messages").getByRole("option");
  await expect(hit.locator(".palette-excerpt")).toHaveText("Growth They come from small buds, see the atlas.");
  await expect(hit.locator("mark")).toHaveText("buds");
  await page.goto("/search?q=buds");
  await expect(page.locator(".hits")).toContainText("They come from small buds, see the atlas.");
});

test("announcements made before the palette opened are not repeated when it closes", async ({ page, model }) => {
  await startChat(page, "Hello");
  (await model.nextReply()).finishWithText("Good day.");
  await expectStatus(latestReply(page), "complete");
  const live = page.locator("#say");
  await expect(live).toHaveText("Reply: Good day.");
  await openPalette(page);
  await expect(live).toHaveText("");
  await page.keyboard.press("Escape");
  await expect(palette(page)).toBeHidden();
  await expect(live).toHaveText("");
});
