// Whole chats: deletion and restore in every way, renaming, unread chats on two devices, and slow loading.
// UX-35, UX-49, UX-50 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, messageBox, openPage, sendMessage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { firstStatus } from "../../support/live_channel.ts";
import type { ModelServer } from "../../support/model_server.ts";

async function createChat(page: Page, model: ModelServer, words: string): Promise<string> {
  await startChat(page, words);
  (await model.nextReply()).finishWithText("So.");
  await expectStatus(latestReply(page), "complete");
  return new URL(page.url()).pathname;
}

function row(page: Page, chat: string) {
  return page.locator(`.chat-link[href="${chat}"]`);
}

test("a chat is deleted from the list and from its header, and Undo and Ctrl+Z bring it back", async ({ page, model }) => {
  const first = await createChat(page, model, "First chat");
  const second = await createChat(page, model, "Second chat");
  // Deletion from the list: the row disappears at once, and the next row gets the focus.
  const item = page.getByRole("listitem").filter({ has: row(page, second) });
  await item.hover();
  await item.getByRole("button", { name: /^More actions for/ }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(row(page, second)).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row(page, second)).toBeVisible();

  // Deletion of the open chat: the page goes to the new chat, its empty box gets the focus, and Ctrl+Z restores the
  // chat.
  await row(page, first).click();
  await expect(page).toHaveURL(first);
  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page).toHaveURL("/");
  await expect(page.locator(".toasts").getByText("Deleted “First chat”")).toBeVisible();
  await messageBox(page).focus();
  await page.keyboard.press("Control+z");
  await expect(row(page, first)).toBeVisible();
});

