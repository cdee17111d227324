// Runs axe-core on a page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules about colours, which take most of the time of a run. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];
const RULES = {
  all: {},
  colors: { runOnly: COLOR_RULES },
  structure: { rules: Object.fromEntries(COLOR_RULES.map((rule) => [rule, { enabled: false }])) },
};
export type Rules = keyof typeof RULES;

/**
 * Returns the violated rules with their elements, on the page or only within the selector. Transitions are awaited
 * first, so that a colour in transition counts only by its final value.
 */
export async function violations(page: Page, within?: string, rules: Rules = "all"): Promise<string[]> {
  // axe is evaluated as an expression, which the content security policy allows; it is half a megabyte, so each page
  // gets it once.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(`${AXE}; undefined`);
  await page.evaluate(waitForAnimations);
  return page.evaluate(async ([within, options]) => {
    const { axe } = window as unknown as { axe: { run(where: object, options: object): Promise<{ violations: Violation[] }> } };
    interface Violation { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }
    const result = await axe.run(within ? { include: [within] } : document, { resultTypes: ["violations"], ...options });
    return result.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
  }, [within, RULES[rules]] as const);
}

/** Waits two frames, so that new animations have started, and then for the end of every finite animation. */
async function waitForAnimations(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  // Animations that have not started, or that run for longer, belong to the page as it is.
  const ends = (animation: Animation) => {
    const timing = animation.effect?.getComputedTiming();
    return timing !== undefined && timing.progress !== null && Number(timing.endTime) <= 2_000;
  };
  const under = document.getAnimations().filter((animation) => animation.playState === "running" && ends(animation));
  // A cancelled animation rejects its promise.
  await Promise.allSettled(under.map((animation) => animation.finished));
}
