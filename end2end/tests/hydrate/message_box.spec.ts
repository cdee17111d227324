// The message box: focus after navigation, slash commands, rich text, input methods, height, and the state while a
// message is being sent.
// UX-03, UX-16, UX-19, UX-21, UX-22, UX-23, UX-27 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { branchModelChip, startChat, chooseModel, expectStatus, waitForHydration, latestReply, messageBox, openPage, pickModel, sendMessage, sendButton, stopButton, TEST_MODEL, textOf } from "../../support/chat.ts";
import { attachFiles, attachmentChips, textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";
import { turnHeading, holdResponses, userTurns } from "../../support/turn_actions.ts";

const commands = (page: Page) => page.getByRole("listbox", { name: "Commands" });

/**
 * Pastes as a browser does: HTML with its plain text, `plainly` by Ctrl+Shift+V. The keys are not pressed for real,
 * because that would also paste the clipboard of another test.
 */
async function paste(page: Page, html: string, words: string, plainly = false): Promise<void> {
  await messageBox(page).evaluate((box: HTMLTextAreaElement, { html, words, plainly }) => {
    const keys = { key: "V", ctrlKey: true, shiftKey: true, bubbles: true, cancelable: true };
    if (plainly) box.dispatchEvent(new KeyboardEvent("keydown", keys));
    const data = new DataTransfer();
    data.setData("text/html", html);
    data.setData("text/plain", words);
    const goesOn = box.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data }));
    if (goesOn) document.execCommand("insertText", false, words);
  }, { html, words, plainly });
}

test("opening a chat from the list focuses the message box, by mouse and by keys", async ({ page, turnleaf }) => {
  const made: string[] = [];
  for (const title of ["Apples", "Pears"]) {
    const chat = await (await page.request.post(`${turnleaf.url}/api/chats`, { data: { title } })).json();
    made.push(chat.id);
  }
  await openPage(page, `/c/${made[0]}`);
  const chats = page.getByRole("navigation", { name: "Chats" });
  await chats.getByRole("link", { name: "Pears" }).click();
  await expect(page).toHaveURL(new RegExp(made[1]!));
  await expect(messageBox(page)).toBeFocused();
  await expect(page.locator("#say")).toContainText("Pears");
  await chats.getByRole("link", { name: "Apples" }).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(made[0]!));
  await expect(messageBox(page)).toBeFocused();
  await chats.getByRole("link", { name: "New chat" }).first().click();
  await expect(page.getByRole("heading", { name: "What would you like to talk about?" })).toBeVisible();
  await expect(messageBox(page)).toBeFocused();
});

test("a starter fills the box as if it was typed, and the newest chats are listed with their days", async ({ page, model }) => {
  await startChat(page, "Apples");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  await page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: "New chat" }).first().click();
  await page.getByRole("list", { name: "Ideas to start with" }).getByRole("link", { name: "Help me write…" }).click();
  await expect(messageBox(page)).toHaveValue("Help me write ");
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Control+z");
  await expect(messageBox(page)).toHaveValue("");
  const recent = page.getByRole("region", { name: "Continue where you left off" });
  await recent.getByRole("link", { name: "Apples Today" }).click();
  await expect(page).toHaveURL(/\/c\//);
});

test("the menu of commands scrolls with the arrow keys", async ({ page, model }) => {
  await page.setViewportSize({ width: 390, height: 480 });
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  const box = messageBox(page);
  const options = commands(page).getByRole("option");
  await box.pressSequentially("/");
  await expect(options.last()).not.toBeInViewport({ ratio: 0.9 });
  await box.press("ArrowUp");
  await expect(options.last()).toHaveAttribute("aria-selected", "true");
  await expect(options.last()).toBeInViewport({ ratio: 0.9 });
  await box.press("ArrowDown");
  await expect(options.first()).toHaveAttribute("aria-selected", "true");
  await expect(options.first()).toBeInViewport({ ratio: 0.9 });
});

