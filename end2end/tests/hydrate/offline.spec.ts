// Offline: the content of the page stays when the network fails.
// UX-31 of docs/acceptance.md.
import { startChat, chooseModel, expectStatus, waitForHydration, latestReply, messageBox, openPage, sendMessage, sendButton, TEST_MODEL, textOf } from "../../support/chat.ts";
import { attachFiles, attachmentChips, textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";
import { askForStatus, refuseChannel } from "../../support/live_channel.ts";

test("being offline is announced, and typed text is kept and saved when the network is back", async ({ page, model, turnleaf, watch, context }) => {
  watch.expectLostConnection();
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  const chat = new URL(page.url()).pathname.split("/").at(-1);
  const banner = page.getByText("You're offline. Your draft is kept.");
  await context.setOffline(true);
  await expect(banner).toBeVisible({ timeout: 2_000 });
  await messageBox(page).fill("Written offline");
  await messageBox(page).press("Enter");
  await expect(messageBox(page)).toHaveValue("Written offline");
  // One line says it all.
  await expect(page.locator("#message-problem")).toBeEmpty();
  await expect(page.locator("#message-note")).toBeEmpty();
  await expect(page.locator(".banner")).toHaveCount(1);
  // Icons of elements that are rendered only now are there, too.
  await latestReply(page).getByRole("button", { name: "More" }).click();
  const picture = latestReply(page).locator(".menu:popover-open .menu-row use").first();
  await expect(picture).toBeVisible();
  expect(await picture.evaluate((use: SVGUseElement) => use.getBBox().width)).toBeGreaterThan(0);
  await page.keyboard.press("Escape");
  expect((await turnleaf.get(`/api/chats/${chat}`)).draft?.text ?? "").toBe("");

  await context.setOffline(false);
  await expect(banner).toBeHidden();
  await expect(page.locator("#message-note")).toBeEmpty();
  await expect(messageBox(page)).toHaveValue("Written offline");
  await expect(page.getByRole("navigation", { name: "Chats" }).getByText("Draft")).toBeVisible();
  await page.reload();
  await waitForHydration(page);
  await expect(messageBox(page)).toHaveValue("Written offline");
  await sendButton(page).click();
  (await model.nextReply()).finishWithText("Heard.");
  await expectStatus(latestReply(page), "complete");
});

test("another device's draft is offered, and not overwritten", async ({ page, browser, turnleaf, model, watch, context }) => {
  watch.expectLostConnection();
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  await context.setOffline(true);
  await messageBox(page).fill("Written offline");
  await expect(page.getByText("You're offline. Your draft is kept.")).toBeVisible();
  const other = await (await browser.newContext({ baseURL: turnleaf.url })).newPage();
  await openPage(other, new URL(page.url()).pathname);
  const saved = other.waitForResponse((answer) => answer.url().includes("save_draft"));
  await messageBox(other).fill("A long draft from the phone");
  await saved;
  await context.setOffline(false);
  await expect(page.getByRole("button", { name: "Use newer draft" })).toBeVisible();
  await expect(messageBox(page)).toHaveValue("Written offline");
  await other.reload();
  await waitForHydration(other);
  await expect(messageBox(other)).toHaveValue("A long draft from the phone");
  await page.getByRole("button", { name: "Use newer draft" }).click();
  await expect(messageBox(page)).toHaveValue("A long draft from the phone");
  await other.context().close();
});

test("a draft the server did not save is saved again without typing", async ({ page, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await openPage(page);
  await page.route("**/save_draft*", (route) => route.abort());
  await messageBox(page).fill("Once");
  const note = page.getByText("Draft saved in this browser, but not on the server yet.");
  await expect(note).toBeVisible();
  await page.unroute("**/save_draft*");
  await expect(note).toBeHidden();
});

test("a draft typed and deleted while offline leaves nothing behind", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  await page.route("**/save_draft*", (route) => route.abort());
  await messageBox(page).fill("x");
  const note = page.getByText("Draft saved in this browser, but not on the server yet.");
  await expect(note).toBeVisible();
  await messageBox(page).fill("");
  await expect(note).toBeHidden();
});

test("the chat list stays when its refresh fails, and is retried", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await startChat(page, "First chat");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  const chats = page.getByRole("navigation", { name: "Chats" });
  await expect(chats.getByRole("link", { name: "First chat" })).toBeVisible();
  let refused = 0;
  await page.route("**/list_chats*", async (route) => {
    refused += 1;
    await route.abort();
  });
  await messageBox(page).fill("A draft brings the list up to date");
  await expect.poll(() => refused).toBeGreaterThan(0);
  await expect(chats.getByRole("link", { name: "First chat" })).toBeVisible();
  await expect(page.getByText("Could not load your chats.")).toHaveCount(0);
  await page.unroute("**/list_chats*");
  await expect(chats.getByText("Draft")).toBeVisible();
  await sendMessage(page, "On");
  (await model.nextReply()).finishWithText("Well.");
  await expectStatus(latestReply(page), "complete");
});

