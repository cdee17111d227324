// What axe finds on a page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules that are broken, with the elements that break them: on the page, or only within what the selector names. A
 *  colour on its way to another breaks none that it will not break when it is there. */
export async function violations(page: Page, within?: string): Promise<string[]> {
  // As an expression, which the page's content policy has no say in; half a megabyte, once for each page.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(`${AXE}; undefined`);
  await page.evaluate(waitForAnimations);
  return page.evaluate(async (within) => {
    const { axe } = window as unknown as { axe: { run(where: object, options: object): Promise<{ violations: Violation[] }> } };
    interface Violation { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }
    const result = await axe.run(within ? { include: [within] } : document, { resultTypes: ["violations"] });
    return result.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
  }, within);
}

/** Two frames, so that what was asked for has begun, and the end of whatever ends by itself. */
async function waitForAnimations(): Promise<void> {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  // What has not begun, or goes on for longer, is part of the page as it is.
  const ends = (animation: Animation) => {
    const timing = animation.effect?.getComputedTiming();
    return timing !== undefined && timing.progress !== null && Number(timing.endTime) <= 2_000;
  };
  const under = document.getAnimations().filter((animation) => animation.playState === "running" && ends(animation));
  // One that was called off has no end to wait for.
  await Promise.allSettled(under.map((animation) => animation.finished));
}
