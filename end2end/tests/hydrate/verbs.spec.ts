// What can be asked of a turn: with the mouse, with the keyboard alone, and while a reply runs.
// UX-05, UX-06, UX-07, UX-24 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { begin, expectStatus, hydrated, idOf, latestReply, messageBox, replies, send, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { menu, models, said, talk, users, versions } from "../../support/verbs.ts";

/** Makes the second message "edit", which is answered with "b2". */
async function editSecond(page: Page, model: ModelServer): Promise<void> {
  await users(page).nth(1).hover();
  await users(page).nth(1).getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("textbox", { name: "Edit your message" }).fill("edit");
  await page.keyboard.press("Enter");
  (await model.next()).answer("b2");
  await expectStatus(latestReply(page), "complete");
}

test("an edited message is a version, and each version keeps what follows it", async ({ page, model }) => {
  await talk(page, model, 3);
  await users(page).nth(1).hover();
  await users(page).nth(1).getByRole("button", { name: "Edit your message" }).click();
  const box = page.getByRole("textbox", { name: "Edit your message" });
  await expect(box).toBeFocused();
  await expect(box).toHaveValue("q2");
  await box.fill("other");
  await box.press("Shift+Enter");
  await box.pressSequentially("words");
  await box.press("Enter");
  (await model.next()).answer("b2");
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "other\nwords", "b2"]);
  const edited = users(page).nth(1);
  await expect(versions(edited)).toContainText("2/2");
  await expect(page).toHaveURL(/\?at=/);
  await expect(edited.getByRole("heading")).toBeFocused();
  await expectStatus(latestReply(page), "complete");

  await versions(edited).getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
  await expect(page.getByText("2 newer messages are on another version")).toBeVisible();
  await page.reload();
  await hydrated(page);
  expect(await said(page)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
  await page.getByRole("link", { name: "Show" }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "other\nwords", "b2"]);
  await expect(page.getByText(/newer messages? .* on another version/)).toHaveCount(0);
});

test("both arrows lead through the versions, and Back leaves the chat that Forward comes back to as it was", async ({ page, model }) => {
  await talk(page, model, 3);
  const [old, fresh] = [["q1", "a1", "q2", "a2", "q3", "a3"], ["q1", "a1", "edit", "b2"]];
  await editSecond(page, model);
  await versions(users(page).nth(1)).getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => said(page)).toEqual(old);
  await expect(versions(users(page).nth(1))).toContainText("1/2");
  await versions(users(page).nth(1)).getByRole("button", { name: "Next version" }).click();
  await expect.poll(() => said(page)).toEqual(fresh);
  await page.goBack();
  await expect(page).toHaveURL(/\/$/);
  await page.goForward();
  await expect.poll(() => said(page)).toEqual(fresh);
});

test("a chat opens where it was left, on another device too", async ({ page, model, browser, turnleaf }) => {
  await talk(page, model, 2);
  await editSecond(page, model);
  await versions(users(page).nth(1)).getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "q2", "a2"]);
  const other = await browser.newPage();
  await other.goto(turnleaf.url + new URL(page.url()).pathname);
  expect(await said(other)).toEqual(["q1", "a1", "q2", "a2"]);
  await other.close();
});

test("Esc leaves an edit, keeps its words, and gives the focus back", async ({ page, model }) => {
  await talk(page, model, 1);
  await messageBox(page).press("ArrowUp");
  const box = page.getByRole("textbox", { name: "Edit your message" });
  await expect(box).toBeFocused();
  await box.fill("half a thought");
  await box.press("Escape");
  await expect(box).toHaveCount(0);
  const button = users(page).first().getByRole("button", { name: "Edit your message" });
  await expect(button).toBeFocused();
  await page.keyboard.press("Space");
  await expect(box).toHaveValue("half a thought");
  // The Enter that ends a composition sends nothing.
  await box.dispatchEvent("keydown", { key: "Enter", keyCode: 229 });
  await box.dispatchEvent("keydown", { key: "Enter", isComposing: true });
  await box.fill(" ");
  await box.press("Enter");
  await expect(box).toHaveAccessibleDescription("Write something first.");
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(model.asked).toBe(1);
});

