// Actions on a turn without script: pages, forms and links.
// UX-32 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { chooseModel, latestReply, messageBox, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";

const users = (page: Page): Locator => page.locator("article[data-role=user]");
const versions = (turn: Locator): Locator => turn.getByRole("group", { name: "Versions" });

/** Answers the next request and reloads until the page shows it. */
async function answerReply(page: Page, model: ModelServer, words: string): Promise<void> {
  (await model.nextReply()).finishWithText(words);
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(textOf(latestReply(page))).toHaveText(words);
}

async function startChat(page: Page, model: ModelServer): Promise<void> {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "q1");
  await answerReply(page, model, "a1");
}

test("a message is edited on a page of its own, and its versions are links", async ({ page, model, watch }) => {
  watch.expect(/status of 422/);
  await startChat(page, model);
  await users(page).first().getByRole("button", { name: "Edit your message" }).click();
  const box = page.getByRole("textbox", { name: /Message/ });
  await expect(box).toHaveValue("q1");
  await box.fill(" ");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByText("the message is empty")).toBeVisible();
  await page.getByRole("textbox", { name: /Message/ }).fill("Q1");
  await page.getByRole("button", { name: "Send" }).click();
  await answerReply(page, model, "A1");
  await expect(users(page).first()).toContainText("Q1");
  await versions(users(page).first()).getByRole("button", { name: "2/2" }).click();
  await page.getByRole("link", { name: /1\/2 q1 .*followed by 1 message/ }).click();
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await expect(page.getByText("2 newer messages are in another version.")).toBeVisible();
  await page.getByRole("link", { name: "Show" }).click();
  await expect(textOf(latestReply(page))).toHaveText("A1");
});

test("a reply is edited by hand, and tried again by another model", async ({ page, model }) => {
  await startChat(page, model);
  await latestReply(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name: "Edit as new version" }).click();
  await page.getByRole("textbox", { name: /Message/ }).fill("Mine");
  await page.getByRole("button", { name: "Save as new version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("Mine");
  await expect(latestReply(page)).toContainText("Edited by you");
  await latestReply(page).getByRole("button", { name: "Retry with another model" }).click();
  await page.getByRole("combobox", { name: "Model" }).selectOption("demo/tour");
  await page.getByRole("button", { name: "Retry", exact: true }).click();
  await expect(page.getByText(/switched to/)).toBeVisible();
  await expect(versions(latestReply(page))).toContainText("3/3");
});

test("Branch continues from an earlier reply", async ({ page, model }) => {
  await startChat(page, model);
  await sendMessage(page, "q2");
  await answerReply(page, model, "a2");
  await replies(page).first().getByRole("button", { name: "Branch", exact: true }).click();
  await expect(replies(page)).toHaveCount(1);
  await expect(page.getByText("2 messages below are hidden")).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(replies(page)).toHaveCount(2);
  await replies(page).first().getByRole("button", { name: "Branch", exact: true }).click();
  await messageBox(page).fill("Another way");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await answerReply(page, model, "fork");
  await expect(users(page)).toHaveText([/q1/, /Another way/]);
});

test("a path is copied to a chat of its own", async ({ page, model }) => {
  await startChat(page, model);
  const origin = page.url();
  await latestReply(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name: "Copy to new chat" }).click();
  expect(page.url()).not.toBe(origin);
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await page.getByRole("link", { name: /Copied from/ }).click();
  expect(new URL(page.url()).pathname).toBe(new URL(origin).pathname);
});

test("a message whose reply was deleted is tried again", async ({ page, model }) => {
  await startChat(page, model);
  await latestReply(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name: /^Delete this version/ }).click();
  await expect(replies(page)).toHaveCount(0);
  await users(page).first().getByRole("button", { name: "Retry", exact: true }).click();
  await answerReply(page, model, "once more");
  await sendMessage(page, "q2");
  await answerReply(page, model, "a2");
  await expect(replies(page)).toHaveCount(2);
});

test("a reply that reached its length says so and can be continued", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "q1");
  const reply = await model.nextReply();
  reply.sendText("Half of");
  reply.finish("length");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(latestReply(page)).toContainText("The reply reached the model's length limit.");
  await latestReply(page).getByRole("button", { name: "Continue" }).click();
  await answerReply(page, model, "it all.");
  await expect(users(page).last()).toContainText("Continue");
  await expect(replies(page)).toHaveCount(2);
});
