// Pending navigation: sending between the press of an arrow and the display of its version, and messages that were
// sent before it.
// UX-06 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { expectStatus, idOf, latestReply, messageBox, replies, sendMessage, sendButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { holdConversation, startChatWithVersions, holdResponses, versionButton, visibleTexts } from "../../support/turn_actions.ts";

const note = (page: Page) => page.locator(".attached-note").getByText("Your message will be sent once this branch loads.");

/** Types a message and presses Enter. */
async function typeAndSend(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await page.keyboard.press("Enter");
}

/** Returns a function that tells whether the page has sent a message since. */
function watchSends(page: Page): () => boolean {
  let isSent = false;
  page.on("request", (request) => (isSent ||= request.url().includes("send_message")));
  return () => isSent;
}

test("a message that is sent before the version is shown follows that version", async ({ page, model }) => {
  await startChatWithVersions(page, model, "first", "second");
  const held = await holdResponses(page, "load_chat");
  const sent = page.waitForRequest("**/api/page/send_message");
  await versionButton(page, "Previous version").click();
  await held.requested;
  await typeAndSend(page, "and then?");
  await expect(note(page)).toBeVisible();
  await expect(page.locator("#say")).toContainText("Your message will be sent once this branch loads.");
  await expect(messageBox(page)).toHaveValue("and then?");
  await expect(textOf(latestReply(page))).toHaveText("second");
  held.release();
  (await model.nextReply()).finishWithText("Then this.");
  await expect(textOf(replies(page))).toHaveText(["first", "Then this."]);
  expect(JSON.parse((await sent).postData()!).message.prev_turn_id).toBe(await idOf(replies(page).first()));
  await expect(messageBox(page)).toHaveValue("");
  await expect(messageBox(page)).toBeFocused();
  await expect(note(page)).toHaveCount(0);
});

test("typing while a version loads keeps the focus", async ({ page, model }) => {
  await startChatWithVersions(page, model, "first", "second");
  const held = await holdResponses(page, "load_chat");
  await versionButton(page, "Previous version").click();
  await held.requested;
  await messageBox(page).pressSequentially("E and ");
  held.release();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(page.locator("#say")).toContainText("Version 1 of 2");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
  await page.keyboard.type("R");
  await expect(messageBox(page)).toHaveValue("E and R");
});

for (const keys of ["Enter", "Control+Shift+Enter"]) {
  test(`a reply still running on the previous version blocks no message on the other one, nor is it stopped by ${keys}`, async ({ page, model }) => {
    await startChatWithVersions(page, model, "first");
    await versionButton(page, "Retry").click();
    const reply = await model.nextReply();
    reply.sendText("being written");
    await expect(textOf(latestReply(page))).toHaveText("being written");
    const held = await holdResponses(page, "load_chat");
    await versionButton(page, "Previous version").click();
    await held.requested;
    await messageBox(page).fill("on the first one");
    await page.keyboard.press(keys);
    await expect(note(page)).toBeVisible();
    held.release();
    (await model.nextReply()).finishWithText("Here.");
    await expect(textOf(replies(page))).toHaveText(["first", "Here."]);
    reply.finishWithText(" to its end");
    await replies(page).first().getByRole("button", { name: "Next version" }).click();
    await expect(textOf(replies(page))).toHaveText(["being written to its end"]);
    await expectStatus(latestReply(page), "complete");
  });
}

test("a message whose version fails to load, or is no longer awaited, stays in the box", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED.*load_chat/);
  await startChatWithVersions(page, model, "first", "second");
  const isSent = watchSends(page);
  let fail = () => {};
  const held = new Promise<void>((done) => (fail = done));
  await page.route("**/api/page/load_chat", async (route) => {
    await held;
    await route.abort();
  });
  await versionButton(page, "Previous version").click();
  await typeAndSend(page, "and then?");
  await expect(note(page)).toBeVisible();
  fail();
  await expect(note(page)).toHaveCount(0);
  await expect(page.locator("#say")).toContainText("Not sent.");
  await expect(messageBox(page)).toHaveValue("and then?");
  await page.unroute("**/api/page/load_chat");

  const next = await holdResponses(page, "load_chat");
  await versionButton(page, "Previous version").click();
  await next.requested;
  await messageBox(page).focus();
  await page.keyboard.press("Enter");
  await expect(note(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(note(page)).toHaveCount(0);
  next.release();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(messageBox(page)).toHaveValue("and then?");
  expect(isSent()).toBe(false);
});

test("a message stays in the box when another version is requested after it", async ({ page, model }) => {
  await startChatWithVersions(page, model, "first", "second", "third");
  const isSent = watchSends(page);
  const held = await holdResponses(page, "load_chat");
  await versionButton(page, "Previous version").click();
  await held.requested;
  await typeAndSend(page, "after the second");
  await expect(note(page)).toBeVisible();
  await versionButton(page, "3/3").click();
  await latestReply(page).getByRole("link", { name: /first/ }).click();
  held.release();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(note(page)).toHaveCount(0);
  await expect(messageBox(page)).toHaveValue("after the second");
  expect(isSent()).toBe(false);
});

