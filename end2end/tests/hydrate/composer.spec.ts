// The message box: drafts stay with their chat; which keys send and which do not.
// UX-20 of docs/acceptance.md.
import { startChat, chooseModel, expectStatus, latestReply, messageBox, openPage, replies, sendMessage, stopButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { holdResponses, visibleTexts } from "../../support/turn_actions.ts";

test("a draft stays with its chat", async ({ page, model }) => {
  const paths: string[] = [];
  for (const name of ["Apples", "Pears"]) {
    await startChat(page, name);
    (await model.nextReply()).finishWithText(name);
    await expectStatus(latestReply(page), "complete");
    paths.push(new URL(page.url()).pathname);
  }
  const chats = page.getByRole("navigation", { name: "Chats" });
  await messageBox(page).fill("about pears");
  await chats.getByRole("link", { name: /Apples/ }).click();
  await expect(page).toHaveURL(new RegExp(paths[0]!));
  await expect(messageBox(page)).toHaveValue("");
  await messageBox(page).fill("about apples");
  await chats.getByRole("link", { name: /Pears/ }).click();
  await expect(page).toHaveURL(new RegExp(paths[1]!));
  await expect(messageBox(page)).toHaveValue("about pears");
  await openPage(page, paths[0]);
  await expect(messageBox(page)).toHaveValue("about apples");
});

test("a draft outlives a reload", async ({ page }) => {
  await openPage(page);
  await messageBox(page).fill("</textarea><script>window.__xss = 1</script> & half a thought");
  await messageBox(page).blur();
  await page.reload();
  await expect(messageBox(page)).toHaveValue("</textarea><script>window.__xss = 1</script> & half a thought");
  expect(await page.evaluate(() => "__xss" in window)).toBe(false);
});

test("a draft saved after the page was requested is in it", async ({ page }) => {
  await openPage(page);
  const saving = await holdResponses(page, "save_draft");
  await messageBox(page).fill("half a thought");
  await messageBox(page).blur();
  await saving.requested;
  await page.route((url) => url.pathname === "/", async (route) => {
    const response = await route.fetch();
    const stored = page.waitForResponse(/save_draft/);
    saving.release();
    await stored;
    await route.fulfill({ response });
  }, { times: 1 });
  await page.reload();
  await expect(messageBox(page)).toHaveValue("half a thought");
});

test("Enter that chooses a word of an input method sends nothing", async ({ page, model }) => {
  await openPage(page);
  await messageBox(page).fill("ni hao");
  await messageBox(page).dispatchEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true });
  await messageBox(page).dispatchEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true });
  await expect(messageBox(page)).toHaveValue("ni hao");
  await messageBox(page).pressSequentially(" ma");
  await messageBox(page).press("Enter");
  const reply = await model.nextReply();
  reply.sendText("hao");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await expect(page.locator("article[data-role=user]")).toHaveCount(1);
  await expect(page.locator("article[data-role=user]")).toContainText("ni hao ma");
  expect(model.requestCount).toBe(1);
});

test("the keyboard alone sends and stops", async ({ page, model }) => {
  await openPage(page);
  await page.keyboard.type("first line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  await page.keyboard.press("Enter");
  const reply = await model.nextReply();
  expect(reply.request.messages.at(-1).content).toContain("first line\nsecond line");
  reply.sendText("some words");
  await expect(textOf(latestReply(page))).toHaveText("some words");
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Control+Shift+Backspace");
  await expectStatus(latestReply(page), "cancelled");
  await expect(messageBox(page)).toBeFocused();
});

test("the button that stops is reached with Tab", async ({ page, model }) => {
  await openPage(page);
  await page.keyboard.type("go");
  await page.keyboard.press("Enter");
  const reply = await model.nextReply();
  reply.sendText("going");
  // The new chat has a Stop button, too, until its page becomes that of the chat, whose box then has the focus.
  await expect(textOf(latestReply(page))).toHaveText("going");
  await expect(stopButton(page)).toBeVisible();
  await expect(messageBox(page)).toBeFocused();
  for (let steps = 0; steps < 10 && !(await stopButton(page).evaluate((button) => button === document.activeElement)); steps += 1) {
    await page.keyboard.press("Tab");
  }
  await expect(stopButton(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await expectStatus(latestReply(page), "cancelled");
});

test("the model stays with the branch that was begun with it", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, "openai/test-model");
  await messageBox(page).fill("Keep");
  await messageBox(page).press("Enter");
  (await model.nextReply()).finishWithText("Kept.");
  await expectStatus(latestReply(page), "complete");
  await expect(page.locator("[data-branch-id]")).toContainText("test-model");
  await expect(replies(page)).toHaveCount(1);
});

test("a message is sent after its draft is saved, and at once where the page is hidden", async ({ page, model }) => {
  await startChat(page, "q1");
  (await model.nextReply()).finishWithText("a1");
  await expectStatus(latestReply(page), "complete");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname.split("/").at(-1)!));
  const held = async (words: string) => {
    const saving = await holdResponses(page, "save_draft");
    await messageBox(page).fill(words);
    await saving.requested;
    requests.length = 0;
    await messageBox(page).press("Enter");
    await expect(messageBox(page)).toHaveValue("");
    return saving;
  };
  const saving = await held("q2");
  expect(requests).not.toContain("send_message");
  saving.release();
  (await model.nextReply()).finishWithText("a2");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await expectStatus(latestReply(page), "complete");
  await page.unrouteAll();

  const late = await held("q3");
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { get: () => "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  (await model.nextReply()).finishWithText("a3");
  late.release();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
});

