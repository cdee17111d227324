// What can be asked of a turn, found by the names that a person reads.
import { expect, type Locator, type Page } from "@playwright/test";

import { begin, expectStatus, latestReply, replies, send, textOf } from "./chat.ts";
import type { ModelServer } from "./model_server.ts";

export const users = (page: Page): Locator => page.locator("article[data-role=user]");
export const versions = (turn: Locator): Locator => turn.getByRole("group", { name: "Versions" });
export const menu = (turn: Locator): Locator => turn.getByRole("button", { name: "More", exact: true });
/** The menu beside "Try again" that names other models. */
export const models = (turn: Locator): Locator => turn.getByRole("button", { name: "Ask another model" });
/** What a turn is focused by. */
export const heading = (turn: Locator): Locator => turn.getByRole("heading", { level: 3 }).first();
/** The box of a message that is being edited. */
export const editBox = (page: Page): Locator => page.getByRole("textbox", { name: "Edit your message" });

/** Begins a chat of so many exchanges: "q1" is answered "a1". */
export async function talk(page: Page, model: ModelServer, exchanges: number, prefix = ""): Promise<void> {
  await begin(page, `${prefix}q1`);
  (await model.next()).answer(`${prefix}a1`);
  await expectStatus(latestReply(page), "complete");
  for (let n = 2; n <= exchanges; n++) {
    await send(page, `${prefix}q${n}`);
    (await model.next()).answer(`${prefix}a${n}`);
    await expect(replies(page)).toHaveCount(n);
    await expectStatus(latestReply(page), "complete");
  }
}

/** A button of the newest reply, as the arrows between its versions. */
export const version = (page: Page, name: string): Locator => latestReply(page).getByRole("button", { name });

/** Begins a chat whose reply has these versions, the last of them on screen. */
export async function begun(page: Page, model: ModelServer, ...texts: string[]): Promise<void> {
  await begin(page, "q1");
  for (const [at, text] of texts.entries()) {
    if (at > 0) await version(page, "Try again").click();
    (await model.next()).answer(text);
    await expect(textOf(latestReply(page))).toHaveText(text);
    await expectStatus(latestReply(page), "complete");
  }
}

/** The texts on screen, in their order. */
export async function said(page: Page): Promise<string[]> {
  return page.locator("article[data-turn-id] [data-block-type=text]").allInnerTexts();
}

/** Goes on with Tab until this has the focus, as somebody does who has no mouse. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  await expect(wanted).toBeFocused();
}

/** Opens the menu of a turn from its heading, and chooses a row, with keys alone. */
export async function chooseByKeys(page: Page, turn: Locator, row: Locator, opener = menu(turn)): Promise<void> {
  await heading(turn).focus();
  await tabTo(page, opener);
  await page.keyboard.press("Enter");
  await expect(row).toBeVisible();
  await tabTo(page, row);
  await page.keyboard.press("Enter");
}

/** Holds the answers to a call of the page back until it is told otherwise. */
export async function hold(page: Page, call: string): Promise<{ asked: Promise<void>; release: () => void }> {
  let release = (): void => {};
  const released = new Promise<void>((done) => (release = done));
  let ask = (): void => {};
  const asked = new Promise<void>((done) => (ask = done));
  await page.route(`**/api/page/${call}`, async (route) => {
    const response = await route.fetch();
    ask();
    await released;
    await route.fulfill({ response });
  });
  return { asked, release };
}
