// Formulas have a font with the table that lets brackets stretch, and only pages with formulas fetch it.
import { expectStatus, latestReply, openPage, startChat } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("formulas are drawn in the font of this site, which pages without them do not fetch", async ({ page, model }) => {
  const fonts: string[] = [];
  page.on("request", (request) => void (request.resourceType() === "font" && fonts.push(new URL(request.url()).pathname)));
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
  await expect.poll(() => page.evaluate(() => [...document.fonts].map((font) => [font.family.replaceAll('"', ""), font.status]))).toEqual([["Turnleaf Math", "loaded"]]);
  expect(fonts).toHaveLength(1);
  expect(fonts[0]).toMatch(/^\/pkg\/[0-9a-f]+\/math\.woff2$/);
  const heights = await formula.locator("mo").evaluateAll((signs) =>
    signs.filter((sign) => sign.textContent === "(").map((sign) => sign.getBoundingClientRect().height));
  expect(heights[0]!, "the bracket around a fraction of fractions stretches").toBeGreaterThan(heights.at(-1)! * 1.8);
});
