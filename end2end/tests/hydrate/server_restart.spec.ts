// The server is killed during a reply. Everything that was shown is there after the restart, and the reply says what
// happened.
// UX-20, UX-43 of docs/acceptance.md.
import { setTimeout as wait } from "node:timers/promises";

import { startChat, expectStatus, waitForHydration, idOf, latestReply, messageBox, openPage, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

/** Text younger than this may be lost, in ms; the guarantee is about time, so the test waits. */
const COMMITTED_MS = 150;

test("a killed server keeps what was shown and marks the reply", async ({ page, model, turnleaf, watch }) => {
  watch.expectLostConnection();
  await startChat(page, "Remember");
  const reply = await model.nextReply();
  reply.sendReasoning("A thought that was finished. ");
  reply.sendText("Words that were shown");
  await expect(textOf(latestReply(page))).toHaveText("Words that were shown");
  const id = await idOf(latestReply(page));
  await wait(COMMITTED_MS);
  await turnleaf.kill();
  await turnleaf.restart();

  // The open page notices by itself.
  await expectStatus(latestReply(page), "error");
  const error = latestReply(page).locator("[role=group][data-error=server_restarted]");
  await expect(error).toBeVisible();
  await expect(textOf(latestReply(page)).first()).toHaveText("Words that were shown");

  // A reload shows the same.
  await page.reload();
  await waitForHydration(page);
  await expectStatus(latestReply(page), "error");
  await expect(textOf(latestReply(page)).first()).toHaveText("Words that were shown");
  await expect(latestReply(page).locator("[data-segment=reasoning]")).toContainText("A thought that was finished.");
  expect((await turnleaf.get(`/api/turns/${id}`)).status).toBe("error");

  await error.getByRole("button", { name: "Retry", exact: true }).click();
  const again = await model.nextReply();
  again.sendText("Words after the restart");
  again.finish();
  await expectStatus(latestReply(page), "complete");
  await turnleaf.stop();
  expect(await turnleaf.fsck()).toBe(0);
});

test("a server that stays down is reported, and its reply can be retried without a reload", async ({ page, model, turnleaf, watch }) => {
  watch.expectLostConnection();
  await startChat(page, "Anybody there?");
  const reply = await model.nextReply();
  reply.sendText("I was");
  await expect(textOf(latestReply(page))).toHaveText("I was");
  await wait(COMMITTED_MS);
  await turnleaf.kill();
  await expect(page.locator(".banner")).toContainText(/Reconnecting|offline/i, { timeout: 30_000 });
  await expect(textOf(latestReply(page))).toHaveText("I was");
  await turnleaf.restart();
  await expectStatus(latestReply(page), "error");
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("Here I am.");
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("Here I am.");
});

test("an asked-for stop of the server lets a reply finish", async ({ page, model, turnleaf, watch }) => {
  watch.expectLostConnection();
  // Requests during the shutdown get a 503.
  watch.expect(/status of 503/);
  await startChat(page, "Finish");
  const reply = await model.nextReply();
  reply.sendText("almost ");
  await expect(textOf(latestReply(page))).toHaveText("almost");
  const stopped = turnleaf.stop();
  reply.sendText("done");
  reply.finish();
  await stopped;
  await turnleaf.restart();
  await page.reload();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("almost done");
});

test("the chat continues after a restart", async ({ page, model, turnleaf, watch }) => {
  watch.expectLostConnection();
  await startChat(page, "Before");
  let reply = await model.nextReply();
  reply.sendText("One.");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await turnleaf.kill();
  await turnleaf.restart();
  await sendMessage(page, "After");
  reply = await model.nextReply();
  reply.sendText("Two.");
  reply.finish();
  await expect(textOf(latestReply(page))).toHaveText("Two.");
  await expectStatus(latestReply(page), "complete");
});

test("drafts of a chat and of the new chat outlive a killed server, each in its place", async ({ page, model, turnleaf, watch }) => {
  watch.expectLostConnection();
  await startChat(page, "Apples");
  (await model.nextReply()).finishWithText("Apples.");
  await expectStatus(latestReply(page), "complete");
  const chat = new URL(page.url()).pathname;
  const write = async (words: string) => {
    const saved = page.waitForResponse((answer) => answer.url().includes("save_draft") && answer.ok());
    await messageBox(page).fill(words);
    await saved;
  };
  await write("about apples");
  await openPage(page);
  await expect(messageBox(page)).toHaveValue("");
  await write("something new");
  await page.getByRole("link", { name: "Apples" }).first().click();
  await expect(messageBox(page)).toHaveValue("about apples");
  await turnleaf.kill();
  await turnleaf.restart();
  await openPage(page, chat);
  await expect(messageBox(page)).toHaveValue("about apples");
  await openPage(page);
  await expect(messageBox(page)).toHaveValue("something new");
});
