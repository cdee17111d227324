// Actions on a turn, located by their visible names.
import { expect, type Locator, type Page } from "@playwright/test";

import { startChat, expectStatus, latestReply, replies, sendMessage, textOf } from "./chat.ts";
import type { ModelServer } from "./model_server.ts";

export const userTurns = (page: Page): Locator => page.locator("article[data-role=user]");
export const versionSwitcher = (turn: Locator): Locator => turn.getByRole("group", { name: "Versions" });
export const menuButton = (turn: Locator): Locator => turn.getByRole("button", { name: "More", exact: true });
/** The menu beside "Retry" that lists other models. */
export const modelButton = (turn: Locator): Locator => turn.getByRole("button", { name: "Retry with another model" });
/** The heading of a turn, which receives its focus. */
export const turnHeading = (turn: Locator): Locator => turn.getByRole("heading", { level: 3 }).first();
/** The text box of a message that is being edited. */
export const editBox = (page: Page): Locator => page.getByRole("textbox", { name: "Edit your message" });

/** Starts a chat of this many exchanges: "q1" is answered "a1". */
export async function holdConversation(page: Page, model: ModelServer, exchanges: number, prefix = ""): Promise<void> {
  await startChat(page, `${prefix}q1`);
  (await model.nextReply()).finishWithText(`${prefix}a1`);
  await expectStatus(latestReply(page), "complete");
  for (let n = 2; n <= exchanges; n++) {
    await sendMessage(page, `${prefix}q${n}`);
    (await model.nextReply()).finishWithText(`${prefix}a${n}`);
    await expect(replies(page)).toHaveCount(n);
    await expectStatus(latestReply(page), "complete");
  }
}

/** A button of the newest reply, such as the arrows between its versions. */
export const versionButton = (page: Page, name: string): Locator => latestReply(page).getByRole("button", { name, exact: name === "Retry" });

/** Starts a chat whose reply has these versions; the last one is shown. */
export async function startChatWithVersions(page: Page, model: ModelServer, ...texts: string[]): Promise<void> {
  await startChat(page, "q1");
  for (const [at, text] of texts.entries()) {
    if (at > 0) await versionButton(page, "Retry").click();
    (await model.nextReply()).finishWithText(text);
    await expect(textOf(latestReply(page))).toHaveText(text);
    await expectStatus(latestReply(page), "complete");
  }
}

/** Returns the visible texts in order. */
export async function visibleTexts(page: Page): Promise<string[]> {
  return page.locator("article[data-turn-id] [data-block-type=text]").allInnerTexts();
}

/** Presses Tab until the element has the focus, as somebody without a mouse does. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  await expect(wanted).toBeFocused();
}

/** Opens a menu of a turn from its heading and chooses a row, with keys only. */
export async function chooseByKeys(page: Page, turn: Locator, row: Locator, opener = menuButton(turn)): Promise<void> {
  await turnHeading(turn).focus();
  await tabTo(page, opener);
  await page.keyboard.press("Enter");
  await expect(row).toBeVisible();
  await tabTo(page, row);
  await page.keyboard.press("Enter");
}

/** Holds the responses to an API call of the page until they are released. */
export async function holdResponses(page: Page, call: string): Promise<{ requested: Promise<void>; release: () => void }> {
  let release = (): void => {};
  const released = new Promise<void>((done) => (release = done));
  let markRequested = (): void => {};
  const requested = new Promise<void>((done) => (markRequested = done));
  await page.route(`**/api/page/${call}`, async (route) => {
    const response = await route.fetch();
    markRequested();
    await released;
    await route.fulfill({ response });
  });
  return { requested, release };
}