test("a message stays in the box when its version no longer exists", async ({ page, model }) => {
  await startChatWithVersions(page, model, "first", "second");
  const isSent = watchSends(page);
  const second = await idOf(latestReply(page));
  await versionButton(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  const held = await holdResponses(page, "load_chat");
  expect((await page.request.delete(`/api/turns/${second}`)).ok()).toBe(true);
  await versionButton(page, "Next version").click();
  await held.requested;
  await typeAndSend(page, "and then?");
  await expect(note(page)).toBeVisible();
  held.release();
  await expect(note(page)).toHaveCount(0);
  await expect(page.getByText("This message was deleted.")).toBeVisible();
  await expect(messageBox(page)).toHaveValue("and then?");
  expect(isSent()).toBe(false);
});

test("a message that failed on one version is another message on the other", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED.*send_message/);
  await startChatWithVersions(page, model, "first", "second");
  await page.route("**/api/page/send_message", (route) => route.abort());
  await typeAndSend(page, "and then?");
  await expect(messageBox(page)).toHaveValue("and then?");
  await expect(page.locator("#message-problem")).not.toBeEmpty();
  await page.unroute("**/api/page/send_message");
  await versionButton(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await messageBox(page).focus();
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("Then this.");
  await expect(textOf(replies(page))).toHaveText(["first", "Then this."]);
});

for (const end of ["runs", "is over"] as const) {
  test(`switching versions while a message is pending stays there, and announces its reply, which ${end}`, async ({ page, model }) => {
    await startChatWithVersions(page, model, "first", "second");
    const held = await holdResponses(page, "send_message");
    await typeAndSend(page, "and then?");
    await held.requested;
    const reply = await model.nextReply();
    if (end === "runs") reply.sendText("Being written");
    else reply.finishWithText("Written.");
    const sending = page.locator("#sending");
    await expect(sending).toContainText("and then?");
    await versionButton(page, "Previous version").click();
    await expect(textOf(latestReply(page))).toHaveText("first");
    await expect(sending).toHaveCount(0);
    held.release();
    const bar = end === "runs" ? page.getByRole("group", { name: "Other replies in progress" }) : page.locator(".beside-bar:not([role])");
    await expect(bar).toBeVisible();
    await expect(textOf(replies(page))).toHaveText(["first"]);
    await expect(sendButton(page)).toBeVisible();
    // The next message follows the shown version.
    await sendMessage(page, "on this one");
    (await model.nextReply()).finishWithText("Here.");
    await expect(textOf(replies(page))).toHaveText(["first", "Here."]);
    if (end === "is over") return;
    await bar.getByRole("link", { name: /and then/ }).click();
    await expect(textOf(replies(page))).toHaveText(["second", "Being written"]);
    reply.finish();
    await expectStatus(latestReply(page), "complete");
  });
}

test("switching versions stays there when a retry of the previous one starts", async ({ page, model }) => {
  await startChatWithVersions(page, model, "first", "second");
  const held = await holdResponses(page, "retry_reply");
  await versionButton(page, "Retry").click();
  await held.requested;
  const reply = await model.nextReply();
  await versionButton(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  held.release();
  reply.sendText("third");
  await expect(page.getByRole("group", { name: "Other replies in progress" })).toBeVisible();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(latestReply(page).getByRole("button", { name: "1/3" })).toBeVisible();
  reply.finish();
});

/** Waits until the page has applied a poll that began after this call: it polls again only then. */
async function waitForPoll(page: Page): Promise<void> {
  for (let n = 0; n < 3; n += 1) await (await page.waitForResponse(/glance_at_chat/)).finished();
}

test("a message whose response is late is shown when that comes, and by no poll before it", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  const held = await holdResponses(page, "send_message");
  await typeAndSend(page, "q2");
  await held.requested;
  (await model.nextReply()).finishWithText("a2");
  await waitForPoll(page);
  expect(await visibleTexts(page)).toEqual(["q1", "a1"]);
  await expect(page.locator("#sending")).toContainText("q2");
  held.release();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await expect(page.locator("#sending")).toHaveCount(0);
  await expectStatus(latestReply(page), "complete");
});

test("a retry whose response is late is no other reply in progress", async ({ page, model }) => {
  await startChatWithVersions(page, model, "first");
  const held = await holdResponses(page, "retry_reply");
  await versionButton(page, "Retry").click();
  await held.requested;
  const reply = await model.nextReply();
  reply.sendText("second");
  await waitForPoll(page);
  await expect(page.getByRole("group", { name: "Other replies in progress" })).toHaveCount(0);
  await expect(textOf(latestReply(page))).toHaveText("first");
  held.release();
  await expect(textOf(latestReply(page))).toHaveText("second");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
});