test("everything by keyboard: versions, neighbours and verbs of the turn that has the focus", async ({ page, model }) => {
  await talk(page, model, 2);
  await latestReply(page).getByRole("heading", { level: 3 }).first().focus();
  await page.keyboard.press("r");
  (await model.next()).answer("again");
  await expect(textOf(latestReply(page))).toHaveText("again");
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("heading", { level: 3 }).first().focus();
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(textOf(latestReply(page))).toHaveText("a2");
  await expect(versions(latestReply(page)).getByRole("button", { name: "Previous version" })).toBeFocused();
  await expect(page.locator("#say")).toContainText("Version 1 of 2.");
  await page.keyboard.press("Alt+ArrowRight");
  await expect(textOf(latestReply(page))).toHaveText("again");
  await page.keyboard.press("Alt+ArrowUp");
  await expect(users(page).nth(1).getByRole("heading", { level: 3 })).toBeFocused();
  await page.keyboard.press("e");
  await expect(page.getByRole("textbox", { name: "Edit your message" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(users(page).nth(1).getByRole("button", { name: "Edit your message" })).toBeFocused();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(replies(page).first().getByRole("heading", { level: 3 }).first()).toBeFocused();
  await page.keyboard.press("b");
  await expect(page.getByText("Continue from here")).toBeVisible();
});

test("the list of versions says what each is and leads there", async ({ page, model }) => {
  await talk(page, model, 2);
  await replies(page).first().hover();
  await replies(page).first().getByRole("button", { name: "Try again" }).click();
  (await model.next()).answer("another first");
  await expectStatus(latestReply(page), "complete");
  const number = versions(latestReply(page)).getByRole("button", { name: "2/2" });
  await number.focus();
  await page.keyboard.press("Enter");
  const first = page.getByRole("link", { name: /1\/2 a1 .*test-model · continues with 2 messages/ });
  await expect(first).toBeVisible();
  await expect(page.getByRole("link", { name: /2\/2 another first/ })).toHaveAttribute("aria-current", "true");
  await first.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "q2", "a2"]);
  await expect(versions(replies(page).first()).getByRole("button", { name: "1/2" })).toBeFocused();
  await expect(page.locator("#say")).toContainText("Version 1 of 2, followed by 2 messages.");
});

test("news of a version leaves its open list open, and the focus where it is", async ({ page, model }) => {
  await talk(page, model, 1);
  await latestReply(page).getByRole("button", { name: "Try again" }).click();
  const running = await model.next();
  running.say("slowly");
  await versions(latestReply(page)).getByRole("button", { name: "Previous version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("a1");
  const number = versions(latestReply(page)).getByRole("button", { name: "1/2" });
  await number.focus();
  await page.keyboard.press("Enter");
  const row = page.getByRole("link", { name: /^2\/2 / });
  await expect(row).toContainText("in progress");
  running.end();
  await expect(row).not.toContainText("in progress");
  await expect(row).toBeVisible();
  await expect(number).toBeFocused();
});

test("a switched version keeps its place on the screen and the focus", async ({ page, model }) => {
  await begin(page, "q1");
  (await model.next()).answer("line\n\n".repeat(60));
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("button", { name: "Try again" }).click();
  (await model.next()).answer("short\n\n".repeat(40));
  await expectStatus(latestReply(page), "complete");
  await send(page, "q2");
  (await model.next()).answer("line\n\n".repeat(60));
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  const back = versions(replies(page).first()).getByRole("button", { name: "Previous version" });
  await back.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== "running"));
  const before = (await replies(page).first().boundingBox())!.y;
  const id = await idOf(replies(page).first());
  await back.click();
  await expect(page.locator(`article[data-turn-id="${id}"]`)).toHaveCount(0);
  await expect(versions(replies(page).first()).getByRole("button", { name: "Previous version" })).toBeFocused();
  await expect.poll(async () => Math.abs((await replies(page).first().boundingBox())!.y - before)).toBeLessThanOrEqual(1);
});

test("a reply goes on while another version is shown", async ({ page, model }) => {
  await talk(page, model, 1);
  await latestReply(page).getByRole("button", { name: "Try again" }).click();
  const running = await model.next();
  running.say("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  await versions(latestReply(page)).getByRole("button", { name: "Previous version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await expect(page.getByRole("img", { name: "Another version is being written" })).toBeVisible();
  running.say("two");
  running.end();
  await versions(latestReply(page)).getByRole("button", { name: "Next version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("one two");
  await expectStatus(latestReply(page), "complete");
});

test("Branch hides what is below until something is sent, and Cancel brings it back", async ({ page, model }) => {
  await talk(page, model, 3);
  const first = replies(page).first();
  await first.hover();
  await first.getByRole("button", { name: "Branch", exact: true }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1"]);
  await expect(page.getByText("4 messages below are hidden")).toBeVisible();
  await expect(messageBox(page)).toBeFocused();
  await expect(page).toHaveURL(/\?from=/);
  // Nobody else's looking at the chat lengthens it, and a reload keeps it.
  await page.reload();
  await hydrated(page);
  expect(await said(page)).toEqual(["q1", "a1"]);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);

  await replies(page).first().hover();
  await replies(page).first().getByRole("button", { name: "Branch", exact: true }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1"]);
  await send(page, "Another way");
  (await model.next()).answer("fork");
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "Another way", "fork"]);
  await expect(page.locator("[data-branch-id]")).toContainText("Another way");
  await expect(page).toHaveURL(/\?at=/);
  await expect(page.getByText("Continue from here")).toHaveCount(0);
  await page.reload();
  expect(await said(page)).toEqual(["q1", "a1", "Another way", "fork"]);
});

test("another model tries again on a branch of its own", async ({ page, model }) => {
  await talk(page, model, 1);
  await models(latestReply(page)).click();
  // Who has just answered is not named.
  await expect(page.getByRole("button", { name: /^Try again with test-model/ })).toHaveCount(0);
  await page.getByRole("button", { name: "Try again with Demo: Tour" }).click();
  await expect(page.getByText(/switched to .* · earlier replies are sent as plain text/)).toBeVisible();
  await expectStatus(latestReply(page), "complete");
  await expect(versions(latestReply(page))).toContainText("2/2");
  expect(model.asked).toBe(1);
});

test("a reply edited by hand is a version that says so", async ({ page, model }) => {
  await talk(page, model, 1);
  await menu(latestReply(page)).click();
  await page.getByRole("button", { name: "Edit as new version" }).click();
  const box = page.getByRole("textbox", { name: "Edit as new version" });
  await expect(box).toHaveValue("a1");
  await box.fill("In **my** words");
  await page.getByRole("button", { name: "Save as new version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("In my words");
  await expect(latestReply(page)).toContainText("Edited by you");
  await expect(versions(latestReply(page))).toContainText("2/2");
  await send(page, "q2");
  const reply = await model.next();
  expect(reply.request.messages.map((one: { content: string }) => one.content)).toEqual(["q1", "In **my** words", "q2"]);
  reply.answer("a2");
  await expect(replies(page)).toHaveCount(2);
});

test("a copy is a chat of its own with a way back", async ({ page, model }) => {
  await talk(page, model, 2);
  const origin = page.url();
  await replies(page).first().hover();
  await menu(replies(page).first()).click();
  await page.getByRole("button", { name: "Copy to new chat" }).click();
  await expect(page).not.toHaveURL(origin);
  await hydrated(page);
  expect(await said(page)).toEqual(["q1", "a1"]);
  await send(page, "elsewhere");
  (await model.next()).answer("yes");
  await expect(replies(page)).toHaveCount(2);
  await page.getByRole("link", { name: "Copied from “q1”" }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1", "q2", "a2"]);
});

test("two tabs that edit the same message make two versions", async ({ page, model, context }) => {
  await talk(page, model, 1);
  const other = await context.newPage();
  await other.goto(page.url());
  await hydrated(other);
  for (const [tab, words] of [[page, "from one"], [other, "from two"]] as const) {
    await users(tab).first().hover();
    await users(tab).first().getByRole("button", { name: "Edit your message" }).click();
    await tab.getByRole("textbox", { name: "Edit your message" }).fill(words);
  }
  await page.keyboard.press("Enter");
  (await model.next()).answer("1");
  await other.keyboard.press("Enter");
  (await model.next()).answer("2");
  await expect(versions(users(other).first())).toContainText("3/3");
  await expect(users(other).first()).toContainText("from two");
});
