// A reader in a long chat: what they see, where it is on the screen, and what is in the page at all.
import { expect, type Locator, type Page } from "@playwright/test";

/** The turns that are in the page. */
export function turns(page: Page): Locator {
  return page.locator("article[data-turn-id]");
}

export function turn(page: Page, id: string): Locator {
  return page.locator(`article[data-turn-id="${id}"]`);
}

/** The ids of the turns that are in the page, root first. */
export function loadedTurnIds(page: Page): Promise<string[]> {
  return turns(page).evaluateAll((all) => all.map((turn) => turn.getAttribute("data-turn-id") ?? ""));
}

/** What is drawn is drawn: two frames later. */
export async function waitForScrollSettled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The first turn below the header, and how high on the screen it is. */
export async function firstVisibleTurn(page: Page): Promise<{ id: string; y: number }> {
  await waitForScrollSettled(page);
  return page.evaluate(() => {
    const header = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
    for (const turn of document.querySelectorAll("article[data-turn-id]")) {
      const place = turn.getBoundingClientRect();
      if (place.bottom > header) return { id: turn.getAttribute("data-turn-id") ?? "", y: place.top };
    }
    throw new Error("no turn is seen");
  });
}

/** How high on the screen a turn is. */
export async function heightOf(page: Page, id: string): Promise<number> {
  await waitForScrollSettled(page);
  return turn(page, id).evaluate((turn) => turn.getBoundingClientRect().top);
}

/** Scrolls as a person does who drags the bar: to this many pixels below the top of the page. */
export async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate((top) => window.scrollTo(0, top), top);
  await waitForScrollSettled(page);
}

/** The request that brings more turns, held until it is let go. */
export class RequestGate {
  private open: () => void = () => {};
  private asked: () => void = () => {};
  private waiting: Promise<void> = Promise.resolve();
  /** Ends when the page has asked. */
  request: Promise<void> = Promise.resolve();
  count = 0;

  static async install(page: Page): Promise<RequestGate> {
    const gate = new RequestGate();
    await page.route("**/api/page/load_turns", async (route) => {
      gate.count += 1;
      gate.asked();
      await gate.waiting;
      await route.continue();
    });
    return gate;
  }

  /** Holds the next request. */
  close(): void {
    this.waiting = new Promise((open) => (this.open = open));
    this.request = new Promise((asked) => (this.asked = asked));
  }

  /** Lets it go, and all after it. */
  release(): void {
    this.open();
  }
}

/** Waits until another turn is the first in the page. */
export async function expectFirstTurnChanged(page: Page, first: string): Promise<void> {
  await expect(turns(page).first()).not.toHaveAttribute("data-turn-id", first);
}
