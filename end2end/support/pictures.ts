// Pictures of pages, compared with the approved ones (`end2end/pictures`). Pages use the box font and no animations,
// so that a picture is the same on every machine.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

import type { Page, TestInfo } from "@playwright/test";

import { boxFont } from "./box_font.ts";
import { waitForHydration } from "./chat.ts";
import { waitForPaint } from "./dom.ts";
import { expect, test as base } from "./fixtures.ts";
import { comparePictures, mapOf } from "./picture_comparison.ts";
import { decode, encode } from "./png.ts";

export const WIDTHS = [390, 820, 1440];
const THEMES = ["light", "dark"] as const;
/** Colours do not depend on the language, so Chinese is checked in one theme. */
const LOOKS = [["en", THEMES], ["zh-Hans", ["light"]]] as const;
const HEIGHT = 900;

const APPROVED = fileURLToPath(new URL("../pictures", import.meta.url));
/** Set by `cargo xtask pictures`: the current pictures become the approved ones. */
export const IS_REFRESH = process.env.TURNLEAF_PICTURES === "refresh";
/** Set by `cargo xtask gallery`: pictures are made for the documentation. */
export const IS_FOR_DOCS = process.env.TURNLEAF_PICTURES === "docs";

/** Styles on top of a page: the box font, a fixed width for texts that differ from run to run, and no transitions. */
const STILL = `
*, ::before, ::after { transition: none !important; }
@font-face { font-family: Boxes; src: url(data:font/ttf;base64,${boxFont().toString("base64")}); }
*, ::before, ::after { font-family: Boxes !important; }
.compare-side h4 + .hint { inline-size: 12em; overflow: hidden; white-space: nowrap; }
time, .timer, .countdown, .meta-part { display: inline-block; inline-size: 4em; block-size: 1em; overflow: hidden; background: currentColor; }
`;

export const test = base.extend({
  // The content security policy of the page would refuse the injected style.
  bypassCSP: true,
  locale: "en-GB",
  timezoneId: "UTC",
});

/** Sets the page in the box font and waits until it is rendered. */
export async function useBoxFont(page: Page): Promise<void> {
  await page.addStyleTag({ content: STILL });
  await page.evaluate(async () => {
    await document.fonts.load("16px Boxes");
    await document.fonts.ready;
  });
  // Scripts measure sizes again.
  await waitForPaint(page);
}

/**
 * Compares a picture with the approved one of this name; a failure leaves the picture and its difference beside it.
 */
export async function checkPicture(page: Page, name: string, info: TestInfo): Promise<void> {
  // An application page scrolls to its end and is captured at the height of its window; only server pages are
  // captured in full.
  const fullPage = (await page.locator("body.plain").count()) > 0;
  const picture = await page.screenshot({ fullPage, animations: "disabled", scale: "css" });
  const seen = mapOf(decode(picture));
  const file = join(APPROVED, `${name}.png`);
  if (IS_REFRESH) {
    mkdirSync(APPROVED, { recursive: true });
    const isNews = !existsSync(file) || comparePictures(read(file), seen).wrong !== undefined;
    if (isNews) writeFileSync(file, encode(seen));
    return;
  }
  if (!existsSync(file)) {
    expect.soft(undefined, `${name}: there is no approved picture; look at the new one and run \`cargo xtask pictures\``).toBeDefined();
    await attachFiles(info, name, { seen: picture });
    return;
  }
  const { wrong, difference } = comparePictures(read(file), seen);
  if (wrong === undefined) return;
  await attachFiles(info, name, { seen: picture, approved: readFileSync(file), difference: encode(difference) });
  expect.soft(wrong, `${name}: if it should look like this, run \`cargo xtask pictures\``).toBeUndefined();
}

const read = (file: string) => decode(readFileSync(file));

async function attachFiles(info: TestInfo, name: string, files: Record<string, Buffer>): Promise<void> {
  for (const [kind, bytes] of Object.entries(files)) {
    const path = info.outputPath(`${name}.${kind}.png`);
    writeFileSync(path, bytes);
    await info.attach(`${name}.${kind}`, { path, contentType: "image/png" });
  }
}

/**
 * Checks a page in every width, both themes and both languages, after hydration where it has a script. `ready` waits
 * for later content and opens what is to be checked, in any language; what only some widths have is checked at those.
 */
export async function checkPictures(
  page: Page, origin: string, name: string, address: string, info: TestInfo, ready?: () => Promise<void>, widths = WIDTHS,
): Promise<void> {
  for (const [language, themes] of LOOKS) {
    await page.context().addCookies([{ name: "turnleaf_language", value: language, url: origin }]);
    await page.setViewportSize({ width: widths.at(-1) ?? 1440, height: HEIGHT });
    await page.goto(address);
    // Some pages work without a script.
    if ((await page.locator("script[type=module]").count()) > 0) await waitForHydration(page);
    await ready?.();
    await useBoxFont(page);
    for (const width of widths) {
      await page.setViewportSize({ width, height: HEIGHT });
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await waitForPaint(page);
        await checkPicture(page, `${name}.${width}.${theme}.${language.slice(0, 2)}`, info);
      }
    }
  }
}
