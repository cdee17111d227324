// Pages of tool servers (MCP Apps): what they are told, what they may ask for, and what they cannot reach.
import type { FrameLocator, Page } from "@playwright/test";

import { expectStatus, latestReply, messageBox, sendMessage, waitForHydration } from "../../support/chat.ts";
import { Elsewhere } from "../../support/elsewhere.ts";
import { expect } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import type { Turnleaf } from "../../support/turnleaf.ts";
import { decisionButton, openChatWithTools, test as base, toolCards, toolMessages, wireName } from "../../support/tools.ts";
import { userTurns } from "../../support/turn_actions.ts";

const test = base.extend<{ elsewhere: Elsewhere }>({
  elsewhere: async ({ watch }, use) => {
    const elsewhere = await Elsewhere.start();
    elsewhere.expectRefusals(watch);
    await use(elsewhere);
    elsewhere.stop();
  },
});

test.use({ withPages: true });

const frameElement = (page: Page) => page.locator("iframe.sandboxed-frame");
const board = (page: Page): FrameLocator => page.frameLocator("iframe.sandboxed-frame");

/** Has the model call the tool with the page, allows it, and ends the reply. */
async function showBoard(page: Page, model: ModelServer, turnleaf: Turnleaf, elsewhere: Elsewhere): Promise<any> {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("board"), elsewhere.url]);
  await expect(frameElement(page)).toHaveCount(0);
  await decisionButton(page, "Allow once").click();
  const reply = await model.nextReply();
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  return reply.request;
}

test("a page is shown with its call after the approval, and after a reload without its server", async ({ page, model, turnleaf, tools, elsewhere }) => {
  const request = await showBoard(page, model, turnleaf, elsewhere);
  expect(toolMessages(request)[0]!.content).toContain("A board.");
  const names = request.tools.map((tool: any) => tool.function.name);
  expect(names).toContain(wireName("board"));
  expect(names).not.toContain(wireName("refresh"));
  for (const _ of ["live", "after a reload"]) {
    await expect(frameElement(page)).toHaveAttribute("title", "View from Files");
    await expect(board(page).locator("#input")).toHaveText(JSON.stringify({ text: elsewhere.url }));
    await expect(board(page).locator("#result")).toContainText(`"structuredContent":{"cards":["${elsewhere.url}"]}`);
    await expect(board(page).locator("#host")).toContainText('"theme":"light"');
    // The page asked for this height.
    await expect.poll(() => frameElement(page).evaluate((frame) => frame.clientHeight)).toBe(421);
    await page.reload();
    await waitForHydration(page);
  }
  expect(tools.ran).toEqual([`board ${elsewhere.url}`, "page"]);
});

test("a page reaches neither Turnleaf nor the network", async ({ page, model, turnleaf, elsewhere }) => {
  await showBoard(page, model, turnleaf, elsewhere);
  await expect(board(page).locator("#reached")).toHaveText("[]");
  // Not even by going there itself.
  await board(page).locator("#leave").click();
  await expect(board(page).locator("#leave")).toHaveCount(0);
  await messageBox(page).fill("Still here");
  expect(page.url()).toContain(turnleaf.url);
  expect(elsewhere.arrived).toEqual([]);
});

test("a page asks for links, writes into the message box, and calls tools that need no approval", async ({ page, context, model, turnleaf, tools, elsewhere, watch }) => {
  // The tool that needs an approval.
  watch.expect(/404 .*\/view\/call/);
  await showBoard(page, model, turnleaf, elsewhere);
  const answer = board(page).locator("#answer");
  await expect(board(page).locator("#reached")).toHaveText("[]");
  const opened = context.waitForEvent("page");
  await board(page).locator("#link").click();
  const asking = await opened;
  await expect(asking).toHaveURL(/\/leave\?to=https%3A%2F%2Fboard\.example%2F%3Fq%3D1&turn=/);
  await expect(asking.getByText("board.example").first()).toBeVisible();
  await asking.close();
  await expect(answer).toHaveText("{}");
  await board(page).locator("#script-link").click();
  await expect(answer).toContainText('"code":-32602');
  await board(page).locator("#write").click();
  await expect(messageBox(page)).toHaveValue("Written by the board.");
  await expect(answer).toHaveText("{}");
  // A key on its way to the page does not send the text.
  await expect(messageBox(page)).not.toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("#say")).toHaveText("The view wrote into the message box.");
  await expect(userTurns(page)).toHaveCount(1);
  await board(page).locator("#tool").click();
  await expect(answer).toContainText("without an approval");
  await board(page).locator("#search").click();
  await expect(answer).toContainText("Found leaves.");
  await board(page).locator("#read").click();
  await expect(answer).toContainText("# Notes of today");
  await board(page).locator("#unknown").click();
  await expect(answer).toContainText('"code":-32601');
  expect(tools.ran).toEqual([`board ${elsewhere.url}`, "page", "search leaves"]);
  await toolCards(page).first().getByRole("link", { name: "Open on its own page" }).click();
  const calls = page.locator(".view-calls > li");
  await expect(calls).toHaveCount(2);
  await expect(calls.first()).toContainText("resources/read");
  await calls.last().locator("summary").click();
  await expect(calls.last()).toContainText("Found leaves.");
});

