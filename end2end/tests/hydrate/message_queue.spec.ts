// Messages queued while a reply runs: written with Enter, edited, moved and cancelled, sent in order, and seen in every
// tab. UX-45 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { expectStatus, latestReply, messageBox, openPage, replies, startChat, stopButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { holdResponses } from "../../support/turn_actions.ts";

const queue = (page: Page): Locator => page.getByRole("region", { name: "Queued messages" });
const rows = (page: Page): Locator => queue(page).getByRole("listitem");

async function queueMessage(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await messageBox(page).press("Enter");
  await expect(messageBox(page)).toHaveValue("");
  await expect(rows(page).filter({ hasText: text })).toHaveCount(1);
}

test("Enter while a reply runs queues messages, which are sent in their order when it is complete", async ({ page, model }) => {
  await startChat(page, "one");
  const first = await model.nextReply();
  first.sendText("half");
  await expect(textOf(latestReply(page))).toHaveText("half");
  for (const text of ["two", "three", "four"]) await queueMessage(page, text);
  await expect(page.locator("#message-problem")).toBeEmpty();
  await rows(page).nth(2).getByRole("button", { name: "Move up" }).click();
  await expect(rows(page).nth(1)).toContainText("four");
  await rows(page).nth(2).getByText("Queued").click();
  await rows(page).nth(2).getByRole("textbox").fill("three, edited");
  await rows(page).nth(2).getByRole("button", { name: "Save" }).click();
  await expect(rows(page).nth(2)).toContainText("three, edited");
  await rows(page).nth(0).getByRole("button", { name: "Cancel" }).click();
  await expect(rows(page)).toHaveCount(2);

  first.finish();
  for (const [n, text] of ["four", "three, edited"].entries()) {
    const reply = await model.nextReply();
    expect(JSON.stringify(reply.request.messages.at(-1))).toContain(text);
    // Its end sends the next message.
    await expect(replies(page)).toHaveCount(n + 2);
    reply.finishWithText(`answer ${n}`);
    await expect(textOf(replies(page).nth(n + 1))).toHaveText(`answer ${n}`);
  }
  await expect(queue(page)).toHaveCount(0);
});

test("a queue is seen and changed in other tabs, and survives a reload", async ({ page, context, model }) => {
  await startChat(page, "one");
  const first = await model.nextReply();
  first.sendText("half");
  await expect(textOf(latestReply(page))).toHaveText("half");
  await queueMessage(page, "two");
  const other = await context.newPage();
  await openPage(other, page.url());
  await expect(rows(other)).toHaveCount(1);
  await queueMessage(other, "three");
  await expect(rows(page)).toHaveCount(2);
  await rows(other).nth(0).getByRole("button", { name: "Cancel" }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText("three");
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  first.finish();
  (await model.nextReply()).finishWithText("done");
  await expect(textOf(latestReply(page))).toHaveText("done");
  await expect(textOf(latestReply(other))).toHaveText("done");
});

test("after a stop the queue waits until its message is sent with a button", async ({ page, model }) => {
  await startChat(page, "one");
  (await model.nextReply()).sendText("half");
  await expect(textOf(latestReply(page))).toHaveText("half");
  await queueMessage(page, "two");
  await expect(queue(page).getByRole("button", { name: "Send now" })).toHaveCount(0);
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(queue(page).getByText("The queue waits.")).toBeVisible();
  await queue(page).getByRole("button", { name: "Send now" }).click();
  (await model.nextReply()).finishWithText("done");
  await expect(textOf(latestReply(page))).toHaveText("done");
  await expect(queue(page)).toHaveCount(0);
});

test("the button queues what is written, and is not there without text", async ({ page, model }) => {
  await startChat(page, "one");
  const first = await model.nextReply();
  first.sendText("half");
  await expect(textOf(latestReply(page))).toHaveText("half");
  const button = page.getByRole("button", { name: "Queue message" });
  await expect(button).toHaveCount(0);
  await messageBox(page).fill("two");
  await button.click();
  await expect(rows(page)).toHaveCount(1);
  await expect(messageBox(page)).toBeFocused();
  await expect(stopButton(page)).toBeVisible();
  first.finish();
  (await model.nextReply()).finishWithText("done");
  await expect(textOf(latestReply(page))).toHaveText("done");
});

test("a message whose queueing was not acknowledged is not sent twice", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await startChat(page, "one");
  const first = await model.nextReply();
  first.sendText("half");
  await expect(textOf(latestReply(page))).toHaveText("half");
  // The page does not learn of its queue from a poll.
  const polls = await holdResponses(page, "glance_at_chat");
  // The server queues the message; its response is lost.
  await page.route("**/api/page/queue_message", async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  const lost = page.waitForEvent("requestfailed", (request) => request.url().includes("queue_message"));
  await messageBox(page).fill("two");
  await messageBox(page).press("Enter");
  await lost;
  await expect(page.locator("#message-problem")).not.toBeEmpty();
  await expect(messageBox(page)).toHaveValue("two");
  first.finish();
  await expectStatus(latestReply(page), "complete");
  const again = page.waitForResponse("**/api/page/queue_message");
  await messageBox(page).press("Enter");
  expect((await again).status()).toBe(200);
  polls.release();
  (await model.nextReply()).finishWithText("done");
  await expect(textOf(latestReply(page))).toHaveText("done");
  await expect(page.locator("article[data-role=user]")).toHaveCount(2);
  await expect(messageBox(page)).toHaveValue("");
  expect(model.requestCount).toBe(2);
});
