// Ten journeys that people make in every chat, each with no more clicks and keys than the table in docs/comparison.md
// allows. The seconds are reported and not asserted.
// UX-51 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { TEST_MODEL, chooseModel, expectStatus, latestReply, messageBox, openPage, replies, sendButton, textOf } from "../../support/chat.ts";
import { textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";
import { GestureCounter } from "../../support/gestures.ts";
import { MODEL, type ModelServer } from "../../support/model_server.ts";
import { turn } from "../../support/reader.ts";
import { approvalPrompt, decisionButton, openChatWithTools, test as testWithTools, wireName } from "../../support/tools.ts";
import { addExchange } from "../../support/tree.ts";
import { editBox, holdConversation, turnHeading, userTurns, versionSwitcher, visibleTexts } from "../../support/turn_actions.ts";
import type { Turnleaf } from "../../support/turnleaf.ts";

/** Types into the element that has the focus and presses Enter. */
async function typeAndEnter(page: Page, text: string): Promise<void> {
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

/** Lets the model answer, and waits for the end of its reply. */
async function answerWith(page: Page, model: ModelServer, text: string): Promise<void> {
  (await model.nextReply()).finishWithText(text);
  await expect(textOf(latestReply(page)).last()).toHaveText(text);
  await expectStatus(latestReply(page), "complete");
}

/** Opens a new chat with the model server's model, ready to be typed in. */
async function openNewChat(page: Page): Promise<void> {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await expect(page.locator("#message")).toBeFocused();
}

/** Creates a chat of one exchange through the API. */
async function plantExchange(turnleaf: Turnleaf, model: ModelServer, question: string, answer: string): Promise<{ chat: string; reply: string }> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ provider: "openai", model: MODEL, title: question });
  const made = await fetch(`${turnleaf.url}/api/chats`, { method: "POST", headers, body });
  const { id: chat } = (await made.json()) as { id: string };
  const answering = model.nextReply().then((reply) => reply.finishWithText(answer));
  const reply = await addExchange(turnleaf, chat, question);
  await answering;
  return { chat, reply };
}

/** Edits the last message with its button; the model answers the new version. */
async function editLastMessage(page: Page, model: ModelServer, text: string, answer: string): Promise<void> {
  await userTurns(page).last().hover();
  await userTurns(page).last().getByRole("button", { name: "Edit your message" }).click();
  await expect(editBox(page)).toBeFocused();
  await page.keyboard.press("Control+a");
  await typeAndEnter(page, text);
  await answerWith(page, model, answer);
}

test("presses are counted, a typed text is one, and another page of the tab goes on counting", async ({ page }) => {
  const gestures = await GestureCounter.install(page);
  await openPage(page);
  await page.locator("h1").click();
  await gestures.start();
  expect(await gestures.count()).toEqual({ clicks: 0, keys: 0, high: 0 });
  await messageBox(page).click();
  await page.keyboard.type("Two words");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("梯度");
  const before = await gestures.count();
  expect([before.clicks, before.keys]).toEqual([1, 4]);
  await page.goto("/documents");
  await page.locator("h1").click();
  const after = await gestures.count();
  expect([after.clicks, after.keys]).toEqual([2, 4]);
});

test("1a: the first chat where a provider is configured", async ({ page, model }) => {
  const gestures = await GestureCounter.install(page);
  await openNewChat(page);
  await gestures.start();
  await typeAndEnter(page, "Name a tree");
  await answerWith(page, model, "An oak.");
  await gestures.expectWithin("1a");
});

test.describe("where nothing is configured", () => {
  test.use({ withProvider: false });

  test("1b: the first chat, with the provider connected on the page", async ({ page, model }) => {
    const gestures = await GestureCounter.install(page);
    await openPage(page);
    await gestures.start();
    await page.getByRole("link", { name: "Ollama" }).click();
    await expect(page.getByRole("form", { name: "Ollama" }).getByLabel("Address")).toBeFocused();
    await page.keyboard.press("Control+a");
    await typeAndEnter(page, model.environment.OPENAI_BASE_URL ?? "");
    await expect(page.locator("#main").getByText("Connected to Ollama · 1 model found")).toBeVisible();
    await expect(messageBox(page)).toBeFocused();
    await typeAndEnter(page, "Name a tree");
    await answerWith(page, model, "An oak.");
    await gestures.expectWithin("1b");
  });
});

