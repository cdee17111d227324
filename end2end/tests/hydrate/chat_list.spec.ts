// The chat list: its headings, its order, and the chats that it omits.
import { startChat, expectStatus, waitForHydration, latestReply, messageBox, openPage, sendMessage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";

import type { Locator, Page } from "@playwright/test";

const list = (page: Page): Locator => page.locator("#chats");
const part = (page: Page, name: string): Locator => list(page).getByRole("list", { name, exact: true });
const row = (page: Page, chat: string): Locator => list(page).locator(`.chat-link[href="${chat}"]`);

/** Creates a chat of one exchange and returns its address. */
async function createChat(page: Page, model: ModelServer, text: string): Promise<string> {
  await startChat(page, text);
  (await model.nextReply()).finishWithText("Fine.");
  await page.waitForURL("**/c/*");
  await expectStatus(latestReply(page), "complete");
  return new URL(page.url()).pathname;
}

async function chooseFromMenu(page: Page, chat: string, deed: string): Promise<void> {
  const item = list(page).locator(".chat-item").filter({ has: page.locator(`.chat-link[href="${chat}"]`) });
  await item.hover();
  await item.getByRole("button").click();
  await page.locator("#chat-menu").getByRole("button", { name: deed, exact: true }).click();
}

test("the menu of a chat lies over its title only while that is pointed at or focused", async ({ page, model }) => {
  const chat = await createChat(page, model, "A title that is longer than the list of chats is wide");
  await page.mouse.move(900, 500);
  const item = list(page).locator(".chat-item").filter({ has: page.locator(`.chat-link[href="${chat}"]`) });
  const [whole, link] = [await item.boundingBox(), await row(page, chat).boundingBox()];
  expect(link!.width).toBe(whole!.width);
  const more = item.getByRole("button");
  await expect(more).toHaveCSS("opacity", "0");
  await item.hover();
  await expect(more).toHaveCSS("opacity", "1");
  expect((await row(page, chat).boundingBox())!.width).toBe(link!.width);
  await page.mouse.move(900, 500);
  await row(page, chat).focus();
  await expect(more).toHaveCSS("opacity", "1");
});

test("a pinned chat stands first, over a reload, until it is no longer pinned", async ({ page, model }) => {
  const first = await createChat(page, model, "First chat");
  const second = await createChat(page, model, "Second chat");
  await expect(list(page).getByRole("heading", { name: "Today" })).toBeVisible();
  await expect(part(page, "Today").getByRole("listitem")).toHaveCount(2);
  await chooseFromMenu(page, first, "Pin");
  await expect(part(page, "Pinned").getByRole("listitem")).toHaveCount(1);
  await expect(part(page, "Pinned").locator(`[href="${first}"]`)).toBeVisible();
  await expect(part(page, "Today").getByRole("listitem")).toHaveCount(1);
  await page.reload();
  await waitForHydration(page);
  await expect(list(page).locator(".chat-link").first()).toHaveAttribute("href", first);
  await chooseFromMenu(page, first, "Unpin");
  await expect(part(page, "Pinned")).toHaveCount(0);
  await expect(list(page).locator(".chat-link").first()).toHaveAttribute("href", second);
});

test("a chat of the archive is found, and comes back with Undo or with a message", async ({ page, model }) => {
  const first = await createChat(page, model, "First chat");
  const second = await createChat(page, model, "Second chat");
  await chooseFromMenu(page, first, "Archive");
  await expect(row(page, first)).toHaveCount(0);
  await page.locator(".toasts").getByRole("button", { name: "Undo" }).click();
  await expect(row(page, first)).toBeVisible();
  await chooseFromMenu(page, first, "Archive");
  await expect(row(page, first)).toHaveCount(0);
  await page.reload();
  await waitForHydration(page);
  await expect(row(page, second)).toBeVisible();
  await expect(row(page, first)).toHaveCount(0);
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search and commands" });
  await palette.getByRole("combobox").fill("First");
  const hit = palette.getByRole("group", { name: "Chats" }).getByRole("option");
  await expect(hit).toContainText("archived");
  await hit.click();
  await expect(page).toHaveURL(first);
  // Until the chat is loaded, the message box on screen belongs to the other chat.
  await expect(page.getByRole("heading", { level: 1 })).toContainText("First chat");
  await sendMessage(page, "Are you still there?");
  (await model.nextReply()).finishWithText("Yes.");
  await expect(row(page, first)).toBeVisible();
});

test.describe("far from Greenwich", () => {
  test.use({ timezoneId: "Pacific/Kiritimati" });

  test("days are in the reader's time zone, without hydration warnings", async ({ page, turnleaf }) => {
    // In that time zone, yesterday at 09:00 UTC is yesterday at 23:00, and the day before at 11:00 UTC is yesterday
    // at 01:00.
    const day = (days: number, hour: number) => {
      const moment = new Date();
      moment.setUTCHours(hour, 0, 0, 0);
      return moment.getTime() / 1000 - days * 86_400;
    };
    const today = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10);
    const chat = (title: string, at: number) => ({
      id: title, title, create_time: at, update_time: at, current_node: "b",
      mapping: {
        a: { id: "a", parent: null, children: ["b"], message: { id: "a", author: { role: "user" }, create_time: at, content: { content_type: "text", parts: ["Hello"] } } },
        b: { id: "b", parent: "a", children: [], message: { id: "b", author: { role: "assistant" }, create_time: at, content: { content_type: "text", parts: ["Hi"] } } },
      },
    });
    const moments = [day(1, 9), day(1, 11), day(2, 11)].filter((at) => at * 1000 < Date.now());
    const file = JSON.stringify(moments.map((at, n) => chat(`Chat ${n}`, at)));
    const answer = await fetch(`${turnleaf.url}/api/imports?from=chatgpt&name=conversations.json`, { method: "POST", body: file });
    const { id } = (await answer.json()) as { id: string };
    const job = async () => (await (await fetch(`${turnleaf.url}/api/imports/${id}`)).json()) as { is_over: boolean };
    await expect.poll(async () => (await job()).is_over).toBe(true);
    const headingOf = (at: number) => {
      const days = (Date.parse(today) - Date.parse(new Date(at * 1000 + 14 * 3_600_000).toISOString().slice(0, 10))) / 86_400_000;
      return days <= 0 ? "Today" : days === 1 ? "Yesterday" : "Previous 7 days";
    };
    await openPage(page);
    for (const [n, at] of moments.entries()) {
      await expect(part(page, headingOf(at)).locator(".chat-name", { hasText: `Chat ${n}` })).toBeVisible();
    }
    // From now on the server knows the time zone and renders it at once.
    const html = await (await page.request.get("/")).text();
    const before = html.slice(0, html.indexOf("Chat 0"));
    expect(before.slice(before.lastIndexOf("chats-of"))).toContain(headingOf(moments[0]));
    // A browser without the cookie sends the time zone again, and the list updates.
    await page.context().clearCookies({ name: "turnleaf_zone" });
    const again = page.waitForResponse("**/api/page/list_chats*");
    await page.reload();
    await waitForHydration(page);
    await again;
    for (const [n, at] of moments.entries()) {
      await expect(part(page, headingOf(at)).locator(".chat-name", { hasText: `Chat ${n}` })).toBeVisible();
    }
    expect((await page.context().cookies()).find(({ name }) => name === "turnleaf_zone")?.value).toBe("840");
  });
});

