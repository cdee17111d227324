// Tools on the page: approval, running, stopping, and their announcements.
// UX-12, UX-14 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { expectAccessibleState } from "../../support/accessibility_checks.ts";
import { expectStatus, waitForHydration, latestReply, messageBox, openPage, sendMessage, stopButton, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { toolCards, createChatWithTools, decisionButton, openChatWithTools, approvalPrompt, test, toolMessages, wireName } from "../../support/tools.ts";
import { waitForScrollSettled } from "../../support/reader.ts";
import { tabTo } from "../../support/turn_actions.ts";

/** Sends a message that the model answers with one call. */
async function sendAndCallTool(page: Page, model: ModelServer, tool: string, text: string): Promise<void> {
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName(tool), text]);
}

/** Ends the reply: the model answers the tool results with this text. */
async function finishReply(page: Page, model: ModelServer, text = "Done."): Promise<any> {
  const reply = await model.nextReply();
  reply.finishWithText(text);
  await expect(textOf(latestReply(page)).last()).toHaveText(text);
  await expectStatus(latestReply(page), "complete");
  return reply.request;
}

/** Records everything that the live regions announce from now on. */
async function recordAnnouncements(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const heard: string[] = [];
    (window as any).heard = heard;
    for (const id of ["say", "alert"]) {
      const region = document.getElementById(id)!;
      new MutationObserver(() => {
        if (region.textContent) heard.push(`${id}: ${region.textContent}`);
      }).observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  return () => page.evaluate(() => (window as any).heard);
}

test("arguments grow in the card, and a tool that is safe runs by itself", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  const heard = await recordAnnouncements(page);
  await sendMessage(page, "Go");
  const reply = await model.nextReply();
  reply.startToolCall(0, "c1", wireName("search"));
  reply.sendToolArguments(0, '{"text": "rust');
  const card = toolCards(page).first();
  await expect(card).toHaveAttribute("data-tool-status", "writing");
  await expect(card).toContainText('{"text": "rust');
  reply.sendToolArguments(0, ' sse"}');
  reply.finish("tool_calls");
  // Checked before newer news would replace the announcement.
  await expect.poll(heard).toContain("say: Using Search.");
  const request = await finishReply(page, model);
  expect(toolMessages(request)[0]!.content).toContain("Found rust sse.");
  await expect(card).toHaveAttribute("data-tool-status", "done");
  await expect(card.getByRole("heading", { name: "Search" })).toBeVisible();
  await expect(card).toContainText("done");
  await card.locator("summary").first().click();
  await expect(card).toContainText("Found rust sse.");
  expect(tools.ran).toEqual(["search rust sse"]);
  expect((await heard()).filter((line) => line.startsWith("say: Using"))).toEqual(["say: Using Search."]);
});

test("a card shows a readable title from the start, whatever the outcome of the call", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  const reply = await model.nextReply();
  reply.startToolCall(0, "c1", wireName("search"));
  reply.sendToolArguments(0, '{"text": ');
  const heading = (at: number) => toolCards(page).nth(at).getByRole("heading");
  await expect(toolCards(page).first()).toHaveAttribute("data-tool-status", "writing");
  await expect(heading(0)).toHaveText("Search");
  reply.sendToolArguments(0, '"x"}');
  reply.startToolCall(1, "c2", wireName("delete"));
  reply.sendToolArguments(1, "{not json");
  reply.startToolCall(2, "c3", wireName("delete"));
  reply.sendToolArguments(2, "{}");
  reply.finish("tool_calls");
  await finishReply(page, model);
  for (const _ of ["live", "after a reload"]) {
    for (const [at, name] of ["Search", "Delete a file", "Delete a file"].entries()) {
      await expect(heading(at)).toHaveText(name);
      await expect(toolCards(page).nth(at).locator(".tool-server")).toHaveText("Files");
    }
    await expect(page.getByText("3 tool calls · 2 failed")).toBeVisible();
    await page.reload();
    await waitForHydration(page);
  }
});

