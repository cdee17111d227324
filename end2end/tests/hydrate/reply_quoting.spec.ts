// Quoting from the chat into the next message: a selected passage of a reply, a whole turn, and a turn that `@`
// names. UX-23 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { startChat, expectStatus, latestReply, messageBox, openPage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { chooseByKeys, turnHeading, holdConversation, userTurns } from "../../support/turn_actions.ts";

const button = (page: Page) => page.getByRole("button", { name: "Quote", exact: true });

/** Selects all text of the newest reply. */
async function selectReply(page: Page): Promise<void> {
  await textOf(latestReply(page)).first().evaluate((text) => getSelection()!.selectAllChildren(text));
}

test("a passage of a reply is quoted as Markdown with its button, and undo takes it out", async ({ page, model }) => {
  await startChat(page, "Tell me");
  (await model.nextReply()).finishWithText("Buds **open** in May.\n\n- first\n- second");
  await expectStatus(latestReply(page), "complete");
  await messageBox(page).pressSequentially("Why?");
  await expect(button(page)).toHaveCount(0);
  await selectReply(page);
  await expect(button(page)).toBeVisible();
  await expect(page.locator("#say")).toHaveText("Text selected. Press Ctrl+Shift+L to quote it in your message.");
  expect(await violations(page)).toEqual([]);
  const [near, text] = await Promise.all([button(page).boundingBox(), textOf(latestReply(page)).first().boundingBox()]);
  expect(Math.abs(near!.y - (text!.y + text!.height))).toBeLessThan(120);
  await button(page).click();
  await expect(messageBox(page)).toHaveValue("Why?\n\n> Buds **open** in May.\n>\n> - first\n> - second\n\n");
  await expect(messageBox(page)).toBeFocused();
  await expect(button(page)).toHaveCount(0);
  await page.keyboard.press("Control+z");
  await expect(messageBox(page)).toHaveValue("Why?");
});

test("a heading is quoted at its own level", async ({ page, model }) => {
  await startChat(page, "Tell me");
  (await model.nextReply()).finishWithText("## Spring\n\nBuds open.");
  await expectStatus(latestReply(page), "complete");
  await selectReply(page);
  await button(page).click();
  await expect(messageBox(page)).toHaveValue("> ## Spring\n>\n> Buds open.\n\n");
});

test("what is selected is quoted by keys, and a turn that has the focus as a whole", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await selectReply(page);
  await expect(button(page)).toBeVisible();
  await page.keyboard.press("Control+Shift+l");
  await expect(messageBox(page)).toHaveValue("> a1\n\n");
  await page.keyboard.type("And");
  await page.keyboard.press("Enter");
  const reply = await model.nextReply();
  expect(reply.request.messages.at(-1).content).toBe("> a1\n\nAnd");
  reply.finishWithText("Well.");
  await expectStatus(latestReply(page), "complete");
  await turnHeading(userTurns(page).first()).focus();
  await page.keyboard.press("Control+Shift+l");
  await expect(messageBox(page)).toHaveValue("> q1\n\n");
  await messageBox(page).fill("");
  await chooseByKeys(page, latestReply(page), latestReply(page).getByRole("button", { name: "Quote in your message" }));
  await expect(messageBox(page)).toHaveValue("> Well.\n\n");
  await expect(messageBox(page)).toBeFocused();
});

test("a selection outside replies is not offered, and a cleared one no longer is", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await userTurns(page).first().locator(".said").evaluate((text) => getSelection()!.selectAllChildren(text));
  await selectReply(page);
  await expect(button(page)).toBeVisible();
  await userTurns(page).first().locator(".said").evaluate((text) => getSelection()!.selectAllChildren(text));
  await expect(button(page)).toHaveCount(0);
  await selectReply(page);
  await expect(button(page)).toBeVisible();
  await page.evaluate(() => getSelection()!.removeAllRanges());
  await expect(button(page)).toHaveCount(0);
});

test("@ offers earlier turns by their words, and the one that is chosen is quoted in its place", async ({ page, model }) => {
  await startChat(page, "When do buds open?");
  (await model.nextReply()).finishWithText("In **May**, mostly.");
  await expectStatus(latestReply(page), "complete");
  const list = page.getByRole("listbox", { name: "Documents and messages" });
  const box = messageBox(page);
  await box.pressSequentially("Sure? @");
  await expect(list.getByRole("option")).toHaveText(["Assistant: In May, mostly.", "You: When do buds open?"]);
  await expect(page.locator("#say")).toHaveText("2 messages. Use the arrow keys to choose, Enter to quote.");
  expect(await violations(page)).toEqual([]);
  await box.pressSequentially("MAY");
  await expect(list.getByRole("option")).toHaveText(["Assistant: In May, mostly."]);
  await box.press("Enter");
  await expect(list).toHaveCount(0);
  await expect(box).toHaveValue("Sure? \n\n> In **May**, mostly.\n\n");
  await page.keyboard.press("Control+z");
  await expect(box).toHaveValue("Sure? @MAY");
});

test("@ finds turns that are far up the path", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(600);
  await openPage(page, `/c/${long.chat}`);
  const list = page.getByRole("listbox", { name: "Documents and messages" });
  await messageBox(page).pressSequentially("@place_19()");
  await expect(list.getByRole("option").first()).toHaveText(/^Assistant: /);
  await messageBox(page).press("Enter");
  await expect(messageBox(page)).toHaveValue(/^> [^]*> fn place_19\(\)/);
});

test("@ finds turns far up the path by a word that was written before the menu came", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(100);
  let letGo = () => {};
  const written = new Promise<void>((done) => (letGo = done));
  await page.route("**/split_deeds.wasm", async (route) => {
    await written;
    await route.continue();
  });
  await openPage(page, `/c/${long.chat}`);
  await messageBox(page).pressSequentially("@place_11()");
  letGo();
  const list = page.getByRole("listbox", { name: "Documents and messages" });
  await expect(list.getByRole("option").first()).toHaveText(/^Assistant: /);
});