test("a draft that the server gets after its message does not come back", async ({ page, context, model }) => {
  await startChat(page, "q1");
  (await model.nextReply()).finishWithText("a1");
  await expectStatus(latestReply(page), "complete");
  let [bring, begun] = [() => {}, () => {}];
  const late = new Promise<void>((done) => (bring = done));
  const isBegun = new Promise<void>((done) => (begun = done));
  await page.route("**/api/page/save_draft", async (route) => {
    begun();
    await late;
    await route.continue();
  }, { times: 1 });
  await messageBox(page).fill("q2");
  await isBegun;
  await messageBox(page).press("Enter");
  (await model.nextReply()).finishWithText("a2");
  await expectStatus(latestReply(page), "complete");
  const stored = page.waitForResponse((response) => response.url().endsWith("save_draft") && (response.request().postData() ?? "").includes("q2"));
  bring();
  await stored;
  await expect(messageBox(page)).toHaveValue("");
  const again = await context.newPage();
  await expect(async () => {
    await again.goto(new URL(page.url()).pathname);
    await expect(messageBox(again)).toHaveValue("", { timeout: 500 });
    await expect(again.locator(".chat-link").first()).not.toContainText("Draft", { timeout: 500 });
  }).toPass();
});

test("a message's error stays when another tab's draft arrives", async ({ page, context, model, watch }) => {
  watch.expect(/status of 500.*send_message/);
  await startChat(page, "q1");
  (await model.nextReply()).finishWithText("a1");
  await expectStatus(latestReply(page), "complete");
  await page.route("**/api/page/send_message", (route) => route.fulfill({ status: 500, contentType: "text/plain", body: "no" }));
  await sendMessage(page, "half a thought");
  const problem = page.locator("#message-problem");
  await expect(problem).not.toBeEmpty();
  const message = await problem.textContent();
  const other = await context.newPage();
  await openPage(other, page.url());
  await expect(messageBox(other)).toHaveValue("half a thought");
  await messageBox(other).press("End");
  await messageBox(other).pressSequentially(", and the rest");
  await expect(messageBox(page)).toHaveValue("half a thought, and the rest");
  await expect(problem).toHaveText(message ?? "");
  // Typing clears the error.
  await messageBox(page).pressSequentially("!");
  await expect(problem).toBeEmpty();
});

test("the thinking level is fully readable on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openPage(page);
  const level = page.getByRole("combobox", { name: "Thinking" });
  for (const word of await level.locator("option").allTextContents()) {
    await level.selectOption({ label: word });
    const room = await level.evaluate((select: HTMLSelectElement) => {
      const words = document.createElement("span");
      words.style.cssText = `position: absolute; white-space: nowrap; font: ${getComputedStyle(select).font}`;
      words.textContent = select.selectedOptions[0]!.text;
      document.body.append(words);
      const style = getComputedStyle(select);
      const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - words.getBoundingClientRect().width;
      words.remove();
      return room;
    });
    expect(room, word).toBeGreaterThanOrEqual(-0.5);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