test("a lost server is noticed while no reply runs, is retried, and its return is announced", async ({ page, turnleaf, watch }) => {
  watch.expectLostConnection();
  await openPage(page);
  const banner = page.getByText("You're offline. Your draft is kept.");
  await turnleaf.kill();
  await expect(banner).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText(/Retrying in \d+ s\./)).toBeVisible();
  await expect(page.locator("#say")).toHaveText("Connection lost. Reconnecting…");
  await messageBox(page).fill("kept");
  await turnleaf.restart();
  const tryNow = page.getByRole("button", { name: "Retry now" });
  // The page may have retried by itself in the meantime.
  if (await tryNow.isVisible()) await tryNow.click({ timeout: 2_000 }).catch(() => undefined);
  await expect(banner).toBeHidden({ timeout: 45_000 });
  await expect(messageBox(page)).toHaveValue("kept");
});

test("three missing responses mean offline, and the first response ends it", async ({ page, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await refuseChannel(page, watch);
  await openPage(page);
  await page.route("**/api/page/glance_at_all", (route) => route.abort());
  const banner = page.getByText("You're offline. Your draft is kept.");
  await expect(banner).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText(/Retrying in \d+ s\./)).toBeVisible();
  await expect(page.locator("#say")).toHaveText("Connection lost. Reconnecting…");
  await page.unroute("**/api/page/glance_at_all");
  await page.getByRole("button", { name: "Retry now" }).click();
  await expect(page.locator(".banner")).toContainText("Connected.");
  await expect(page.locator("#say")).toHaveText("Connected.");
  await expect(page.locator(".banner")).toHaveCount(0);
});

test("a newer page is offered, and what is written is there after it", async ({ page }) => {
  await openPage(page);
  await expect(page.getByText("A new version is available.")).toHaveCount(0);
  await page.route("**/api/page/glance_at_all", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), build: "another" } });
  });
  await askForStatus(page);
  await messageBox(page).fill("half a thought");
  const reload = page.getByRole("button", { name: "Reload" });
  await expect(reload).toBeVisible();
  await expect(messageBox(page)).toHaveValue("half a thought");
  await page.unroute("**/api/page/glance_at_all");
  const loaded = page.waitForEvent("load");
  await reload.click();
  await loaded;
  await waitForHydration(page);
  await expect(messageBox(page)).toHaveValue("half a thought");
  await expect(reload).toHaveCount(0);
});