test("a question survives a reload and another tab, and is answered once", async ({ page, context, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  await expect(approvalPrompt(page)).toContainText("Delete a file wants to run · files/delete");
  await expect(approvalPrompt(page)).toContainText('"text": "a.txt"');
  await expect(page).toHaveTitle(/^● needs your input · /);
  await page.reload();
  await waitForHydration(page);
  const other = await context.newPage();
  await openPage(other, page.url());
  await expect(approvalPrompt(other)).toBeVisible();
  expect(tools.ran).toEqual([]);
  await decisionButton(page, "Allow once").click();
  await finishReply(page, model);
  await expect(approvalPrompt(page)).toHaveCount(0);
  await expect(approvalPrompt(other)).toHaveCount(0);
  expect(tools.ran).toEqual(["delete a.txt"]);
  await expect(page).not.toHaveTitle(/needs your input/);
  // "Allow once" holds for one call.
  await sendAndCallTool(page, model, "delete", "b.txt");
  await expect(approvalPrompt(page)).toBeVisible();
  expect(tools.ran).toEqual(["delete a.txt"]);
});

test("a question survives a restart of the server", async ({ page, context, model, turnleaf, tools, watch }) => {
  watch.expectLostConnection();
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  await expect(approvalPrompt(page)).toBeVisible();
  await turnleaf.kill();
  await turnleaf.restart();
  const other = await context.newPage();
  await openPage(other, page.url());
  await decisionButton(other, "Allow once").click();
  await finishReply(other, model);
  // A page that was open all the time notices by itself.
  await expect(textOf(latestReply(page)).last()).toHaveText("Done.");
  expect(tools.ran).toEqual(["delete a.txt"]);
});

test("Enter queues a message and answers no approval, nor does Enter in the reason, and nothing takes the focus", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await messageBox(page).focus();
  await sendAndCallTool(page, model, "delete", "a.txt");
  await expect(approvalPrompt(page)).toBeVisible();
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await messageBox(page).fill("typed meanwhile");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Enter");
  const reason = approvalPrompt(page).getByRole("textbox", { name: /Reason/ });
  await reason.fill("because");
  await reason.press("Enter");
  await expect(approvalPrompt(page)).toBeVisible();
  await expect(reason).toHaveValue(/^because/);
  await expect(page.getByRole("region", { name: "Queued messages" }).getByRole("listitem")).toHaveText([/typed meanwhile/]);
  expect(tools.ran).toEqual([]);
  expect(model.requestCount).toBe(1);
});

test("a refusal reaches the model with its reason", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  await approvalPrompt(page).getByRole("textbox", { name: /Reason/ }).fill("Keep that one, please.");
  await decisionButton(page, "Deny").click();
  const request = await finishReply(page, model, "I kept it.");
  expect(toolMessages(request)[0]!.content).toContain("Keep that one, please.");
  await expect(toolCards(page).first()).toHaveAttribute("data-tool-status", "denied");
  await expect(toolCards(page).first()).toContainText("denied by you");
  await expect(toolCards(page).first()).toContainText("Keep that one, please.");
  expect(tools.ran).toEqual([]);
});

test("arguments are edited before the call is allowed, and the model learns of it", async ({ page, model, turnleaf, tools, watch }) => {
  watch.expect(/status of 422/);
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  await approvalPrompt(page).getByRole("link", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: /Arguments as JSON/ });
  await expect(field).toHaveValue(/"text": "a\.txt"/);
  await field.fill('{ "text": 1 }');
  await page.getByRole("button", { name: "Allow once" }).click();
  await expect(page.getByRole("status")).toHaveText("Nothing was run. Correct the arguments.");
  await expect(page.getByText(/arguments\/text: /)).toBeVisible();
  await expect(field).toHaveValue('{ "text": 1 }');
  expect(tools.ran).toEqual([]);
  await field.fill('{ "text": "b.txt" }');
  await page.getByRole("button", { name: "Allow once" }).click();
  await waitForHydration(page);
  const request = await finishReply(page, model);
  expect(tools.ran).toEqual(["delete b.txt"]);
  expect(toolMessages(request)[0]!.content).toContain("The user edited this call.");
  await toolCards(page).first().locator("summary").first().click();
  await expect(toolCards(page).first()).toContainText("Edited by you. The model wrote:");
  await expect(toolCards(page).first()).toContainText("a.txt");
});

