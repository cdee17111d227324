// The pictures in docs/gallery: pages as they are, half as large, in few colours. Made when pictures are approved.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

import { mapOf } from "../../support/likeness.ts";
import { IS_REFRESH, test } from "../../support/pictures.ts";
import { decode, encode } from "../../support/png.ts";

const DOCS = fileURLToPath(new URL("../../../docs/gallery", import.meta.url));
/** Pixels of a page to one of its picture, on each side, and how far apart shades lie. */
const [SMALLER, SHADE] = [2, 8];

const SHOWN: [sheet: string, theme: "light" | "dark", width: number][] = [
  ["writing", "light", 1440],
  ["tools", "dark", 1440],
  ["parts", "light", 820],
  ["reasoning", "dark", 390],
];

if (IS_REFRESH) {
  test("the pictures of the docs", async ({ page }) => {
    mkdirSync(DOCS, { recursive: true });
    for (const [sheet, colorScheme, width] of SHOWN) {
      await page.setViewportSize({ width, height: 1100 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto(`/settings/about/gallery/${sheet}`);
      await page.locator(".gallery").evaluate((gallery) => gallery.scrollIntoView());
      const picture = decode(await page.screenshot({ animations: "disabled", scale: "css" }));
      writeFileSync(join(DOCS, `${sheet}.png`), encode(mapOf(picture, SMALLER, SHADE)));
    }
  });
}