test("a reply continues over a lost network, whole and once", async ({ page, model, watch, context }) => {
  watch.expectLostConnection();
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await startChat(page, "Go on");
  const reply = await model.nextReply();
  reply.sendText("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  await context.setOffline(true);
  await expect(page.getByText("You're offline. Your draft is kept.")).toBeVisible();
  reply.sendText("two ");
  reply.sendText("three");
  reply.finish();
  await context.setOffline(false);
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("one two three");
  await expect(page.locator("article[data-role=assistant]")).toHaveCount(1);
});

test("a broken stream is no longer reported once its chat is left", async ({ page, model, watch }) => {
  watch.expectLostConnection();
  watch.expect(/ERR_FAILED|Failed to load resource/);
  // Only the event stream of the reply is blocked; all other requests work.
  await page.route("**/api/turns/*/events**", (route) => route.abort());
  await startChat(page, "Go on");
  const reply = await model.nextReply();
  const banner = page.getByText("Reconnecting… The reply is still being generated.");
  await expect(banner).toBeVisible();
  await page.getByRole("link", { name: "New chat" }).first().click();
  await expect(page).toHaveURL(/\/$/);
  await expect(banner).toBeHidden();
  reply.finishWithText("There.");
});

test("a message sent while offline returns to the box and is never sent by itself", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch|ERR_INTERNET_DISCONNECTED/);
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  await page.route("**/api/page/*", (route) => route.abort());
  await sendMessage(page, "Not now");
  await expect(messageBox(page)).toHaveValue("Not now");
  await expect(page.locator("#message-problem")).not.toBeEmpty();
  await page.unroute("**/api/page/*");
  await expect(page.getByText("Draft saved in this browser, but not on the server yet.")).toBeHidden();
  expect(model.requestCount).toBe(1);
  await sendButton(page).click();
  (await model.nextReply()).finishWithText("Now.");
  await expectStatus(latestReply(page), "complete");
  expect(model.requestCount).toBe(2);
});

test("an unacknowledged message is aborted within a minute, and its retry is not sent twice", async ({ page, model, watch }) => {
  watch.expect(/ERR_ABORTED|AbortError|ERR_FAILED/);
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  await page.clock.install();
  const path = "**/api/page/send_message*";
  // The server accepts the message; its response is lost.
  let took = (): void => {};
  const taken = new Promise<void>((done) => (took = done));
  await page.route(path, async (route) => {
    await route.fetch();
    took();
  }, { times: 1 });
  const given_up = page.waitForEvent("requestfailed", (request) => request.url().includes("send_message"));
  await sendMessage(page, "Is anybody there?");
  await taken;
  await messageBox(page).fill("typed behind it");
  await page.clock.runFor(60_000);
  await given_up;
  await expect(messageBox(page)).toHaveValue("Is anybody there?\n\ntyped behind it");
  await expect(page.locator("#message-problem")).toContainText("did not respond in time");
  // Text typed meanwhile is an undo step of its own.
  await messageBox(page).press("Control+z");
  await expect(messageBox(page)).toHaveValue("typed behind it");
  await messageBox(page).fill("Is anybody there?");
  // The message had arrived: the page finds its reply, and sending it again repeats the idempotency key.
  (await model.nextReply()).finishWithText("Yes.");
  await expect(textOf(latestReply(page))).toHaveText("Yes.");
  await expectStatus(latestReply(page), "complete");
  await sendButton(page).click();
  await expect(messageBox(page)).toHaveValue("");
  await expect(page.locator("article[data-role=user]")).toHaveCount(2);
  expect(model.requestCount).toBe(2);
});

test("a message that waits for its files does not go out after a minute offline", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await page.clock.install();
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await page.route("**/api/blobs*", (route) => route.abort());
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await page.route("**/api/page/glance_at_all", (route) => route.abort());
  await attachFiles(page, textFile("notes.txt", "of mine"));
  await sendMessage(page, "With notes");
  const waits = page.getByText("Your message will be sent when uploads finish.");
  await expect(waits.first()).toBeVisible();
  await page.clock.fastForward(61_000);
  await expect(page.locator("#say")).toContainText("Not sent.");
  await page.unroute("**/api/blobs*");
  await page.unroute("**/api/page/glance_at_all");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.clock.runFor(30_000);
  await attachmentChips(page).getByRole("button", { name: "Retry", exact: true }).click({ timeout: 5_000 }).catch(() => undefined);
  await expect(attachmentChips(page).locator("a, .chip").first()).toBeVisible();
  expect(model.requestCount).toBe(0);
  await expect(messageBox(page)).toHaveValue("With notes");
});
