// Actions on a turn: with the mouse, with the keyboard only, and while a reply runs.
// UX-05, UX-06, UX-07, UX-24 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, idOf, latestReply, messageBox, pickModel, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { waitForScrollSettled } from "../../support/reader.ts";
import { menuButton, modelButton, tabTo, visibleTexts, holdConversation, userTurns, versionSwitcher } from "../../support/turn_actions.ts";

/** Edits the second message to "edit", which is answered with "b2". */
async function editSecond(page: Page, model: ModelServer): Promise<void> {
  await userTurns(page).nth(1).hover();
  await userTurns(page).nth(1).getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("textbox", { name: "Edit your message" }).fill("edit");
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("b2");
  await expectStatus(latestReply(page), "complete");
}

test("an edited message is a version, and each version keeps what follows it", async ({ page, model }) => {
  await holdConversation(page, model, 3);
  await userTurns(page).nth(1).hover();
  await userTurns(page).nth(1).getByRole("button", { name: "Edit your message" }).click();
  const box = page.getByRole("textbox", { name: "Edit your message" });
  await expect(box).toBeFocused();
  await expect(box).toHaveValue("q2");
  await box.fill("other");
  await box.press("Shift+Enter");
  await box.pressSequentially("words");
  await box.press("Enter");
  (await model.nextReply()).finishWithText("b2");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "other\nwords", "b2"]);
  const edited = userTurns(page).nth(1);
  await expect(versionSwitcher(edited)).toContainText("2/2");
  await expect(page).toHaveURL(/\?at=/);
  await expect(edited.getByRole("heading")).toBeFocused();
  await expectStatus(latestReply(page), "complete");
  // The versions stand at the right, under the bubble; a reply follows a message without them after 24 px.
  const right = ({ x, width }: { x: number; width: number }) => x + width;
  const [bubble, switcher] = [await edited.locator(".bubble").boundingBox(), await versionSwitcher(edited).boundingBox()];
  expect(Math.abs(right(bubble!) - right(switcher!))).toBeLessThanOrEqual(16);
  expect(switcher!.y).toBeGreaterThanOrEqual(bubble!.y + bubble!.height);
  const [first, answer] = [await userTurns(page).first().locator(".bubble").boundingBox(), await replies(page).first().locator(".reply").boundingBox()];
  expect(Math.round(answer!.y - first!.y - first!.height)).toBe(24);

  await versionSwitcher(edited).getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
  await expect(page.getByText("2 newer messages are in another version.")).toBeVisible();
  await page.reload();
  await waitForHydration(page);
  expect(await visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
  await page.getByRole("link", { name: "Show" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "other\nwords", "b2"]);
  await expect(page.getByText(/newer messages? .* on another version/)).toHaveCount(0);
});

