// A reader in a long chat: the visible turns, their position on the screen, and the turns in the document.
import { expect, type Locator, type Page } from "@playwright/test";

/** Returns the turns that are in the document. */
export function turns(page: Page): Locator {
  return page.locator("article[data-turn-id]");
}

export function turn(page: Page, id: string): Locator {
  return page.locator(`article[data-turn-id="${id}"]`);
}

/** Returns the ids of the turns in the document, root first. */
export function loadedTurnIds(page: Page): Promise<string[]> {
  return turns(page).evaluateAll((all) => all.map((turn) => turn.getAttribute("data-turn-id") ?? ""));
}

/** Waits two frames, after which everything pending is rendered. */
export async function waitForScrollSettled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Returns the first turn below the header, and its position on the screen. */
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

/** Returns the position of a turn on the screen. */
export async function heightOf(page: Page, id: string): Promise<number> {
  await waitForScrollSettled(page);
  return turn(page, id).evaluate((turn) => turn.getBoundingClientRect().top);
}

/** Scrolls as somebody does who drags the scroll bar, to this many pixels below the top of the page. */
export async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate((top) => window.scrollTo(0, top), top);
  await waitForScrollSettled(page);
}

/** Holds the response to a request for more turns until it is released. */
export class RequestGate {
  private open: () => void = () => {};
  private resolveRequest: () => void = () => {};
  private waiting: Promise<void> = Promise.resolve();
  /** Resolves when the page has sent the request. */
  request: Promise<void> = Promise.resolve();
  count = 0;

  static async install(page: Page): Promise<RequestGate> {
    const gate = new RequestGate();
    await page.route("**/api/page/load_turns", async (route) => {
      gate.count += 1;
      gate.resolveRequest();
      await gate.waiting;
      await route.continue();
    });
    return gate;
  }

  /** Holds the next request. */
  close(): void {
    this.waiting = new Promise((open) => (this.open = open));
    this.request = new Promise((resolve) => (this.resolveRequest = resolve));
  }

  /** Releases the held request and lets later ones pass. */
  release(): void {
    this.open();
  }
}

/** Waits until another turn is the first in the document. */
export async function expectFirstTurnChanged(page: Page, first: string): Promise<void> {
  await expect(turns(page).first()).not.toHaveAttribute("data-turn-id", first);
}
