// A reply from the first word to the last: shown as it comes, the same after a reload, stopped, tried again, seen twice.
// UX-04, UX-15, UX-16 of docs/acceptance.md.
import {
  begin, expectStatus, hydrated, idOf, latestReply, messageBox, open, replies, send, sendButton, stopButton, textOf,
} from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { versions } from "../../support/verbs.ts";

test("a reply is shown while it is written", async ({ page, model }) => {
  await begin(page, "Hello");
  const reply = await model.next();
  expect(reply.request.messages.at(-1).content).toContain("Hello");
  reply.say("First ");
  await expect(textOf(latestReply(page))).toHaveText("First");
  await expectStatus(latestReply(page), "streaming");
  reply.say("and **last**.");
  reply.end();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("First and last.");
  await expect(latestReply(page).locator("strong")).toHaveText("last");
  await expect(page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /Hello/ })).toBeVisible();
});

test("a second message follows the first and carries it along", async ({ page, model }) => {
  await begin(page, "One");
  let reply = await model.next();
  reply.say("First reply.");
  reply.end();
  await expectStatus(latestReply(page), "complete");
  await send(page, "Two");
  reply = await model.next();
  const sent = reply.request.messages.map((message: { content: string }) => message.content).join("\n");
  expect(sent).toMatch(/One[\s\S]*First reply\.[\s\S]*Two/);
  reply.say("Second reply.");
  reply.end();
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
});

test("a reload in the middle goes on where it was", async ({ page, model }) => {
  await begin(page, "Count");
  const reply = await model.next();
  reply.say("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  await page.reload();
  await expect(textOf(latestReply(page))).toHaveText("one");
  await hydrated(page);
  reply.say("two ");
  await expect(textOf(latestReply(page))).toHaveText("one two");
  reply.say("three");
  reply.end();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("one two three");
});

test("a closed tab ends nothing", async ({ page, context, model, turnleaf }) => {
  await begin(page, "Go on");
  const reply = await model.next();
  reply.say("still ");
  await expect(textOf(latestReply(page))).toHaveText("still");
  const [url, id] = [page.url(), await idOf(latestReply(page))];
  await page.close();
  reply.say("here");
  reply.end();
  await expect.poll(async () => (await turnleaf.get(`/api/turns/${id}`)).status).toBe("complete");
  const again = await context.newPage();
  await again.goto(url);
  await expect(textOf(latestReply(again))).toHaveText("still here");
});

test("Stop keeps what was written and hangs up", async ({ page, model }) => {
  await begin(page, "Talk");
  const reply = await model.next();
  reply.say("half a sent");
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
  await begin(page, "Choose");
  let reply = await model.next();
  reply.say("heads");
  reply.end();
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("button", { name: "Try again" }).click();
  reply = await model.next();
  reply.say("tails");
  reply.end();
  await expect(textOf(latestReply(page))).toHaveText("tails");
  await expectStatus(latestReply(page), "complete");
  const versions = latestReply(page).getByRole("group", { name: "Versions" });
  await expect(versions).toContainText("2/2");
  await versions.getByText("Previous version").or(versions.getByLabel("Previous version")).first().click();
  await expect(textOf(latestReply(page))).toHaveText("heads");
  await expect(latestReply(page).getByRole("group", { name: "Versions" })).toContainText("1/2");
});

test("a second tab sees the same reply as it comes", async ({ page, context, model }) => {
  await begin(page, "Share");
  const reply = await model.next();
  reply.say("for ");
  await expect(textOf(latestReply(page))).toHaveText("for");
  const second = await context.newPage();
  await open(second, new URL(page.url()).pathname);
  await expect(textOf(latestReply(second))).toHaveText("for");
  reply.say("both");
  for (const tab of [page, second]) await expect(textOf(latestReply(tab))).toHaveText("for both");
  reply.end();
  for (const tab of [page, second]) await expectStatus(latestReply(tab), "complete");
});

test("a model that breaks off leaves its words and an error reply", async ({ page, model }) => {
  await begin(page, "Break");
  const reply = await model.next();
  reply.say("and then");
  await expect(textOf(latestReply(page)).first()).toHaveText("and then");
  reply.drop();
  await expectStatus(latestReply(page), "error");
  await expect(textOf(latestReply(page)).first()).toHaveText("and then");
  const error = latestReply(page).locator("[role=group][data-error]");
  await expect(error.getByRole("button", { name: "Try again" })).toBeVisible();
  await error.getByRole("button", { name: "Try again" }).click();
  const second = await model.next();
  second.say("whole");
  second.end();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("whole");
  // What failed is the first version, and can be gone back to.
  await expect(versions(latestReply(page))).toContainText("2/2");
  await versions(latestReply(page)).getByRole("button", { name: "Previous version" }).click();
  await expect(textOf(latestReply(page)).first()).toHaveText("and then");
  await expect(error).toBeVisible();
});

test("one press of Send is one message", async ({ page, model }) => {
  await open(page);
  await messageBox(page).fill("Once");
  await sendButton(page).dblclick();
  const reply = await model.next();
  reply.say("once");
  reply.end();
  await expectStatus(latestReply(page), "complete");
  expect(model.asked).toBe(1);
  await expect(page.locator("article[data-role=user]")).toHaveCount(1);
});
