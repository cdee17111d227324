// Between the press of an arrow and its version: what is sent then, and what becomes of what was sent before. UX-06 of
// docs/acceptance.md.
import type { Page } from "@playwright/test";

import { expectStatus, idOf, latestReply, messageBox, replies, send, sendButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { begun, hold, version } from "../../support/verbs.ts";

const note = (page: Page) => page.locator(".attached-note").getByText("Your message goes out when its branch is shown.");

/** Writes a message and presses Enter. */
async function enter(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await page.keyboard.press("Enter");
}

/** Whether the page sends a message from now on. */
function sends(page: Page): () => boolean {
  let isSent = false;
  page.on("request", (request) => (isSent ||= request.url().includes("send_message")));
  return () => isSent;
}

test("a message that is sent before the version is shown follows that version", async ({ page, model }) => {
  await begun(page, model, "first", "second");
  const held = await hold(page, "load_chat");
  const sent = page.waitForRequest("**/api/page/send_message");
  await version(page, "Previous version").click();
  await held.asked;
  await enter(page, "and then?");
  await expect(note(page)).toBeVisible();
  await expect(page.locator("#say")).toContainText("Your message goes out when its branch is shown.");
  await expect(messageBox(page)).toHaveValue("and then?");
  await expect(textOf(latestReply(page))).toHaveText("second");
  held.release();
  (await model.next()).answer("Then this.");
  await expect(textOf(replies(page))).toHaveText(["first", "Then this."]);
  expect(JSON.parse((await sent).postData()!).message.prev_turn_id).toBe(await idOf(replies(page).first()));
  await expect(messageBox(page)).toHaveValue("");
  await expect(messageBox(page)).toBeFocused();
  await expect(note(page)).toHaveCount(0);
});

test("who writes while a version is on its way keeps the focus", async ({ page, model }) => {
  await begun(page, model, "first", "second");
  const held = await hold(page, "load_chat");
  await version(page, "Previous version").click();
  await held.asked;
  await messageBox(page).pressSequentially("E and ");
  held.release();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(page.locator("#say")).toContainText("Version 1 of 2");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
  await page.keyboard.type("R");
  await expect(messageBox(page)).toHaveValue("E and R");
});

for (const keys of ["Enter", "Control+Shift+Enter"]) {
  test(`a reply that is still written on the version before does not keep a message from the other one, nor is it stopped by ${keys}`, async ({ page, model }) => {
    await begun(page, model, "first");
    await version(page, "Try again").click();
    const reply = await model.next();
    reply.say("being written");
    await expect(textOf(latestReply(page))).toHaveText("being written");
    const held = await hold(page, "load_chat");
    await version(page, "Previous version").click();
    await held.asked;
    await messageBox(page).fill("on the first one");
    await page.keyboard.press(keys);
    await expect(note(page)).toBeVisible();
    held.release();
    (await model.next()).answer("Here.");
    await expect(textOf(replies(page))).toHaveText(["first", "Here."]);
    reply.answer(" to its end");
    await replies(page).first().getByRole("button", { name: "Next version" }).click();
    await expect(textOf(replies(page))).toHaveText(["being written to its end"]);
    await expectStatus(latestReply(page), "complete");
  });
}

test("a message whose version does not come, or is not waited for any more, stays in the box", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED.*load_chat/);
  await begun(page, model, "first", "second");
  const isSent = sends(page);
  let fail = () => {};
  const held = new Promise<void>((done) => (fail = done));
  await page.route("**/api/page/load_chat", async (route) => {
    await held;
    await route.abort();
  });
  await version(page, "Previous version").click();
  await enter(page, "and then?");
  await expect(note(page)).toBeVisible();
  fail();
  await expect(note(page)).toHaveCount(0);
  await expect(page.locator("#say")).toContainText("Not sent.");
  await expect(messageBox(page)).toHaveValue("and then?");
  await page.unroute("**/api/page/load_chat");

  const next = await hold(page, "load_chat");
  await version(page, "Previous version").click();
  await next.asked;
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

test("a message stays in the box where another version is asked for after it", async ({ page, model }) => {
  await begun(page, model, "first", "second", "third");
  const isSent = sends(page);
  const held = await hold(page, "load_chat");
  await version(page, "Previous version").click();
  await held.asked;
  await enter(page, "after the second");
  await expect(note(page)).toBeVisible();
  await version(page, "3/3").click();
  await latestReply(page).getByRole("link", { name: /first/ }).click();
  held.release();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(note(page)).toHaveCount(0);
  await expect(messageBox(page)).toHaveValue("after the second");
  expect(isSent()).toBe(false);
});

test("a message stays in the box where the version it was meant for is not there any more", async ({ page, model }) => {
  await begun(page, model, "first", "second");
  const isSent = sends(page);
  const second = await idOf(latestReply(page));
  await version(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  const held = await hold(page, "load_chat");
  expect((await page.request.delete(`/api/turns/${second}`)).ok()).toBe(true);
  await version(page, "Next version").click();
  await held.asked;
  await enter(page, "and then?");
  await expect(note(page)).toBeVisible();
  held.release();
  await expect(note(page)).toHaveCount(0);
  await expect(page.getByText("The message at this address was deleted.")).toBeVisible();
  await expect(messageBox(page)).toHaveValue("and then?");
  expect(isSent()).toBe(false);
});

test("a message that failed on one version is another message on the other", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED.*send_message/);
  await begun(page, model, "first", "second");
  await page.route("**/api/page/send_message", (route) => route.abort());
  await enter(page, "and then?");
  await expect(messageBox(page)).toHaveValue("and then?");
  await expect(page.locator("#message-problem")).not.toBeEmpty();
  await page.unroute("**/api/page/send_message");
  await version(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await messageBox(page).focus();
  await page.keyboard.press("Enter");
  (await model.next()).answer("Then this.");
  await expect(textOf(replies(page))).toHaveText(["first", "Then this."]);
});

for (const end of ["runs", "is over"] as const) {
  test(`who goes to another version while a message is on its way stays there, and is told of its reply, which ${end}`, async ({ page, model }) => {
    await begun(page, model, "first", "second");
    const held = await hold(page, "send_message");
    await enter(page, "and then?");
    await held.asked;
    const reply = await model.next();
    if (end === "runs") reply.say("Being written");
    else reply.answer("Written.");
    const sending = page.locator("#sending");
    await expect(sending).toContainText("and then?");
    await version(page, "Previous version").click();
    await expect(textOf(latestReply(page))).toHaveText("first");
    await expect(sending).toHaveCount(0);
    held.release();
    const bar = end === "runs" ? page.getByRole("group", { name: "Also being answered" }) : page.locator(".beside-bar");
    await expect(bar).toBeVisible();
    await expect(textOf(replies(page))).toHaveText(["first"]);
    await expect(sendButton(page)).toBeVisible();
    // The next message is of what is on screen.
    await send(page, "on this one");
    (await model.next()).answer("Here.");
    await expect(textOf(replies(page))).toHaveText(["first", "Here."]);
    if (end === "is over") return;
    await bar.getByRole("link", { name: /and then/ }).click();
    await expect(textOf(replies(page))).toHaveText(["second", "Being written"]);
    reply.end();
    await expectStatus(latestReply(page), "complete");
  });
}

test("who goes to another version stays there when another try of the one before begins", async ({ page, model }) => {
  await begun(page, model, "first", "second");
  const held = await hold(page, "retry_reply");
  await version(page, "Try again").click();
  await held.asked;
  const reply = await model.next();
  await version(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  held.release();
  reply.say("third");
  await expect(page.getByRole("group", { name: "Also being answered" })).toBeVisible();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(latestReply(page).getByRole("button", { name: "1/3" })).toBeVisible();
  reply.end();
});