test("both arrows lead through the versions, and Back leaves the chat that Forward comes back to as it was", async ({ page, model }) => {
  await holdConversation(page, model, 3);
  const [old, fresh] = [["q1", "a1", "q2", "a2", "q3", "a3"], ["q1", "a1", "edit", "b2"]];
  await editSecond(page, model);
  await versionSwitcher(userTurns(page).nth(1)).getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(old);
  await expect(versionSwitcher(userTurns(page).nth(1))).toContainText("1/2");
  await versionSwitcher(userTurns(page).nth(1)).getByRole("button", { name: "Next version" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(fresh);
  await page.goBack();
  await expect(page).toHaveURL(/\/$/);
  await page.goForward();
  await expect.poll(() => visibleTexts(page)).toEqual(fresh);
});

test("a chat opens where it was left, on another device too", async ({ page, model, browser, turnleaf }) => {
  await holdConversation(page, model, 2);
  await editSecond(page, model);
  await versionSwitcher(userTurns(page).nth(1)).getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  const other = await browser.newPage();
  await other.goto(turnleaf.url + new URL(page.url()).pathname);
  expect(await visibleTexts(other)).toEqual(["q1", "a1", "q2", "a2"]);
  await other.close();
});

test("Esc leaves an edit, keeps its words, and gives the focus back", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await messageBox(page).press("ArrowUp");
  const box = page.getByRole("textbox", { name: "Edit your message" });
  await expect(box).toBeFocused();
  await box.fill("half a thought");
  await box.press("Escape");
  await expect(box).toHaveCount(0);
  const button = userTurns(page).first().getByRole("button", { name: "Edit your message" });
  await expect(button).toBeFocused();
  await page.keyboard.press("Space");
  await expect(box).toHaveValue("half a thought");
  // The Enter that ends a composition does not send.
  await box.dispatchEvent("keydown", { key: "Enter", keyCode: 229 });
  await box.dispatchEvent("keydown", { key: "Enter", isComposing: true });
  await box.fill(" ");
  await box.press("Enter");
  await expect(box).toHaveAccessibleDescription("Enter a message first.");
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(model.requestCount).toBe(1);
});

test("everything by keyboard: versions, neighbours and verbs of the turn that has the focus", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  await latestReply(page).getByRole("heading", { level: 3 }).first().focus();
  await page.keyboard.press("r");
  (await model.nextReply()).finishWithText("again");
  await expect(textOf(latestReply(page))).toHaveText("again");
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("heading", { level: 3 }).first().focus();
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(textOf(latestReply(page))).toHaveText("a2");
  await expect(versionSwitcher(latestReply(page)).getByRole("button", { name: "Previous version" })).toBeFocused();
  await expect(page.locator("#say")).toContainText("Version 1 of 2.");
  await page.keyboard.press("Alt+ArrowRight");
  await expect(textOf(latestReply(page))).toHaveText("again");
  await page.keyboard.press("Alt+ArrowUp");
  await expect(userTurns(page).nth(1).getByRole("heading", { level: 3 })).toBeFocused();
  await page.keyboard.press("e");
  await expect(page.getByRole("textbox", { name: "Edit your message" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(userTurns(page).nth(1).getByRole("button", { name: "Edit your message" })).toBeFocused();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(replies(page).first().getByRole("heading", { level: 3 }).first()).toBeFocused();
  await page.keyboard.press("b");
  await expect(page.getByText("Continue from here")).toBeVisible();
});

test("the list of versions says what each is and leads there", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  await replies(page).first().hover();
  await replies(page).first().getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("another first");
  await expectStatus(latestReply(page), "complete");
  const number = versionSwitcher(latestReply(page)).getByRole("button", { name: "2/2" });
  await number.focus();
  await page.keyboard.press("Enter");
  const first = page.getByRole("link", { name: /1\/2 a1 .*test-model · followed by 2 messages/ });
  await expect(first).toBeVisible();
  await expect(page.getByRole("link", { name: /2\/2 another first/ })).toHaveAttribute("aria-current", "true");
  await first.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await expect(versionSwitcher(replies(page).first()).getByRole("button", { name: "1/2" })).toBeFocused();
  await expect(page.locator("#say")).toContainText("Version 1 of 2, followed by 2 messages.");
});

test("a new version keeps the open version list open, and the focus where it is", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  const running = await model.nextReply();
  running.sendText("slowly");
  await versionSwitcher(latestReply(page)).getByRole("button", { name: "Previous version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("a1");
  const number = versionSwitcher(latestReply(page)).getByRole("button", { name: "1/2" });
  await number.focus();
  await page.keyboard.press("Enter");
  const row = page.getByRole("link", { name: /^2\/2 / });
  await expect(row).toContainText("in progress");
  running.finish();
  await expect(row).not.toContainText("in progress");
  await expect(row).toBeVisible();
  await expect(number).toBeFocused();
});

test("a switched version keeps its place on the screen and the focus", async ({ page, model }) => {
  await startChat(page, "q1");
  (await model.nextReply()).finishWithText("line\n\n".repeat(60));
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("short\n\n".repeat(40));
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "q2");
  (await model.nextReply()).finishWithText("line\n\n".repeat(60));
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  const back = versionSwitcher(replies(page).first()).getByRole("button", { name: "Previous version" });
  await back.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== "running"));
  const before = (await replies(page).first().boundingBox())!.y;
  const id = await idOf(replies(page).first());
  await back.click();
  await expect(page.locator(`article[data-turn-id="${id}"]`)).toHaveCount(0);
  await expect(versionSwitcher(replies(page).first()).getByRole("button", { name: "Previous version" })).toBeFocused();
  await expect.poll(async () => Math.abs((await replies(page).first().boundingBox())!.y - before)).toBeLessThanOrEqual(1);
});

