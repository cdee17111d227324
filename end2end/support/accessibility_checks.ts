// Accessibility checks for every screen: no axe violations at three widths and in both themes; no animation when
// reduced motion is preferred; no horizontal scrolling on the narrowest screen and at 200 % zoom.
import type { Page } from "@playwright/test";

import { violations, type Rules } from "./axe.ts";
import { waitForPaint } from "./dom.ts";
import { expect } from "./fixtures.ts";

/** A run of axe. */
type AxeRun = [width: number, colorScheme: "light" | "dark", rules: Rules];
/**
 * The runs at several widths: the structure of a page depends on the width only, and its colours on the theme only, of
 * which `tests/contrast.rs` checks every pair.
 */
const RUNS: AxeRun[] = [[390, "dark", "all"], [820, "light", "structure"], [1440, "light", "all"]];
/** Parts have no layout of their own between the narrowest and the widest screen. */
const RUNS_OF_PARTS: AxeRun[] = RUNS.filter(([, , rules]) => rules === "all");
const softly = expect.configure({ soft: true });
/** The narrowest screen, and the viewport that a window of 1440 × 900 has at 200 % zoom. */
export const NARROW = [{ width: 320, height: 640 }, { width: 720, height: 450 }];

/** Returns the animations that are longer than a frame. */
function runningAnimations(page: Page): Promise<string[]> {
  const frame = 17;
  return page.evaluate((frame) => document.getAnimations().flatMap((animation) => {
    const { effect } = animation;
    const lasts = Number(effect?.getComputedTiming().duration ?? 0);
    const target = effect instanceof KeyframeEffect ? `${effect.target?.className ?? ""}${effect.pseudoElement ?? ""}` : "";
    return animation.playState === "running" && lasts > frame ? [`${target}: ${lasts} ms`] : [];
  }), frame);
}

/** Asserts that the page is not wider than the screen. */
async function expectNoOverflow(page: Page, screen: string, width: number): Promise<void> {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect.soft(wider, `${screen}: sideways scrolling at ${width}`).toBeLessThanOrEqual(0);
}

async function expectNoHorizontalScroll(page: Page, screen: string): Promise<void> {
  for (const size of NARROW) {
    await page.setViewportSize(size);
    await waitForPaint(page);
    await expectNoOverflow(page, screen, size.width);
  }
}

/** Shows the page at a width and in a theme, without motion. */
async function useLook(page: Page, width: number, colorScheme: "light" | "dark"): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await waitForPaint(page);
}

/** Asserts the rules. Elements outside the viewport get the colours of a new theme a moment later. */
async function expectNoViolations(page: Page, message: string, rules: Rules, within?: string, timeout = 10_000): Promise<void> {
  await softly.poll(() => violations(page, within, rules), { message, timeout }).toEqual([]);
}

/** The scope of a check: the whole page unless a part is given, and all widths unless one is given. */
export interface CheckScope {
  /** A selector of an overlay on a page that was checked before. */
  within?: string;
  width?: number;
  /** True for parts whose colours are checked on the pages that have them. */
  onlyStructure?: boolean;
  /** The time limit of one axe run, in ms. */
  patience?: number;
}

/** Asserts all accessibility checks for the current screen. */
export async function expectAccessible(page: Page, screen: string, { within, width: only, onlyStructure, patience }: CheckScope = {}): Promise<void> {
  if (!only) await expectNoHorizontalScroll(page, screen);
  const atWidth = (width: number): AxeRun[] => [[width, "light", "all"], [width, "dark", "colors"]];
  const runs = only ? atWidth(only) : within ? RUNS_OF_PARTS : RUNS;
  for (const [width, colorScheme, complete] of runs) {
    const rules = onlyStructure ? "structure" : complete;
    await useLook(page, width, colorScheme);
    if (within) await expect.soft(page.locator(within).first(), `${screen}, ${width}: is there`).toBeVisible();
    expect.soft(await runningAnimations(page), `${screen}, ${width}: what moves for whoever wants it still`).toEqual([]);
    await expectNoViolations(page, `${screen}, ${width}, ${colorScheme}`, rules, within, patience);
  }
}

/**
 * Asserts the rules at each width, and that nothing scrolls sideways, for a state of a screen that is checked elsewhere.
 * `ready` makes the state anew at a width.
 */
export async function expectAccessibleState(page: Page, state: string, ready?: (width: number) => Promise<void>): Promise<void> {
  for (const [width, colorScheme, rules] of RUNS) {
    await useLook(page, width, colorScheme);
    await ready?.(width);
    await expectNoViolations(page, `${state}, ${width}, ${colorScheme}`, rules);
    await expectNoOverflow(page, state, width);
  }
}

/**
 * Checks pages in Chinese, whose names are others and whose texts have other lengths; colours and elements are those of the
 * English pages.
 */
export async function expectAccessibleInChinese(page: Page, origin: string, addresses: string[], ready?: () => Promise<void>): Promise<void> {
  await page.context().addCookies([{ name: "turnleaf_language", value: "zh-Hans", url: origin }]);
  for (const address of addresses) {
    await page.goto(address);
    await ready?.();
    await expect.soft(page.locator("html"), address).toHaveAttribute("lang", "zh-Hans");
    await expectNoHorizontalScroll(page, `${address}, Chinese`);
    await useLook(page, 390, "light");
    await expectNoViolations(page, `${address}, Chinese`, "structure");
  }
  await page.context().clearCookies({ name: "turnleaf_language" });
}
