// Tools without script: an approval is a form, and its response redirects to the reply.
// UX-32 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { latestReply, sendMessage, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { toolCards, createChatWithTools, decisionButton, approvalPrompt, test, toolMessages, wireName } from "../../support/tools.ts";

/** Sends a message that is answered with a call, and reloads the page until it asks for approval. */
async function sendAndCallTool(page: Page, model: ModelServer, text: string): Promise<void> {
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("delete"), text]);
  await expect(async () => {
    await page.reload();
    await expect(approvalPrompt(page)).toBeVisible({ timeout: 200 });
  }).toPass();
}

/** Ends the reply and reloads the page until it shows the end. */
async function finishReply(page: Page, model: ModelServer, words: string): Promise<any> {
  const reply = await model.nextReply();
  reply.finishWithText(words);
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(textOf(latestReply(page)).last()).toHaveText(words);
  return reply.request;
}

test("a question is answered with a form", async ({ page, model, turnleaf, tools }) => {
  const chat = await createChatWithTools(turnleaf);
  await page.goto(`/c/${chat}`);
  await sendAndCallTool(page, model, "a.txt");
  // A page that refreshes itself would discard typed text.
  await expect(page.locator("noscript meta[http-equiv=refresh]")).toHaveCount(0);
  await decisionButton(page, "Allow once").click();
  await expect(page).toHaveURL(new RegExp(`/c/${chat}\\?at=`));
  await finishReply(page, model, "Deleted.");
  await expect(toolCards(page).first()).toHaveAttribute("data-tool-status", "done");
  expect(tools.ran).toEqual(["delete a.txt"]);
  await toolCards(page).first().locator("summary").first().click();
  await expect(toolCards(page).first()).toContainText("Deleted a.txt.");
});

test("a refusal goes with its reason", async ({ page, model, turnleaf, tools }) => {
  await page.goto(`/c/${await createChatWithTools(turnleaf)}`);
  await sendAndCallTool(page, model, "a.txt");
  await approvalPrompt(page).getByRole("textbox", { name: /Reason/ }).fill("Not that one.");
  await decisionButton(page, "Deny").click();
  const request = await finishReply(page, model, "I kept it.");
  expect(toolMessages(request)[0]!.content).toContain("Not that one.");
  await expect(toolCards(page).first()).toContainText("denied by you");
  await expect(toolCards(page).first()).toContainText("Not that one.");
  expect(tools.ran).toEqual([]);
});

test("the arguments of a call are edited with a form", async ({ page, model, turnleaf, tools, watch }) => {
  watch.expect(/status of 422/);
  await page.goto(`/c/${await createChatWithTools(turnleaf)}`);
  await sendAndCallTool(page, model, "a.txt");
  await approvalPrompt(page).getByRole("link", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: /Arguments as JSON/ });
  await field.fill('{ "text": \n');
  await page.getByRole("button", { name: "Allow once" }).click();
  await expect(page.getByText(/not valid JSON \(line 2\)/)).toBeVisible();
  await field.fill('{ "text": "b.txt" }');
  await page.getByRole("button", { name: "Allow once" }).click();
  const request = await finishReply(page, model, "Deleted.");
  expect(toolMessages(request)[0]!.content).toContain("The user edited this call.");
  expect(tools.ran).toEqual(["delete b.txt"]);
});

test("all tools of a server are allowed with a form that has to be confirmed", async ({ page, model, turnleaf, tools, watch }) => {
  watch.expect(/status of 422/);
  await page.goto(`/c/${await createChatWithTools(turnleaf)}`);
  await sendAndCallTool(page, model, "a.txt");
  await approvalPrompt(page).getByRole("link", { name: "Allow whole server" }).click();
  await page.getByRole("button", { name: "Allow all its tools" }).click();
  await expect(page.getByRole("status")).toHaveText("Nothing was allowed. Confirm that you trust the server.");
  await page.getByRole("checkbox", { name: /I trust this server/ }).check();
  await page.getByRole("button", { name: "Allow all its tools" }).click();
  await finishReply(page, model, "Deleted.");
  expect(tools.ran).toEqual(["delete a.txt"]);
});

test("the list of chats says which needs somebody, and the tools of a chat are a link", async ({ page, model, turnleaf }) => {
  const chat = await createChatWithTools(turnleaf, "Waits");
  await page.goto(`/c/${chat}`);
  await sendAndCallTool(page, model, "a.txt");
  await page.goto("/");
  const link = page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /Waits/ });
  await expect(link).toContainText("needs your input");
  await page.goto(`/c/${chat}`);
  await expect(page).toHaveTitle(/^● needs your input · /);
  await expect(page.getByRole("link", { name: "Tools: 7 on" })).toHaveAttribute("href", `/c/${chat}/tools`);
});