test("a command that is typed before the menu is loaded runs once it is", async ({ page }) => {
  let load = () => {};
  const isReleased = new Promise<void>((resolve) => (load = resolve));
  await page.route("**/split_deeds.wasm", async (route) => {
    await isReleased;
    await route.continue();
  });
  await openPage(page);
  const box = messageBox(page);
  await box.pressSequentially("all of this");
  await box.press("Shift+Enter");
  await box.pressSequentially("/clear");
  await box.press("Enter");
  await expect(box).toHaveValue("all of this\n/clear");
  load();
  await expect(box).toHaveValue("");
  await expect(box).toBeFocused();
});

test("a slash at the begin of a line offers commands, by keys and by mouse", async ({ page, model }) => {
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  const box = messageBox(page);
  const list = commands(page);
  await box.pressSequentially("and/or");
  await expect(list).toHaveCount(0);
  await box.fill("kept\n");
  await box.press("Control+End");
  await box.pressSequentially("/");
  await expect(list.getByRole("option")).toHaveText([/Switch model in a new branch/, /Attach files/, /Insert from a server/, /Find in chat/, /Chat tree/, /Chat settings/, /Export chat/, /New chat/, /Clear message box/]);
  expect(await violations(page)).toEqual([]);
  await box.pressSequentially("fin");
  await expect(list.getByRole("option")).toHaveText([/Find in chat/]);
  await box.dispatchEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true });
  await expect(list).toBeVisible();
  await box.press("Enter");
  await expect(page.getByRole("searchbox", { name: "Text to find" })).toBeFocused();
  await expect(box).toHaveValue("kept\n");
  await page.keyboard.press("Escape");

  await box.press("Control+End");
  await box.pressSequentially("/mod");
  await box.press("Escape");
  await expect(list).toHaveCount(0);
  await expect(box).toHaveValue("kept\n/mod");
  await box.fill("");
  await box.pressSequentially("/usr/bin");
  await expect(list).toHaveCount(0);

  await box.fill("");
  await box.pressSequentially("/");
  await list.getByRole("option", { name: "Switch model in a new branch" }).click();
  await expect(page.getByRole("dialog", { name: "Switch model in a new branch" })).toBeVisible();
  await page.keyboard.press("Escape");

  await box.fill("all of this");
  await box.press("Control+End");
  await box.press("Shift+Enter");
  await box.pressSequentially("/clear");
  await box.press("Enter");
  await expect(box).toHaveValue("");
  await expect(box).toBeFocused();
  await box.press("Control+z");
  await expect(box).toHaveValue("all of this\n/clear");
  await box.fill("");
  await box.pressSequentially("/exp");
  await box.press("Enter");
  await expect(page.getByRole("heading", { name: "Export chat" })).toBeFocused();
  await page.keyboard.press("Escape");
  await box.fill("");
  await box.pressSequentially("/new");
  await box.press("Enter");
  await expect(page).toHaveURL(/\/$/);
  await expect(userTurns(page)).toHaveCount(0);
  expect(model.requestCount).toBe(1);
});

test("rich text is pasted as Markdown, words alone as they are, and undo takes it out", async ({ page, watch }) => {
  // The pasted HTML is parsed in an inert document; the browser reports each inline handler in it as blocked.
  watch.expect(/inline event handler|script-src-attr/);
  await openPage(page);
  const box = messageBox(page);
  await box.pressSequentially("See ");
  const html = "<h2>A plan</h2><ul><li>one</li><li><b>two</b></li></ul><p>and <a href='https://example.org/'>more</a></p><script>window.__xss = 1</script><img src=x onerror='window.__xss = 1'>";
  await paste(page, html, "A plan one two and more");
  await expect(box).toHaveValue("See \n\n## A plan\n\n- one\n- **two**\n\nand [more](https://example.org/)");
  expect(await page.evaluate(() => "__xss" in window)).toBe(false);
  // Undo first restores the plain text, then removes it.
  await box.press("Control+z");
  await expect(box).toHaveValue("See A plan one two and more");
  await box.press("Control+z");
  await expect(box).toHaveValue("See ");
  await paste(page, "<pre><code class='language-rust'>foo</code></pre>", "foo");
  await expect(box).toHaveValue("See `foo`");
  await box.fill("See ");
  await paste(page, "<div style='color: red'>let x = 1;</div>", "let x = 1;");
  await expect(box).toHaveValue("See let x = 1;");
  await box.fill("");
  await box.focus();
  await paste(page, html, "A plan", true);
  await expect(box).toHaveValue("A plan");
  await expect(userTurns(page)).toHaveCount(0);
});

