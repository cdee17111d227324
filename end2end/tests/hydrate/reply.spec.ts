// A reply from the first word to the last: streamed, the same after a reload, stopped, retried, seen in two tabs.
// UX-04, UX-15, UX-16 of docs/acceptance.md.
import {
  startChat, expectStatus, waitForHydration, idOf, latestReply, messageBox, openPage, replies, sendMessage, sendButton, stopButton, textOf,
} from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { versionSwitcher } from "../../support/turn_actions.ts";

test("a reply is shown while it is written", async ({ page, model }) => {
  await startChat(page, "Hello");
  const reply = await model.nextReply();
  expect(reply.request.messages.at(-1).content).toContain("Hello");
  reply.sendText("First ");
  await expect(textOf(latestReply(page))).toHaveText("First");
  await expectStatus(latestReply(page), "streaming");
  reply.sendText("and **last**.");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("First and last.");
  await expect(latestReply(page).locator("strong")).toHaveText("last");
  await expect(page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /Hello/ })).toBeVisible();
});

test("a second message follows the first and includes its history", async ({ page, model }) => {
  await startChat(page, "One");
  let reply = await model.nextReply();
  reply.sendText("First reply.");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "Two");
  reply = await model.nextReply();
  const sent = reply.request.messages.map((message: { content: string }) => message.content).join("\n");
  expect(sent).toMatch(/One[\s\S]*First reply\.[\s\S]*Two/);
  reply.sendText("Second reply.");
  reply.finish();
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
});

test("a reload during a reply continues where it was", async ({ page, model }) => {
  await startChat(page, "Count");
  const reply = await model.nextReply();
  reply.sendText("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  await page.reload();
  await expect(textOf(latestReply(page))).toHaveText("one");
  await waitForHydration(page);
  reply.sendText("two ");
  await expect(textOf(latestReply(page))).toHaveText("one two");
  reply.sendText("three");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("one two three");
});

test("a closed tab ends nothing", async ({ page, context, model, turnleaf }) => {
  await startChat(page, "Go on");
  const reply = await model.nextReply();
  reply.sendText("still ");
  await expect(textOf(latestReply(page))).toHaveText("still");
  const [url, id] = [page.url(), await idOf(latestReply(page))];
  await page.close();
  reply.sendText("here");
  reply.finish();
  await expect.poll(async () => (await turnleaf.get(`/api/turns/${id}`)).status).toBe("complete");
  const again = await context.newPage();
  await again.goto(url);
  await expect(textOf(latestReply(again))).toHaveText("still here");
});

test("Stop keeps what was written and hangs up", async ({ page, model }) => {
  await startChat(page, "Talk");
  const reply = await model.nextReply();
  reply.sendText("half a sent");
  await expect(textOf(latestReply(page))).toHaveText("half a sent");
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await reply.closed;
  await expect(textOf(latestReply(page))).toHaveText("half a sent");
  await expect(sendButton(page)).toBeVisible();
  await page.reload();
  await expectStatus(latestReply(page), "cancelled");
  await expect(textOf(latestReply(page))).toHaveText("half a sent");
});

test("trying again makes a version beside the first", async ({ page, model }) => {
  await startChat(page, "Choose");
  let reply = await model.nextReply();
  reply.sendText("heads");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  reply = await model.nextReply();
  reply.sendText("tails");
  reply.finish();
  await expect(textOf(latestReply(page))).toHaveText("tails");
  await expectStatus(latestReply(page), "complete");
  const versions = latestReply(page).getByRole("group", { name: "Versions" });
  await expect(versions).toContainText("2/2");
  await versions.getByText("Previous version").or(versions.getByLabel("Previous version")).first().click();
  await expect(textOf(latestReply(page))).toHaveText("heads");
  await expect(latestReply(page).getByRole("group", { name: "Versions" })).toContainText("1/2");
});

test("a second tab sees the same reply as it comes", async ({ page, context, model }) => {
  await startChat(page, "Share");
  const reply = await model.nextReply();
  reply.sendText("for ");
  await expect(textOf(latestReply(page))).toHaveText("for");
  const second = await context.newPage();
  await openPage(second, new URL(page.url()).pathname);
  await expect(textOf(latestReply(second))).toHaveText("for");
  reply.sendText("both");
  for (const tab of [page, second]) await expect(textOf(latestReply(tab))).toHaveText("for both");
  reply.finish();
  for (const tab of [page, second]) await expectStatus(latestReply(tab), "complete");
});

test("a model that breaks off leaves its words and an error reply", async ({ page, model }) => {
  await startChat(page, "Break");
  const reply = await model.nextReply();
  reply.sendText("and then");
  await expect(textOf(latestReply(page)).first()).toHaveText("and then");
  reply.dropConnection();
  await expectStatus(latestReply(page), "error");
  await expect(textOf(latestReply(page)).first()).toHaveText("and then");
  const error = latestReply(page).locator("[role=group][data-error]");
  await expect(error.getByRole("button", { name: "Retry", exact: true })).toBeVisible();
  await error.getByRole("button", { name: "Retry", exact: true }).click();
  const second = await model.nextReply();
  second.sendText("whole");
  second.finish();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("whole");
  // The failed reply is the first version and can be shown again.
  await expect(versionSwitcher(latestReply(page))).toContainText("2/2");
  await versionSwitcher(latestReply(page)).getByRole("button", { name: "Previous version" }).click();
  await expect(textOf(latestReply(page)).first()).toHaveText("and then");
  await expect(error).toBeVisible();
});

test("one press of Send is one message", async ({ page, model }) => {
  await openPage(page);
  await messageBox(page).fill("Once");
  await sendButton(page).dblclick();
  const reply = await model.nextReply();
  reply.sendText("once");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  expect(model.requestCount).toBe(1);
  await expect(page.locator("article[data-role=user]")).toHaveCount(1);
});