test("all tools of a server are allowed only after a confirmation", async ({ page, model, turnleaf, tools, watch }) => {
  watch.expect(/status of 422/);
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  await approvalPrompt(page).getByRole("link", { name: "Allow whole server" }).click();
  const allow = page.getByRole("button", { name: "Allow all its tools" });
  await allow.click();
  await expect(page.getByRole("status")).toHaveText("Nothing was allowed. Confirm that you trust the server.");
  expect(tools.ran).toEqual([]);
  await page.getByRole("checkbox", { name: /I trust this server/ }).check();
  await allow.click();
  await waitForHydration(page);
  await finishReply(page, model);
  await sendAndCallTool(page, model, "delete", "b.txt");
  await finishReply(page, model, "Both.");
  expect(tools.ran).toEqual(["delete a.txt", "delete b.txt"]);
  // It is undone in Settings.
  await page.goto("/settings/tools");
  const card = page.getByRole("article", { name: "Files" });
  const policy = card.getByRole("combobox", { name: "Permission for all tools of this server" });
  await expect(policy).toHaveValue("allow");
  await policy.selectOption("never");
  await card.getByRole("button", { name: /^Save permission/ }).first().click();
  await expect(page.getByRole("status")).toHaveText("Saved.");
  await expect(policy).toHaveValue("never");
});

test("what is allowed in a chat is not asked again there, and is in another", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  await decisionButton(page, "Allow in this chat").click();
  await finishReply(page, model);
  await sendAndCallTool(page, model, "delete", "b.txt");
  await finishReply(page, model, "Both.");
  expect(tools.ran).toEqual(["delete a.txt", "delete b.txt"]);
  await openChatWithTools(page, turnleaf, "Other");
  await sendAndCallTool(page, model, "delete", "c.txt");
  await expect(approvalPrompt(page)).toBeVisible();
  expect(tools.ran).toHaveLength(2);
});

test("with keys alone: F6 leads to the question, Tab to its buttons", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  const heard = await recordAnnouncements(page);
  await messageBox(page).fill("Go");
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithToolCalls([wireName("delete"), "a.txt"]);
  await expect.poll(async () => (await heard()).filter((line) => line.startsWith("alert:"))).toEqual([
    "alert: Delete a file needs your approval. Press F6 to review.",
  ]);
  await page.keyboard.press("F6");
  await expect(approvalPrompt(page)).toBeFocused();
  await page.keyboard.press("Tab");
  await tabTo(page, decisionButton(page, "Allow once"));
  await page.keyboard.press("Enter");
  await finishReply(page, model);
  expect(tools.ran).toEqual(["delete a.txt"]);
  // The focus is not lost.
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BODY");
  expect((await heard()).filter((line) => line.startsWith("alert:"))).toHaveLength(1);
});

test("two chats wait and work apart from each other, and the list says which needs somebody", async ({ page, model, turnleaf, tools }) => {
  const first = await openChatWithTools(page, turnleaf, "First");
  await sendAndCallTool(page, model, "delete", "one");
  await expect(approvalPrompt(page)).toBeVisible();
  await openChatWithTools(page, turnleaf, "Second");
  const link = page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /First/ });
  await expect(link).toContainText("needs your input");
  await sendMessage(page, "Hello");
  (await model.nextReply()).finishWithText("Hi.");
  await expect(textOf(latestReply(page))).toHaveText("Hi.");
  await link.click();
  await expect(page).toHaveURL(new RegExp(first));
  await decisionButton(page, "Allow once").click();
  await finishReply(page, model);
  await expect(link).not.toContainText("needs your input");
  expect(tools.ran).toEqual(["delete one"]);
});

