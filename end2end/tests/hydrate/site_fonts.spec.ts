// The fonts of this site. Formulas have one with the table that lets brackets stretch, which only pages with formulas
// fetch. Text has one from the second page load on, so that a first visit fetches none.
import { expectStatus, latestReply, openPage, startChat } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

import type { Page } from "@playwright/test";

/** Returns the paths of the requested fonts with this name, as they come. */
function requestedFonts(page: Page, name: string): string[] {
  const fonts: string[] = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    if (request.resourceType() === "font" && path.endsWith(`/${name}.woff2`)) fonts.push(path);
  });
  return fonts;
}

test("formulas are drawn in the font of this site, which pages without them do not fetch", async ({ page, model }) => {
  const fonts = requestedFonts(page, "math");
  await openPage(page);
  await startChat(page, "How much?");
  (await model.nextReply()).finishWithText("It costs $5 or $6.");
  await expectStatus(latestReply(page), "complete");
  expect(fonts).toEqual([]);

  await startChat(page, "Formulas");
  (await model.nextReply()).finishWithText("$$\\left( \\frac{\\frac{a}{b}}{\\frac{c}{d}} \\right) + (x)$$");
  await expectStatus(latestReply(page), "complete");
  const formula = latestReply(page).locator("math");
  await expect(formula).toBeVisible();
  await expect.poll(() => page.evaluate(() => [...document.fonts].filter((font) => font.status === "loaded").map((font) => font.family.replaceAll('"', "")))).toContain("Turnleaf Math");
  expect(fonts).toHaveLength(1);
  expect(fonts[0]).toMatch(/^\/pkg\/[0-9a-f]+\/math\.woff2$/);
  const heights = await formula.locator("mo").evaluateAll((signs) =>
    signs.filter((sign) => sign.textContent === "(").map((sign) => sign.getBoundingClientRect().height));
  expect(heights[0]!, "the bracket around a fraction of fractions stretches").toBeGreaterThan(heights.at(-1)! * 1.8);
});

test("the font of the text is requested with the second page, in which nothing moves when it arrives", async ({ page }) => {
  const fonts = requestedFonts(page, "sans");
  await openPage(page);
  expect(fonts).toEqual([]);
  await expect(page.locator("html")).not.toHaveAttribute("data-font");
  await page.addInitScript(() => {
    Object.assign(window, { shift: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as any[]) (window as any).shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await openPage(page);
  await expect(page.locator("html")).toHaveAttribute("data-font", "site");
  expect(new Set(fonts).size).toBe(1);
  expect(fonts[0]).toMatch(/^\/pkg\/[0-9a-f]+\/sans\.woff2$/);
  await page.evaluate(() => document.fonts.ready);
  expect(await page.evaluate(() => (window as any).shift)).toBeLessThan(0.01);
});
