// The comparison itself: it finds what has moved, appeared or disappeared, and ignores how letters are rendered.
import type { Page } from "@playwright/test";

import { comparePictures, mapOf } from "../../support/picture_comparison.ts";
import { useBoxFont, test } from "../../support/pictures.ts";
import { decode, encode, type Pixels } from "../../support/png.ts";
import { expect } from "../../support/fixtures.ts";

const shot = async (page: Page): Promise<Pixels> => decode(await page.screenshot({ fullPage: true, animations: "disabled", scale: "css" }));
const differingSquares = (approved: Pixels, seen: Pixels) => comparePictures(mapOf(approved), mapOf(seen)).wrong;

test.use({ withProvider: false });

test("a button that moved, a panel that vanished, another colour and another word are found", async ({ page }) => {
  await page.goto("/settings/about/gallery/parts");
  await useBoxFont(page);
  const before = await shot(page);
  expect(differingSquares(before, await shot(page))).toBeUndefined();
  const changes: [name: string, style: string][] = [
    ["moved", ".board .button.primary { translate: 12px 0 }"],
    ["vanished", ".first-run { visibility: hidden }"],
    ["another colour", ".said.danger { background: var(--ok-bg) }"],
    ["gone", ".board > .dialog { display: none }"],
    ["another size", ".board h2 { font-size: 1.5rem }"],
  ];
  for (const [name, content] of changes) {
    const style = await page.addStyleTag({ content: content.replaceAll(/;? }/g, " !important }") });
    expect(differingSquares(before, await shot(page)), name).toBeDefined();
    await style.evaluate((element) => (element as Element).remove());
  }
  await page.getByRole("button", { name: "Primary" }).evaluate((button) => (button.textContent = "Quite primary"));
  expect(differingSquares(before, await shot(page)), "another word").toBeDefined();
});

test("another font or glyph rendering is tolerated", async ({ page }) => {
  await page.goto("/settings/about/gallery/writing");
  await page.addStyleTag({ content: ":root { --font-sans: serif; --font-mono: sans-serif; -webkit-font-smoothing: antialiased; }" });
  await useBoxFont(page);
  const serif = await shot(page);
  await page.reload();
  await useBoxFont(page);
  expect(differingSquares(serif, await shot(page))).toBeUndefined();
  // Edges that are off by a fraction of a pixel, and noise.
  const drawnOtherwise = { ...serif, rgb: Buffer.from(serif.rgb.map((value, at) => Math.min(255, (value * 2 + (serif.rgb[at + 3] ?? value)) / 3 + (at % 5)))) };
  expect(differingSquares(serif, drawnOtherwise)).toBeUndefined();
});

test("a picture round-trips through PNG", () => {
  const many: Pixels = { width: 40, height: 30, rgb: Buffer.from(Array.from({ length: 3600 }, (_, at) => (at * 7919) % 256)) };
  expect(decode(encode(many))).toEqual(many);
  const few = mapOf(many, 10, 64);
  expect(decode(encode(few))).toEqual(few);
});