test("a chat that begins to wait elsewhere is marked without a reload", async ({ page, context, model, turnleaf }) => {
  const waiting = await createChatWithTools(turnleaf, "Waits");
  await openPage(page);
  const link = page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /Waits/ });
  await expect(link).toBeVisible();
  const other = await context.newPage();
  await openPage(other, `/c/${waiting}`);
  await sendAndCallTool(other, model, "delete", "x");
  await expect(approvalPrompt(other)).toBeVisible();
  await page.bringToFront();
  await expect(link).toContainText("needs your input");
});

test("one of several running tools is stopped alone", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("slow"), "one"], [wireName("search"), "two"]);
  await decisionButton(page, "Allow in this chat").click();
  const slow = toolCards(page).first();
  await expect(slow).toHaveAttribute("data-tool-status", "running");
  await expect(slow).toContainText("copying");
  const bar = slow.getByRole("progressbar", { name: "Progress" });
  await expect.poll(() => bar.evaluate((bar: HTMLProgressElement) => bar.max === 100 && bar.value > 0)).toBe(true);
  await expect(page.getByText("2 tool calls · 1 running")).toBeVisible();
  await slow.getByRole("button", { name: "Stop this tool" }).press("Enter");
  const request = await finishReply(page, model, "One was stopped.");
  expect(toolMessages(request)).toHaveLength(2);
  await expect(slow).toHaveAttribute("data-tool-status", "cancelled");
  // After a stop by keyboard the focus stays at the card.
  await expect(slow.locator("summary").first()).toBeFocused();
  await expect(toolCards(page).nth(1)).toHaveAttribute("data-tool-status", "done");
  expect(tools.ran.sort()).toEqual(["search two", "slow one"]);
});

test("Stop ends a reply that waits for an answer", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  await expect(approvalPrompt(page)).toBeVisible();
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(approvalPrompt(page)).toHaveCount(0);
  expect(tools.ran).toEqual([]);
  // Every provider accepts the next request.
  await sendMessage(page, "And now?");
  const next = await model.nextReply();
  expect(toolMessages(next.request)).toHaveLength(1);
  next.finishWithText("Fine.");
  await expect(textOf(latestReply(page))).toHaveText("Fine.");
});

test("the same call again and again pauses, and Continue resumes the reply", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  for (let n = 0; n < 4; n++) (await model.nextReply()).finishWithToolCalls([wireName("search"), "same"]);
  const go = approvalPrompt(page).getByRole("button", { name: "Continue (25 more rounds)" });
  await expect(go).toBeVisible();
  await page.reload();
  await waitForHydration(page);
  expect(tools.ran).toHaveLength(3);
  await go.click();
  await finishReply(page, model);
  await expect(approvalPrompt(page)).toHaveCount(0);
  expect(tools.ran).toHaveLength(4);
});

test("a pause is ended by Stop here", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  for (let n = 0; n < 4; n++) (await model.nextReply()).finishWithToolCalls([wireName("search"), "same"]);
  await approvalPrompt(page).getByRole("button", { name: "Stop here" }).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(approvalPrompt(page)).toHaveCount(0);
});

test("an answer that cannot be sent is reported beside the question, and the typed text stays", async ({ page, model, turnleaf, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "delete", "a.txt");
  const reason = approvalPrompt(page).getByRole("textbox", { name: /Reason/ });
  await reason.fill("no");
  await page.route("**/forms/call", (route) => route.abort());
  await decisionButton(page, "Deny").click();
  await expect(approvalPrompt(page)).toContainText("Could not send. Try again.");
  await expect(reason).toHaveValue("no");
  await page.unroute("**/forms/call");
  await decisionButton(page, "Deny").click();
  await finishReply(page, model);
});

