// The live channel: a page is told what changes elsewhere and asks for nothing meanwhile; where the channel cannot be kept,
// the page polls.
import type { Page } from "@playwright/test";

import { expectStatus, latestReply, messageBox, openPage, startChat } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { bufferChannel, firstStatus } from "../../support/live_channel.ts";
import { MODEL, type ModelServer } from "../../support/model_server.ts";

/** The time within which a change is seen that is told. A poll would take up to 1.5 s. */
const TOLD_MS = 1_000;

/** Records the calls of the page from now on. */
function recordCalls(page: Page): string[] {
  const calls: string[] = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    if (path.startsWith("/api/page/")) calls.push(path);
  });
  return calls;
}

async function chatWithReply(page: Page, model: ModelServer): Promise<string> {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  return new URL(page.url()).pathname;
}

test("an idle page asks for nothing for a minute, but once for what changes in it", async ({ page, context, model }) => {
  const chat = await chatWithReply(page, model);
  await context.clock.install();
  const idle = await context.newPage();
  const answered = (...calls: string[]) => Promise.all(calls.map((call) => idle.waitForResponse(`**/api/page/${call}*`)));
  // A page asks once when its channel begins.
  const first = answered("glance_at_all", "glance_at_chat");
  await openPage(idle, chat);
  await first;
  const calls = recordCalls(idle);
  // Half a minute each: heartbeats come in real time, and the channel counts as lost without one for longer.
  await idle.clock.runFor(30_000);
  expect(calls).toEqual([]);
  const told = answered("glance_at_all", "glance_at_chat", "list_chats");
  const id = chat.split("/").at(-1);
  expect((await page.request.patch(`/api/chats/${id}`, { data: { title: "Weather" } })).status()).toBe(200);
  await expect(idle.getByRole("heading", { name: "Weather" })).toBeVisible();
  await told;
  calls.length = 0;
  await idle.clock.runFor(30_000);
  expect(calls).toEqual([]);
});

test("a change in one tab is told to the other at once, and asked for only then", async ({ page, context, model }) => {
  const chat = await chatWithReply(page, model);
  const other = await context.newPage();
  const live = other.waitForRequest("**/api/events*");
  const first = other.waitForResponse("**/api/page/glance_at_chat*");
  await openPage(other, chat);
  await live;
  await first;
  const calls = recordCalls(other);
  const id = chat.split("/").at(-1);
  expect((await page.request.patch(`/api/chats/${id}`, { data: { title: "Weather" } })).status()).toBe(200);
  await expect(other.getByRole("heading", { name: "Weather" })).toBeVisible({ timeout: TOLD_MS });
  await expect(other.locator(`#chats .chat-link[href="${chat}"]`)).toContainText("Weather", { timeout: TOLD_MS });
  expect(calls).toContain("/api/page/glance_at_chat");
  calls.length = 0;
  await messageBox(page).fill("from the first tab");
  // The draft is saved half a second after the last key.
  await expect(messageBox(other)).toHaveValue("from the first tab", { timeout: 500 + TOLD_MS });
});

test("a chat that begins elsewhere is listed at once, with its reply that runs and ends", async ({ page, model }) => {
  const status = firstStatus(page);
  await openPage(page);
  await status;
  const made = await page.request.post("/api/chats", { data: { provider: "openai", model: MODEL, title: "From a phone" } });
  expect(made.status()).toBe(201);
  const { id } = (await made.json()) as { id: string };
  const row = page.locator(`#chats .chat-link[href="/c/${id}"]`);
  await expect(row).toBeVisible({ timeout: TOLD_MS });
  expect((await page.request.post(`/api/chats/${id}/turns`, { data: { text: "Hello" } })).status()).toBe(201);
  await expect(row.getByText("replying")).toBeAttached({ timeout: TOLD_MS });
  (await model.nextReply()).finishWithText("Heard.");
  await expect(row.getByText("replying")).toHaveCount(0);
});

test("a page behind a proxy that holds the channel back polls, and says so", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|ERR_ABORTED/);
  const chat = await chatWithReply(page, model);
  await bufferChannel(page);
  await openPage(page, chat);
  // The page notices by itself, and asks in an interval.
  for (let count = 0; count < 2; count += 1) await page.waitForRequest("**/api/page/glance_at_chat*", { timeout: 20_000 });
  const id = chat.split("/").at(-1);
  expect((await page.request.patch(`/api/chats/${id}`, { data: { title: "Weather" } })).status()).toBe(200);
  await expect(page.getByRole("heading", { name: "Weather" })).toBeVisible();
  const details = page.locator(".banner details");
  await expect(details).toHaveCount(0);
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await details.locator("summary").click();
  await expect(details).toContainText("holds updates back");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await expect(details).toHaveCount(0);
});