test("the Enter of an input method sends nothing, in the order of every browser", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await messageBox(page).focus();
  await messageBox(page).evaluate((box: HTMLTextAreaElement) => {
    const key = (init: KeyboardEventInit) => box.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, key: "Enter", ...init }));
    const compose = () => {
      box.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
      box.value = "nihao";
      box.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
    };
    const end = () => {
      box.value = "你好";
      box.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "你好" }));
      box.dispatchEvent(new InputEvent("input", { bubbles: true }));
    };
    // Chrome and Firefox send Enter inside the composition, Safari after it, marked or not.
    compose();
    key({ isComposing: true });
    end();
    compose();
    end();
    key({ keyCode: 229 } as KeyboardEventInit);
    compose();
    end();
    key({});
  });
  await expect(messageBox(page)).toHaveValue("你好");
  await expect(userTurns(page)).toHaveCount(0);
  await messageBox(page).press("Enter");
  (await model.nextReply()).finishWithText("好");
  await expectStatus(latestReply(page), "complete");
  expect(model.requestCount).toBe(1);
});

test("the message box can be expanded to the height of the page, and collapsed", async ({ page }) => {
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await openPage(page);
    const box = messageBox(page);
    const higher = page.getByRole("button", { name: "Expand message box" });
    await expect(higher).toHaveCount(0);
    await box.fill("one\ntwo\nthree\nfour");
    const before = (await box.boundingBox())!.height;
    await expect(higher).toHaveAttribute("aria-pressed", "false");
    await higher.click();
    await expect(higher).toHaveAttribute("aria-pressed", "true");
    await expect(box).toBeFocused();
    expect((await box.boundingBox())!.height).toBeGreaterThan(400);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await higher.click();
    await expect.poll(async () => (await box.boundingBox())!.height).toBeLessThanOrEqual(before + 1);
    await box.fill("");
  }
});

test("before the page is live the message box fits on 320 px", async ({ page, model }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await startChat(page, "one");
  const reply = await model.nextReply();
  reply.sendText("half");
  await expect(textOf(latestReply(page))).toHaveText("half");
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route("**/*.wasm", async (route) => {
    await released;
    await route.continue().catch(() => undefined);
  });
  for (const address of ["/", page.url()]) {
    await page.goto(address, { waitUntil: "domcontentloaded" });
    await expect(messageBox(page)).toBeVisible();
    expect(await page.locator("html").getAttribute("data-hydrated"), "it is not live").toBeNull();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow, address).toBeLessThanOrEqual(0);
  }
  release();
  reply.finish();
});

test("what has the focus is never behind the message box, however high it is", async ({ page, model }) => {
  await startChat(page, "q");
  (await model.nextReply()).finishWithText("a");
  await expectStatus(latestReply(page), "complete");
  const padding = () => page.evaluate(() => parseFloat(getComputedStyle(document.documentElement).scrollPaddingBlockEnd));
  const place = async () => (await page.locator(".composer-place").boundingBox())!.height;
  await latestReply(page).getByRole("button").last().focus();
  await expect.poll(async () => Math.abs((await padding()) - (await place()))).toBeLessThanOrEqual(1);
  // The message box itself cannot be covered, and the page stays where it is while somebody types.
  await messageBox(page).fill("line\n".repeat(12));
  await expect.poll(padding).toBe(0);
  await latestReply(page).getByRole("button").last().focus();
  await expect.poll(async () => Math.abs((await padding()) - (await place()))).toBeLessThanOrEqual(1);
  expect(await place()).toBeGreaterThan(200);
});