test("Today is yesterday when a tab is left open over midnight", async ({ page, model }) => {
  await page.clock.install();
  await createChat(page, model, "First chat");
  await expect(part(page, "Today").getByRole("listitem")).toHaveCount(1);
  // The list is refreshed once more after the reply has ended.
  await page.clock.runFor(30_000);
  // The server's clock cannot be moved, so its response gets the heading of the next day.
  let requestCount = 0;
  await page.route("**/api/page/list_chats*", async (route) => {
    requestCount += 1;
    const response = await route.fetch();
    const answer = (await response.text()).replace(/"heading":1\b/g, '"heading":2');
    await route.fulfill({ response, body: answer });
  });
  await page.clock.runFor(10_000);
  expect(requestCount).toBe(0);
  await page.clock.fastForward("24:00:00");
  await page.clock.runFor(5_000);
  await expect(part(page, "Yesterday").getByRole("listitem")).toHaveCount(1);
  await expect(part(page, "Today")).toHaveCount(0);
  const once = requestCount;
  await page.clock.runFor(10_000);
  expect(requestCount).toBe(once);
});

test("pages without the list lead back to the chat, and from a new chat to a new chat", async ({ page, model }) => {
  const chat = await createChat(page, model, "First chat");
  await list(page).getByRole("link", { name: "Usage", exact: true }).click();
  await expect(page).toHaveURL("/usage");
  await waitForHydration(page);
  await page.getByRole("link", { name: "Documents", exact: true }).click();
  await expect(page).toHaveURL("/documents");
  await waitForHydration(page);
  await page.getByRole("link", { name: "Chats", exact: true }).click();
  await expect(page).toHaveURL(chat);
  await waitForHydration(page);
  await openPage(page, "/");
  await list(page).getByRole("link", { name: "Documents", exact: true }).click();
  await waitForHydration(page);
  await page.getByRole("link", { name: "Chats", exact: true }).click();
  await expect(page).toHaveURL("/");
  await expect(messageBox(page)).toBeVisible();
});

test("the palette renames, exports and searches the chat, and leads to imports", async ({ page, model }) => {
  await createChat(page, model, "First chat");
  const palette = page.getByRole("dialog", { name: "Search and commands" });
  const command = async (words: string) => {
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill(words);
    await page.keyboard.press("Enter");
  };
  await command("rename");
  await expect(page.getByRole("textbox", { name: "Title" })).toHaveValue("First chat");
  await page.keyboard.press("Escape");
  await command("find in");
  await expect(page.getByRole("searchbox", { name: "Text to find" }).or(page.getByRole("textbox", { name: "Text to find" }))).toBeFocused();
  await page.keyboard.press("Escape");
  await command("import");
  await expect(page).toHaveURL("/settings/data");
});