test("results are a tree, an image, and what they are without script", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("tree"), "leaf"], [wireName("picture"), "x"]);
  for (const left of [2, 1]) {
    await expect(approvalPrompt(page)).toHaveCount(left);
    await decisionButton(page, "Allow once").first().click();
  }
  await finishReply(page, model);
  const [tree, picture] = [toolCards(page).first(), toolCards(page).nth(1)];
  await tree.locator("summary").first().click();
  await tree.locator(".json summary", { hasText: "items" }).press("Enter");
  await expect(tree.locator(".json")).toContainText("items: [1]");
  await picture.locator("summary").first().click();
  const image = picture.locator(".tool-result .picture img");
  await image.scrollIntoViewIfNeeded();
  await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
});

test("a result that is longer than a page shows is kept whole", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendAndCallTool(page, model, "long", "x");
  await finishReply(page, model);
  const card = toolCards(page).first();
  await card.locator("summary").first().click();
  await expect(card).toContainText("Showing the first 64 KiB of 126 KiB.");
  const address = await card.getByRole("link", { name: "Open full content" }).getAttribute("href");
  const whole = await (await page.request.get(address!)).text();
  expect(whole.endsWith("The end.") && whole.length).toBe(16 * 8_000 + 8);
});

test("a question inside closed reasoning is in view all the same", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me see.");
  await page.locator("details.reasoning > summary").click();
  await expect(page.locator("details.reasoning")).not.toHaveAttribute("open");
  reply.finishWithToolCalls([wireName("delete"), "a.txt"]);
  await expect(approvalPrompt(page)).toBeVisible();
  await expect(decisionButton(page, "Allow once")).toBeVisible();
  await expect(page.locator("details.reasoning")).not.toHaveAttribute("open");
});

test("an approval prompt and the cards of calls are accessible", async ({ page, model, turnleaf }) => {
  test.setTimeout(120_000);
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me see.");
  reply.finishWithToolCalls([wireName("delete"), "report\u202egnp.exe"], [wireName("search"), "x"]);
  await expect(approvalPrompt(page)).toContainText("1 hidden character");
  await expectAccessibleState(page, "a question");
  await decisionButton(page, "Deny").click();
  await finishReply(page, model);
  for (const card of await toolCards(page).all()) await card.locator("summary").first().evaluate((summary: HTMLElement) => summary.click());
  await expectAccessibleState(page, "cards");
});

test("text after a call in the reasoning closes it and moves nothing that is read", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "First");
  (await model.nextReply()).finishWithText("A line of a long answer.\n\n".repeat(40));
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "Go");
  const thinks = await model.nextReply();
  thinks.sendReasoning("Let me look it up.");
  thinks.finishWithToolCalls([wireName("search"), "rust"]);
  const answers = await model.nextReply();
  const inside = latestReply(page).locator("details.reasoning [data-segment=tool]");
  await expect(inside).toHaveAttribute("data-tool-status", "done");
  const user = page.locator("article[data-role=user]").last();
  // The layout settles after the end first.
  let before = Number.NaN;
  await expect.poll(async () => {
    const last = before;
    await waitForScrollSettled(page);
    before = (await user.boundingBox())!.y;
    return Math.abs(before - last);
  }).toBeLessThan(0.5);
  const moved = async () => Math.abs((await user.boundingBox())!.y - before);
  answers.sendText("Found it.");
  await expect(textOf(latestReply(page)).last()).toHaveText("Found it.");
  await expect(latestReply(page).locator("details.reasoning")).toHaveJSProperty("open", false);
  // The place of a call depends only on earlier content, so the call stays in place.
  await expect(inside).toHaveCount(1);
  await expect.poll(moved).toBeLessThanOrEqual(1);
  answers.finish();
  await expectStatus(latestReply(page), "complete");
  await expect.poll(moved).toBeLessThanOrEqual(1);
  expect(tools.ran).toEqual(["search rust"]);
});