test("2: a long answer is read from its beginning while it comes, then its end", async ({ page, model }) => {
  const paragraphs = Array.from({ length: 60 }, (_, at) => `Paragraph ${at + 1} of an answer that is longer than the screen.`);
  const paragraph = (number: number) => textOf(latestReply(page)).getByText(`Paragraph ${number} of`);
  const gestures = await GestureCounter.install(page);
  await openNewChat(page);
  await gestures.start();
  await typeAndEnter(page, "Write a lot");
  const reply = await model.nextReply();
  reply.sendText(paragraphs.slice(0, 40).join("\n\n"));
  await expect(paragraph(40)).toBeAttached();
  await expect(userTurns(page).last()).toBeInViewport();
  await expect(paragraph(1)).toBeInViewport();
  reply.sendText(`\n\n${paragraphs.slice(40).join("\n\n")}`);
  await expect(paragraph(60)).toBeAttached();
  await expect(paragraph(1)).toBeInViewport();
  await page.getByRole("button", { name: /^Go to latest/ }).click();
  await expect(paragraph(60)).toBeInViewport();
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await gestures.expectWithin("2");
});

test("3a: a message is edited, and its old answer read again", async ({ page, model }) => {
  const gestures = await GestureCounter.install(page);
  await holdConversation(page, model, 2);
  await gestures.start();
  await editLastMessage(page, model, "other", "b2");
  await versionSwitcher(userTurns(page).last()).getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await gestures.expectWithin("3a");
});

test("3b: both answers of an edited message side by side", async ({ page, model }) => {
  const gestures = await GestureCounter.install(page);
  await holdConversation(page, model, 2);
  await editLastMessage(page, model, "other", "b2");
  await gestures.start();
  await page.locator("#tree-button").click();
  const row = page.getByRole("tree", { name: "Chat tree" }).getByRole("treeitem", { name: /^You: q2/ });
  await row.getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("region", { name: "Selected message" }).getByRole("link", { name: "Compare with current" }).click();
  await expect(page.getByRole("heading", { name: "Compare branches" })).toBeFocused();
  await expect(page.locator("#panel").getByRole("group", { name: "Left" }).last()).toContainText("b2");
  await expect(page.locator("#panel").getByRole("group", { name: "Right" }).last()).toContainText("a2");
  await gestures.expectWithin("3b");
});

test("4: a chat continues with any model of a long list", async ({ page, model }) => {
  model.models = [MODEL, ...Array.from({ length: 20 }, (_, at) => `maker-${at + 1}`)];
  expect((await page.request.post("/api/providers/openai/test")).ok()).toBe(true);
  const gestures = await GestureCounter.install(page);
  await holdConversation(page, model, 1);
  await gestures.start();
  await page.getByRole("banner").getByRole("button", { name: /^Model:/ }).click();
  await page.getByRole("dialog").getByRole("option", { name: /maker.7/i }).click();
  await expect(messageBox(page)).toBeFocused();
  await typeAndEnter(page, "And you?");
  const reply = await model.nextReply();
  expect(reply.request.model).toBe("maker-7");
  reply.finishWithText("Fine.");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  await gestures.expectWithin("4");
});