test("a message is on screen and out of the box before the server has answered", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  const held = await holdResponses(page, "send_message");
  await messageBox(page).fill("Seen at once");
  const took = await page.evaluate(async () => {
    const start = performance.now();
    document.querySelector<HTMLElement>("button.send")!.click();
    while (!document.querySelector(".sending-text")) await new Promise(requestAnimationFrame);
    return performance.now() - start;
  });
  expect(took).toBeLessThan(1_000);
  await expect(page.locator(".sending-text")).toHaveText("Seen at once");
  await expect(messageBox(page)).toHaveValue("");
  await expect(messageBox(page)).toBeFocused();
  held.release();
  (await model.nextReply()).finishWithText("And answered.");
  await expectStatus(latestReply(page), "complete");
  await expect(userTurns(page)).toHaveCount(1);
});

test("a reply can be stopped before the server has returned its id", async ({ page, model }) => {
  await startChat(page, "Before");
  (await model.nextReply()).finishWithText("Said.");
  await expectStatus(latestReply(page), "complete");
  const held = await holdResponses(page, "send_message");
  await sendMessage(page, "Stop this");
  await held.requested;
  await stopButton(page).click();
  await expect(page.getByRole("button", { name: "Stopping…" })).toBeVisible();
  await messageBox(page).press("Enter");
  held.release();
  await expect(userTurns(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "cancelled");
  await expect(sendButton(page)).toBeVisible();
  // The same on a new chat, whose page is replaced after the response.
  await page.unroute("**/api/page/send_message");
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  const again = await holdResponses(page, "send_message");
  await messageBox(page).fill("And this");
  await messageBox(page).press("Enter");
  await again.requested;
  await page.keyboard.press("Control+Shift+Backspace");
  again.release();
  await expect(page).toHaveURL(/\/c\//);
  await expectStatus(latestReply(page), "cancelled");
});

test("Esc twice stops, once on a message, and Ctrl+Shift+Enter stops and sends", async ({ page, model }) => {
  await startChat(page, "one");
  (await model.nextReply()).sendText("running");
  await expect(textOf(latestReply(page))).toHaveText("running");
  await messageBox(page).press("Escape");
  await messageBox(page).press("Escape");
  await expectStatus(latestReply(page), "cancelled");
  await sendMessage(page, "two");
  (await model.nextReply()).sendText("running too");
  await expect(textOf(latestReply(page))).toHaveText("running too");
  await turnHeading(latestReply(page)).focus();
  await page.keyboard.press("Escape");
  await expectStatus(latestReply(page), "cancelled");
  await sendMessage(page, "three");
  (await model.nextReply()).sendText("still running");
  await expect(textOf(latestReply(page))).toHaveText("still running");
  const stopped = latestReply(page);
  const id = await stopped.getAttribute("data-turn-id");
  await messageBox(page).fill("four");
  await messageBox(page).press("Control+Shift+Enter");
  (await model.nextReply()).finishWithText("the new one");
  await expect(textOf(latestReply(page))).toHaveText("the new one");
  await expectStatus(page.locator(`article[data-turn-id="${id}"]`), "cancelled");
  await expect(userTurns(page)).toHaveCount(4);
});

test("text, attachments and choices made while a reply runs survive a reload", async ({ page, model }) => {
  await startChat(page, "q");
  const reply = await model.nextReply();
  reply.sendText("on and on");
  await expect(textOf(latestReply(page))).toHaveText("on and on");
  const saved = page.waitForResponse((answer) => answer.url().includes("save_draft") && (answer.request().postData() ?? "").includes("demo"));
  await attachFiles(page, textFile("notes.txt", "of mine"));
  await expect(attachmentChips(page)).toHaveText([/notes\.txt/]);
  await messageBox(page).fill("for later");
  await branchModelChip(page).click();
  await pickModel(page, "plain");
  await saved;
  await page.reload();
  await waitForHydration(page);
  await expect(messageBox(page)).toHaveValue("for later");
  await expect(attachmentChips(page)).toHaveText([/notes\.txt/]);
  await expect(branchModelChip(page)).toContainText("new branch");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
});
