// Page helpers: the page as a person uses it, located by the public contract (docs/reference/api.md).
import { expect, type Locator, type Page } from "@playwright/test";

import { MODEL } from "./model_server.ts";

/** The model of the model server, as the menu names it. */
export const TEST_MODEL = `openai/${MODEL}`;

/** Opens a page and waits until it is hydrated. */
export async function openPage(page: Page, path = "/"): Promise<void> {
  await page.goto(path);
  await waitForHydration(page);
}

/** Waits until the page is hydrated. It is told at once; an assertion alone looks again only every half second. */
export async function waitForHydration(page: Page): Promise<void> {
  // A page that is left in between cannot answer; the assertion waits for the next one.
  await page.evaluate(observeHydration).catch(() => undefined);
  await expect(page.locator("html[data-hydrated]")).toBeAttached();
}

/** Runs in the page: resolves when it is hydrated, or after the time of an assertion. */
function observeHydration(): Promise<void> {
  const root = document.documentElement;
  return new Promise((done) => {
    const look = () => root.hasAttribute("data-hydrated") && done();
    new MutationObserver(look).observe(root, { attributeFilter: ["data-hydrated"] });
    setTimeout(done, 15_000);
    look();
  });
}

export function messageBox(page: Page): Locator {
  return page.getByRole("form", { name: "Message" }).getByRole("textbox", { name: "Message" });
}

export function sendButton(page: Page): Locator {
  return page.getByRole("button", { name: "Send", exact: true });
}

export function stopButton(page: Page): Locator {
  return page.getByRole("button", { name: "Stop reply" });
}

/**
 * Chooses the model of a new chat; the value is `provider/model`. Where scripts run, people choose in the dialog
 * (`model_picker.spec.ts`), and the select of the form is hidden.
 */
export async function chooseModel(page: Page, model: string): Promise<void> {
  await page.locator("select[name=model]").selectOption(model, { force: true });
}

/** Returns the chip in the message box that names the model of the branch. */
export function branchModelChip(page: Page): Locator {
  return page.locator("form.composer [popovertarget=branch-model]");
}

/** Chooses the first model in the open dialog of models whose name contains this text. */
export async function pickModel(page: Page, text: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Find a model" }).fill(text);
  await dialog.getByRole("option").first().click();
  await expect(dialog).toBeHidden();
}

/** Types a message and sends it with the button. */
export async function sendMessage(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await sendButton(page).click();
}

/** Starts a chat with the model server's model. */
export async function startChat(page: Page, text: string, model = TEST_MODEL): Promise<void> {
  await openPage(page);
  await chooseModel(page, model);
  await sendMessage(page, text);
}

/** Returns the replies, newest last. */
export function replies(page: Page): Locator {
  return page.locator("article[data-turn-id][data-role=assistant]");
}

export function latestReply(page: Page): Locator {
  return replies(page).last();
}

/** Returns the text blocks of a turn. */
export function textOf(turn: Locator): Locator {
  return turn.locator("[data-block-type=text]");
}

export async function expectStatus(turn: Locator, status: "streaming" | "complete" | "cancelled" | "error"): Promise<void> {
  await expect(turn).toHaveAttribute("data-status", status, { timeout: 45_000 });
}

/** Returns the id of a shown turn. */
export async function idOf(turn: Locator): Promise<string> {
  const id = await turn.getAttribute("data-turn-id");
  if (!id) throw new Error("a turn without an id");
  return id;
}