test("5: an old message is found from another page by a word of it", async ({ page, model, turnleaf }) => {
  const { chat, reply } = await plantExchange(turnleaf, model, "What is a bud?", "An undeveloped shoot of a xylophyte.");
  await plantExchange(turnleaf, model, "What is a root?", "The part below.");
  const gestures = await GestureCounter.install(page);
  await openPage(page);
  await gestures.start();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search and commands" });
  await expect(palette.getByRole("combobox")).toBeFocused();
  await page.keyboard.type("xylophyte");
  const hit = palette.getByRole("group", { name: "Messages" }).getByRole("option");
  await expect(hit).toHaveCount(1);
  await expect(hit).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/c/${chat}\\?at=${reply}`));
  await expect(turn(page, reply)).toBeInViewport();
  await gestures.expectWithin("5");
});

test("6: a file is attached, and a passage of the answer quoted", async ({ page, model }) => {
  const gestures = await GestureCounter.install(page);
  // The first listener makes the browser hand file choosers to the test, which takes a moment.
  page.on("filechooser", () => {});
  await openNewChat(page);
  await gestures.start();
  await page.keyboard.type("Read this");
  const chooser = page.waitForEvent("filechooser");
  await page.locator("form.composer label[for=attach-files]").click();
  await (await chooser).setFiles([textFile("notes.txt", "Buds open in May.")]);
  await expect(page.locator(".attached-item[data-state=ready]")).toHaveCount(1);
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await answerWith(page, model, "They open in May.");
  const line = await textOf(latestReply(page)).locator("p").first().boundingBox();
  if (!line) throw new Error("the answer has no line");
  const middle = line.y + line.height / 2;
  await page.mouse.move(line.x + 1, middle);
  await page.mouse.down();
  await page.mouse.move(line.x + line.width - 2, middle, { steps: 5 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Quote", exact: true }).click();
  await expect(messageBox(page)).toHaveValue("> They open in May.\n\n");
  await expect(messageBox(page)).toBeFocused();
  await typeAndEnter(page, "Why");
  const reply = await model.nextReply();
  expect(reply.request.messages.at(-1).content).toBe("> They open in May.\n\nWhy");
  reply.finishWithText("It is warm.");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  await gestures.expectWithin("6");
});

testWithTools("7: a call of a tool is approved", async ({ page, model, turnleaf, tools }) => {
  const gestures = await GestureCounter.install(page);
  await openChatWithTools(page, turnleaf);
  await expect(messageBox(page)).toBeFocused();
  await gestures.start();
  await typeAndEnter(page, "Delete it");
  (await model.nextReply()).finishWithToolCalls([wireName("delete"), "a.txt"]);
  await expect(approvalPrompt(page)).toContainText("a.txt");
  await decisionButton(page, "Allow once").click();
  await answerWith(page, model, "Done.");
  expect(tools.ran).toEqual(["delete a.txt"]);
  await gestures.expectWithin("7");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("8: a new chat is begun, and another one opened and asked for a new answer", async ({ page, model, turnleaf }) => {
    const { chat } = await plantExchange(turnleaf, model, "What is a bud?", "A shoot.");
    const gestures = await GestureCounter.install(page);
    await openPage(page);
    await chooseModel(page, TEST_MODEL);
    await gestures.start();
    await messageBox(page).tap();
    await page.keyboard.type("Name a tree");
    await sendButton(page).tap();
    await answerWith(page, model, "An oak.");
    await page.locator(".sidebar-button").tap();
    await page.locator(`#chats .chat-link[href="/c/${chat}"]`).tap();
    await expect.poll(() => visibleTexts(page)).toEqual(["What is a bud?", "A shoot."]);
    await latestReply(page).getByRole("button", { name: "Retry", exact: true }).tap();
    await answerWith(page, model, "A young leaf.");
    await expect(versionSwitcher(latestReply(page))).toContainText("2/2");
    await gestures.expectWithin("8");
  });
});

test("9: with keys alone a message is sent and edited, its old version shown, and a new chat begun", async ({ page, model }) => {
  const gestures = await GestureCounter.install(page);
  await openNewChat(page);
  await gestures.start();
  await typeAndEnter(page, "q1");
  await answerWith(page, model, "a1");
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(editBox(page)).toBeFocused();
  await page.keyboard.press("Control+a");
  await typeAndEnter(page, "other");
  await answerWith(page, model, "b1");
  await expect(versionSwitcher(userTurns(page).first())).toContainText("2/2");
  await expect(turnHeading(userTurns(page).first())).toBeFocused();
  await page.keyboard.press("Alt+ArrowLeft");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await page.keyboard.press("Control+Shift+O");
  await expect(userTurns(page)).toHaveCount(0);
  await expect(messageBox(page)).toBeFocused();
  await gestures.expectWithin("9");
  expect((await gestures.count()).clicks).toBe(0);
});

test.describe("in a Chinese browser", () => {
  test.use({ locale: "zh-CN" });

  test("10: a Chinese answer is found again by a word of two characters, in a Chinese interface", async ({ page, model }) => {
    const gestures = await GestureCounter.install(page);
    await openNewChat(page);
    await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
    await gestures.start();
    await typeAndEnter(page, "什么是梯度");
    await answerWith(page, model, "指向上升最快的方向。");
    const chat = new URL(page.url()).pathname;
    await page.keyboard.press("Control+Shift+O");
    await expect(userTurns(page)).toHaveCount(0);
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog");
    await expect(palette.getByRole("combobox")).toBeFocused();
    await page.keyboard.type("上升");
    const hit = palette.getByRole("option").filter({ has: page.locator("mark") });
    await expect(hit).toHaveCount(1);
    await expect(hit).toHaveAttribute("aria-selected", "true");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`${chat}\\?at=`));
    await expect(latestReply(page)).toBeInViewport();
    await gestures.expectWithin("10");
  });
});