test("a reply continues while another version is shown", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  const running = await model.nextReply();
  running.sendText("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  await versionSwitcher(latestReply(page)).getByRole("button", { name: "Previous version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await expect(page.getByRole("img", { name: "Another version is being generated" })).toBeVisible();
  running.sendText("two");
  running.finish();
  await versionSwitcher(latestReply(page)).getByRole("button", { name: "Next version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("one two");
  await expectStatus(latestReply(page), "complete");
});

test("Branch hides what is below until something is sent, and Cancel brings it back", async ({ page, model }) => {
  await holdConversation(page, model, 3);
  const first = replies(page).first();
  await first.hover();
  await first.getByRole("button", { name: "Branch", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await expect(page.getByText("4 messages below are hidden")).toBeVisible();
  await expect(messageBox(page)).toBeFocused();
  await expect(page).toHaveURL(/\?from=/);
  // Another viewer of the chat does not extend the shown path, and a reload keeps it.
  await page.reload();
  await waitForHydration(page);
  expect(await visibleTexts(page)).toEqual(["q1", "a1"]);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);

  await replies(page).first().hover();
  await replies(page).first().getByRole("button", { name: "Branch", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await sendMessage(page, "Another way");
  (await model.nextReply()).finishWithText("fork");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "Another way", "fork"]);
  await expect(page.locator(".branch-chip")).toContainText("Another way");
  await expect(page).toHaveURL(/\?at=/);
  await expect(page.getByText("Continue from here")).toHaveCount(0);
  await page.reload();
  expect(await visibleTexts(page)).toEqual(["q1", "a1", "Another way", "fork"]);
});

test("another model tries again on a branch of its own", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await modelButton(latestReply(page)).click();
  await pickModel(page, "tour");
  // There are no earlier replies.
  await expect(page.getByText(/^switched to [^·]+$/)).toBeVisible();
  await expectStatus(latestReply(page), "complete");
  await expect(versionSwitcher(latestReply(page))).toContainText("2/2");
  expect(model.requestCount).toBe(1);
});

test("a reply edited by hand is a version that says so", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await menuButton(latestReply(page)).click();
  await page.getByRole("button", { name: "Edit as new version" }).click();
  const box = page.getByRole("textbox", { name: "Edit as new version" });
  await expect(box).toHaveValue("a1");
  await box.fill("In **my** words");
  await page.getByRole("button", { name: "Save as new version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("In my words");
  await expect(latestReply(page)).toContainText("Edited by you");
  await expect(versionSwitcher(latestReply(page))).toContainText("2/2");
  await sendMessage(page, "q2");
  const reply = await model.nextReply();
  expect(reply.request.messages.map((one: { content: string }) => one.content)).toEqual(["q1", "In **my** words", "q2"]);
  reply.finishWithText("a2");
  await expect(replies(page)).toHaveCount(2);
});

test("a menu that is open when the reply ends keeps its place, its focus and its items", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await sendMessage(page, "q2");
  const running = await model.nextReply();
  running.sendText("half");
  await expect(replies(page)).toHaveCount(2);
  const reply = latestReply(page);
  await expect(textOf(reply)).toHaveText("half");
  await menuButton(reply).focus();
  await page.keyboard.press("Enter");
  const menu = reply.locator(".menu:popover-open");
  // Its last text has arrived, and it has opened all the way.
  await expect(menu.getByRole("button", { name: "Delete this version", exact: true })).toBeVisible();
  await menu.evaluate(async (menu) => void (await Promise.all(menu.getAnimations().map((animation) => animation.finished))));
  const quote = menu.getByRole("button", { name: "Quote in your message" });
  await tabTo(page, quote);
  const before = (await quote.boundingBox())!;

  running.finish();
  await expectStatus(reply, "complete");
  await waitForScrollSettled(page);
  await expect(quote).toBeFocused();
  const after = (await quote.boundingBox())!;
  expect(Math.abs(after.x - before.x) + Math.abs(after.y - before.y), "nothing has moved").toBeLessThanOrEqual(1);
  await page.mouse.click(before.x + before.width / 2, before.y + before.height / 2);
  await expect(messageBox(page)).toHaveValue("> half\n\n");
  await expect(menu).toHaveCount(0);
  // Closed, it makes room for what can be done with a reply that has ended.
  await expect(reply.getByRole("button", { name: "Retry", exact: true })).toBeVisible();
  await menuButton(reply).click();
  await expect(menu.getByRole("button", { name: "Edit as new version" })).toBeVisible();
});

test("a copy is a chat of its own with a way back", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  const origin = page.url();
  await replies(page).first().hover();
  await menuButton(replies(page).first()).click();
  await page.getByRole("button", { name: "Copy to new chat" }).click();
  await expect(page).not.toHaveURL(origin);
  await waitForHydration(page);
  expect(await visibleTexts(page)).toEqual(["q1", "a1"]);
  await sendMessage(page, "elsewhere");
  (await model.nextReply()).finishWithText("yes");
  await expect(replies(page)).toHaveCount(2);
  await page.getByRole("link", { name: "Copied from “q1”" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
});

test("two tabs that edit the same message make two versions", async ({ page, model, context }) => {
  await holdConversation(page, model, 1);
  const other = await context.newPage();
  await other.goto(page.url());
  await waitForHydration(other);
  for (const [tab, words] of [[page, "from one"], [other, "from two"]] as const) {
    await userTurns(tab).first().hover();
    await userTurns(tab).first().getByRole("button", { name: "Edit your message" }).click();
    await tab.getByRole("textbox", { name: "Edit your message" }).fill(words);
  }
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("1");
  await other.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("2");
  await expect(versionSwitcher(userTurns(other).first())).toContainText("3/3");
  await expect(userTurns(other).first()).toContainText("from two");
});