test("a frame beside that of a call is not answered, although it says the same", async ({ page, model, turnleaf, tools, elsewhere }) => {
  await showBoard(page, model, turnleaf, elsewhere);
  await expect(board(page).locator("#reached")).toHaveText("[]");
  // The same document, which sends the same messages, in a frame that belongs to no call.
  await frameElement(page).evaluate((frame) => {
    const beside = frame.cloneNode() as HTMLIFrameElement;
    for (const name of ["class", "loading", "data-call"]) beside.removeAttribute(name);
    beside.id = "beside";
    const loaded = new Promise((done) => beside.addEventListener("load", done, { once: true }));
    document.body.append(beside);
    return loaded.then(() => {});
  });
  const beside = page.frameLocator("#beside");
  await beside.locator("#search").dispatchEvent("click");
  await expect(beside.locator("#answer")).toHaveText("null");
  // Messages are handled in order: an answer to the other frame would be there before this one.
  await board(page).locator("#search").click();
  await expect(board(page).locator("#answer")).toContainText("Found leaves.");
  await expect(beside.locator("#answer")).toHaveText("null");
  await expect(beside.locator("#host")).toBeEmpty();
  expect(tools.ran).toEqual([`board ${elsewhere.url}`, "page", "search leaves"]);
});

test("what a page wants the model to know is a file of the next message, which can be removed", async ({ page, model, turnleaf, elsewhere }) => {
  await showBoard(page, model, turnleaf, elsewhere);
  await expect(board(page).locator("#reached")).toHaveText("[]");
  const files = page.locator("form.composer .attached-item");
  const answer = board(page).locator("#answer");
  await board(page).locator("#context-shared").click();
  await expect(answer).toContainText('"code":-32602');
  for (const button of ["#context", "#context-again", "#context"]) {
    await board(page).locator(button).click();
    await expect(answer).toHaveText("{}");
    await expect(files).toHaveCount(1);
    await expect(files).toHaveAttribute("data-state", "ready");
    await expect(files).toContainText("View from Files");
  }
  await files.getByRole("button", { name: /Remove/ }).click();
  await expect(files).toHaveCount(0);
  await board(page).locator("#context-again").click();
  await expect(files).toHaveAttribute("data-state", "ready");
  await sendMessage(page, "And now?");
  const reply = await model.nextReply();
  expect(JSON.stringify(reply.request.messages.at(-1).content)).toContain("cards");
  reply.finishWithText("Two.");
  await expect(userTurns(page).last()).toContainText("View from Files");
});

test("the page of a call that was stopped is told so", async ({ page, model, turnleaf, tools, elsewhere }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("wait"), elsewhere.url]);
  await decisionButton(page, "Allow once").click();
  // The page is read while the call runs.
  await expect.poll(() => tools.ran).toContain("page");
  await page.waitForTimeout(500);
  await toolCards(page).first().getByRole("button", { name: "Stop this tool" }).click();
  (await model.nextReply()).finishWithText("It was stopped.");
  await expect(board(page).locator("#result")).toContainText("The person stopped the call.");
});

test("a page takes neither the focus nor the message box from whoever writes", async ({ page, model, turnleaf, elsewhere }) => {
  await showBoard(page, model, turnleaf, elsewhere);
  await expect(board(page).locator("#reached")).toHaveText("[]");
  await messageBox(page).click();
  const typing = messageBox(page).pressSequentially("a".repeat(60), { delay: 50 });
  await expect(messageBox(page)).toHaveValue(/^a/);
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(board(page).locator("#unasked")).toContainText('"code":-32000');
  await typing;
  await expect(messageBox(page)).toBeFocused();
  // A key may have been on its way to the page.
  await expect(messageBox(page)).toHaveValue(/^a{50,60}$/);
});

test("a page can be hidden, follows the theme, and has a page of its own", async ({ page, model, turnleaf, elsewhere }) => {
  await showBoard(page, model, turnleaf, elsewhere);
  await expect(board(page).locator("#reached")).toHaveText("[]");
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(board(page).locator("#host")).toContainText('"theme":"dark"');
  await toolCards(page).first().getByText("View from Files").click();
  await expect(frameElement(page)).toBeHidden();
  await toolCards(page).first().getByText("View from Files").click();
  await toolCards(page).first().getByRole("link", { name: "Open on its own page" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Board" })).toBeVisible();
  await expect(board(page).locator("#input")).toHaveText(JSON.stringify({ text: elsewhere.url }));
  // Whoever visits the document itself gets the page around it.
  const document = await frameElement(page).getAttribute("src");
  await page.goto(document!);
  await expect(page).toHaveURL(/\/view$/);
});
