// What every screen owes to everybody: nothing that axe finds, in both themes and at three widths; nothing that moves for
// whoever wants it still; nothing to be scrolled in two directions on the narrowest screen and at 200 %.
import type { Page } from "@playwright/test";

import { violations } from "./axe.ts";
import { waitForPaint } from "./dom.ts";
import { expect } from "./fixtures.ts";

export const WIDTHS = [390, 820, 1440];
const THEMES = ["light", "dark"] as const;
const softly = expect.configure({ soft: true });
/** The narrowest screen, and a window of 1440 × 900 at 200 %. */
export const NARROW = [{ width: 320, height: 640 }, { width: 720, height: 450 }];

/** What is being moved for longer than a frame. */
function runningAnimations(page: Page): Promise<string[]> {
  const frame = 17;
  return page.evaluate((frame) => document.getAnimations().flatMap((animation) => {
    const { effect } = animation;
    const lasts = Number(effect?.getComputedTiming().duration ?? 0);
    const target = effect instanceof KeyframeEffect ? `${effect.target?.className ?? ""}${effect.pseudoElement ?? ""}` : "";
    return animation.playState === "running" && lasts > frame ? [`${target}: ${lasts} ms`] : [];
  }), frame);
}

async function expectNoHorizontalScroll(page: Page, screen: string): Promise<void> {
  for (const size of NARROW) {
    await page.setViewportSize(size);
    await waitForPaint(page);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect.soft(wider, `${screen}: sideways scrolling at ${size.width}`).toBeLessThanOrEqual(0);
  }
}

/** Where the page is looked at: without a part all of it is, and without widths at all of them. */
export interface CheckScope {
  /** A selector: what opened over a page that was looked at before. */
  within?: string;
  widths?: number[];
  /** How long axe may take for a look, ms. */
  patience?: number;
}

/** Holds what is on screen to all of it. */
export async function expectAccessible(page: Page, screen: string, { within, widths, patience = 10_000 }: CheckScope = {}): Promise<void> {
  if (!widths) await expectNoHorizontalScroll(page, screen);
  for (const width of widths ?? WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await waitForPaint(page);
      if (within) await expect.soft(page.locator(within).first(), `${screen}, ${width}: is there`).toBeVisible();
      expect.soft(await runningAnimations(page), `${screen}, ${width}: what moves for whoever wants it still`).toEqual([]);
      // What lies outside of the window takes the colours of another theme a moment later.
      await softly.poll(() => violations(page, within), { message: `${screen}, ${width}, ${colorScheme}`, timeout: patience }).toEqual([]);
    }
  }
}

/** Looks at pages in Chinese, where other words take other room; their colours and parts are those of the English ones. */
export async function expectAccessibleInChinese(page: Page, origin: string, addresses: string[], ready?: () => Promise<void>): Promise<void> {
  await page.context().addCookies([{ name: "turnleaf_language", value: "zh-Hans", url: origin }]);
  for (const address of addresses) {
    await page.goto(address);
    await ready?.();
    await expect.soft(page.locator("html"), address).toHaveAttribute("lang", "zh-Hans");
    await expectNoHorizontalScroll(page, `${address}, Chinese`);
    for (const [width, colorScheme] of [[390, "dark"], [1440, "light"]] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await waitForPaint(page);
      await softly.poll(() => violations(page), { message: `${address}, Chinese, ${width}`, timeout: 10_000 }).toEqual([]);
    }
  }
  await page.context().clearCookies({ name: "turnleaf_language" });
}
