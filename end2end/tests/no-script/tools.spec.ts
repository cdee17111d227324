// Tools without script: a question is a form, its answer a redirect to the reply.
// UX-32 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { latestReply, send, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { cards, chatWithTools, decide, question, test, toolMessages, wire } from "../../support/tools.ts";

/** Sends a message that is answered with a call, and loads the page until it asks. */
async function ask(page: Page, model: ModelServer, text: string): Promise<void> {
  await send(page, "Go");
  (await model.next()).ask([wire("delete"), text]);
  await expect(async () => {
    await page.reload();
    await expect(question(page)).toBeVisible({ timeout: 500 });
  }).toPass();
}

/** Ends the reply and loads the page until it shows so. */
async function answered(page: Page, model: ModelServer, words: string): Promise<any> {
  const reply = await model.next();
  reply.answer(words);
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 500 });
  }).toPass();
  await expect(textOf(latestReply(page)).last()).toHaveText(words);
  return reply.request;
}

test("a question is answered with a form", async ({ page, model, turnleaf, tools }) => {
  const chat = await chatWithTools(turnleaf);
  await page.goto(`/c/${chat}`);
  await ask(page, model, "a.txt");
  // A page that loads itself again would take what somebody types.
  await expect(page.locator("noscript meta[http-equiv=refresh]")).toHaveCount(0);
  await decide(page, "Allow once").click();
  await expect(page).toHaveURL(new RegExp(`/c/${chat}\\?at=`));
  await answered(page, model, "Deleted.");
  await expect(cards(page).first()).toHaveAttribute("data-tool-status", "done");
  expect(tools.ran).toEqual(["delete a.txt"]);
  await cards(page).first().locator("summary").first().click();
  await expect(cards(page).first()).toContainText("Deleted a.txt.");
});

test("a refusal goes with its reason", async ({ page, model, turnleaf, tools }) => {
  await page.goto(`/c/${await chatWithTools(turnleaf)}`);
  await ask(page, model, "a.txt");
  await question(page).getByRole("textbox", { name: /Reason/ }).fill("Not that one.");
  await decide(page, "Deny").click();
  const request = await answered(page, model, "I kept it.");
  expect(toolMessages(request)[0]!.content).toContain("Not that one.");
  await expect(cards(page).first()).toContainText("you declined");
  await expect(cards(page).first()).toContainText("Not that one.");
  expect(tools.ran).toEqual([]);
});

test("the list of chats says which needs somebody, and the tools of a chat are a link", async ({ page, model, turnleaf }) => {
  const chat = await chatWithTools(turnleaf, "Waits");
  await page.goto(`/c/${chat}`);
  await ask(page, model, "a.txt");
  await page.goto("/");
  const link = page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /Waits/ });
  await expect(link).toContainText("needs you");
  await page.goto(`/c/${chat}`);
  await expect(page).toHaveTitle(/^● needs you · /);
  await expect(page.getByRole("link", { name: "Tools: 6 on" })).toHaveAttribute("href", `/c/${chat}/tools`);
});