test("a suggested title becomes the title at once, and Undo brings the previous one back", async ({ page, model }) => {
  await createChat(page, model, "Names for a boat?");
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toHaveText("Names for a boat?");
  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("button", { name: "Suggest a title" }).click();
  await expect(page.locator(".toasts").getByText("Suggesting a title…")).toBeVisible();
  const call = await model.nextReply();
  expect(JSON.stringify(call.request.messages)).toContain("Suggest a title for this conversation");
  call.finishWithText("**Ada and other boats**");
  await expect(title).toHaveText("Ada and other boats");
  await expect(page.locator(".toasts").getByText("Renamed to “Ada and other boats”.")).toBeVisible();
  await page.locator(".toasts").getByRole("button", { name: "Undo" }).click();
  await expect(title).toHaveText("Names for a boat?");

  // The request has a page, as that of a reply.
  const chat = new URL(page.url()).pathname;
  await page.goto(`${chat}/settings`);
  await page.getByText("Last suggestions").click();
  await page.getByRole("link", { name: "Ada and other boats" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Suggested title");
  await page.getByText("Request as sent").click();
  await expect(page.getByRole("group", { name: "Request as sent" })).toContainText("Suggest a title for this conversation");
});

test("a title that is being suggested is stopped in the menu and in the note, and the title stays", async ({ page, model }) => {
  await createChat(page, model, "Names for a boat?");
  const menu = page.getByRole("button", { name: "More actions for this chat" });
  const stops = [
    async () => {
      await menu.click();
      await page.getByRole("button", { name: "Stop suggesting a title" }).click();
    },
    () => page.locator(".toasts").getByRole("button", { name: "Stop", exact: true }).click(),
  ];
  for (const stop of stops) {
    await menu.click();
    await page.getByRole("button", { name: "Suggest a title" }).click();
    const call = await model.nextReply();
    await stop();
    await call.closed;
    await expect(page.locator(".toasts").getByText("The title suggestion was stopped.").last()).toBeVisible();
    await expect(page.locator(".toasts").getByText("Suggesting a title…")).toHaveCount(0);
  }
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Names for a boat?");
});

test("after a chat is deleted from the list the next one has the focus", async ({ page, model }) => {
  const first = await createChat(page, model, "First chat");
  const second = await createChat(page, model, "Second chat");
  await openPage(page, "/");
  const item = page.getByRole("listitem").filter({ has: row(page, second) });
  await item.getByRole("button", { name: /^More actions for/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(row(page, first)).toBeFocused();
});

test("a chat whose reply ended unseen is unread on every device until one of them opens it", async ({ page, browser, turnleaf, model }) => {
  const first = await createChat(page, model, "First chat");
  const second = await createChat(page, model, "Second chat");
  await sendMessage(page, "Go on");
  const call = await model.nextReply();
  await row(page, first).click();
  await expect(page).toHaveURL(first);
  // The previous chat stays on screen, and counts as seen, until the other one is loaded.
  await expect(page.locator("article[data-role=user]")).toHaveCount(1);
  await expect(page.locator("article[data-role=user]")).toContainText("First chat");
  call.finishWithText("At last.");
  await expect(row(page, second).getByText("new reply")).toBeAttached();
  await page.reload();
  await waitForHydration(page);
  await expect(row(page, second).getByText("new reply")).toBeAttached();
  await expect(row(page, first).getByText("new reply")).toHaveCount(0);

  // Another device: the bell counts it and leads to it, and what is read there is read here.
  const other = await (await browser.newContext({ baseURL: turnleaf.url })).newPage();
  await openPage(other, "/");
  await expect(row(other, second).getByText("new reply")).toBeAttached();
  await other.getByRole("link", { name: "Notifications 1" }).click();
  await expect(other.getByText("Reply complete.")).toBeVisible();
  await other.getByRole("link", { name: "Second chat" }).click();
  await expect(latestReply(other)).toContainText("At last.");
  await expect(row(page, second).getByText("new reply")).toHaveCount(0);
  await expect(page.getByRole("link", { name: "Notifications", exact: true })).toBeVisible();

  // Marked as unread, the chat on screen is left, because it would be read at once.
  await waitForHydration(other);
  const item = other.getByRole("listitem").filter({ has: row(other, second) });
  await item.hover();
  await item.getByRole("button", { name: /^More actions for/ }).click();
  await other.getByRole("button", { name: "Mark as unread" }).click();
  await expect(other).toHaveURL("/");
  await expect(row(other, second).getByText("new reply")).toBeAttached();
  await expect(row(page, second).getByText("new reply")).toBeAttached();
  await row(page, second).click();
  await expect(row(page, second).getByText("new reply")).toHaveCount(0);
  await expect(row(other, second).getByText("new reply")).toHaveCount(0);
  await other.context().close();
});

test("the title is a button, and a rename that fails keeps what was typed", async ({ page, model, watch }) => {
  watch.expect(/rename_chat/);
  await createChat(page, model, "First chat");
  await page.locator(".chat-title button").click();
  const field = page.getByRole("textbox", { name: "Title" });
  await field.fill("Another name");
  await page.route("**/api/page/rename_chat", (route) => route.abort());
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.locator("#rename-problem")).toHaveText(/Could not reach the server/);
  // The rest of the page is inert, and so is its live region.
  await expect(page.getByRole("dialog").getByRole("alert")).toHaveText(/Could not reach the server/);
  await expect(field).toHaveValue("Another name");
  await page.unroute("**/api/page/rename_chat");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Another name" })).toBeVisible();
});

test("a chat that is slow to come has an outline, then a way to try again and one back", async ({ page, model }) => {
  const first = await createChat(page, model, "First chat");
  const second = await createChat(page, model, "Second chat");
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/api/page/load_chat", async (route) => {
    await held;
    await route.continue();
  });
  await row(page, first).click();
  await expect(page.locator(".chat-item[aria-busy=true]").filter({ has: row(page, first) })).toBeVisible();
  await expect(page.locator(".on-its-way .loading")).toBeVisible();
  await expect(page.getByRole("status").first()).toHaveText("Loading chat…");
  await expect(page.locator(".on-its-way").getByText("Still loading…")).toBeVisible();
  await page.locator(".on-its-way").getByRole("button", { name: "Cancel" }).click();
  await expect(page).toHaveURL(second);
  release();
  await expect(page.locator(".on-its-way .loading")).toHaveCount(0);
  await expect(latestReply(page)).toBeVisible();
});

test("a system notification reports a reply that ended while the page was hidden, without its text", async ({
  page,
  context,
  model,
}) => {
  await context.grantPermissions(["notifications"]);
  await page.addInitScript(() => {
    const shown: { title: string; body?: string }[] = [];
    const Recorded = class {
      static permission = "granted";
      static requestPermission = async () => "granted";
      onclick: (() => void) | null = null;
      constructor(title: string, options?: { body?: string }) {
        shown.push({ title, body: options?.body });
        Object.assign(window, { pressNote: () => this.onclick?.() });
      }
      close() {}
    };
    Object.assign(window, { Notification: Recorded, shownNotes: shown });
  });
  await openPage(page, "/settings/general");
  await page.locator("#notify").getByRole("button", { name: "On", exact: true }).click();
  await expect(page.locator("#notify").getByRole("button", { name: "On", exact: true })).toHaveAttribute("aria-pressed", "true");
  await startChat(page, "A question");
  const call = await model.nextReply();
  await page.waitForURL("**/c/*");
  const chat = new URL(page.url()).pathname;
  const status = firstStatus(page);
  await openPage(page, "/");
  await expect(row(page, chat).getByText("replying")).toBeAttached();
  // The page has to see the running reply first, or it cannot notice its end.
  await status;
  await page.evaluate(() => Object.defineProperty(document, "visibilityState", { get: () => "hidden" }));
  call.finishWithText("A secret answer.");
  const notes = () => page.evaluate(() => (window as unknown as { shownNotes: { title: string; body: string }[] }).shownNotes);
  await expect.poll(async () => (await notes()).map((note) => note.body)).toEqual(["Reply complete."]);
  expect(JSON.stringify(await notes())).not.toContain("secret");
  await page.evaluate(() => (window as unknown as { pressNote: () => void }).pressNote());
  await expect(page).toHaveURL(chat);
});

/** The ten-second timers that run in a page, from its load on. */
interface TenSeconds {
  count: () => Promise<number>;
  /** Lets the time of all of them be over. */
  expire: () => Promise<void>;
}

async function observeTimers(page: Page): Promise<TenSeconds> {
  await page.addInitScript(() => {
    const running = new Map<number, () => void>();
    const [begin, end] = [window.setTimeout, window.clearTimeout];
    const set = (act: () => void, ms?: number): number => {
      const fire = (): void => {
        running.delete(id);
        act();
      };
      const id = begin(fire, ms);
      if (ms === 10_000) running.set(id, fire);
      return id;
    };
    const clear = (id?: number): void => {
      if (id !== undefined) running.delete(id);
      end(id);
    };
    const expire = (): void => {
      for (const [id, fire] of [...running]) {
        end(id);
        fire();
      }
    };
    Object.assign(window, { setTimeout: set, clearTimeout: clear, running, expire });
  });
  return {
    count: () => page.evaluate(() => (window as unknown as { running: Map<number, () => void> }).running.size),
    expire: () => page.evaluate(() => (window as unknown as { expire: () => void }).expire()),
  };
}

test("Undo is offered for ten seconds, and then the chat is in Trash", async ({ page, model }) => {
  const timers = await observeTimers(page);
  const chat = await createChat(page, model, "Kept for a while");
  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const undo = page.locator(".toasts").getByRole("button", { name: "Undo" });
  // Moving the pointer onto the toast and away must not fail, although the page of the deleted chat is gone.
  await undo.hover();
  await page.mouse.move(700, 10);
  await expect(page.getByRole("heading", { name: "What would you like to talk about?" })).toBeVisible();
  await expect.poll(timers.count).toBe(1);
  await expect(undo).toBeVisible();
  await timers.expire();
  await expect(undo).toHaveCount(0);
  await expect(row(page, chat)).toHaveCount(0);
  await page.goto("/trash");
  await expect(page.getByRole("button", { name: "Restore Kept for a while" })).toBeVisible();
});

test("a toast's timer pauses while it has the focus, whatever the pointer does", async ({ page, model }) => {
  const { count } = await observeTimers(page);
  await createChat(page, model, "Kept for a while");
  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const undo = page.locator(".toasts").getByRole("button", { name: "Undo" });
  await expect(page.getByRole("heading", { name: "What would you like to talk about?" })).toBeVisible();
  await expect.poll(count).toBe(1);
  await undo.focus();
  await undo.hover();
  await expect.poll(count).toBe(0);
  await page.mouse.move(700, 10);
  await expect.poll(() => undo.evaluate((button) => button.matches(":hover"))).toBe(false);
  expect(await count()).toBe(0);
  await undo.blur();
  await expect.poll(count).toBe(1);
});
