// What axe finds on a page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules that are broken, with the elements that break them: on the page, or only within what the selector names. */
export async function violations(page: Page, within?: string): Promise<string[]> {
  // As an expression, which the page's content policy has no say in; half a megabyte, once for each page.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(`${AXE}; undefined`);
  return page.evaluate(async (within) => {
    const { axe } = window as unknown as { axe: { run(where: object, options: object): Promise<{ violations: Violation[] }> } };
    interface Violation { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }
    const result = await axe.run(within ? { include: [within] } : document, { resultTypes: ["violations"] });
    return result.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
  }, within);
}
