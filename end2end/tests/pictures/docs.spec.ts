// The pictures of docs/gallery and the README: the main screens in a real font, in three widths, both themes and both
// languages, one sheet per screen. `cargo xtask gallery` makes them for readers; nothing is compared with them.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, textOf } from "../../support/chat.ts";
import { waitForPaint } from "../../support/dom.ts";
import { expect } from "../../support/fixtures.ts";
import { seedServer } from "../../support/seeded_server.ts";
import { IS_FOR_DOCS, test, WIDTHS } from "../../support/pictures.ts";

const DOCS = fileURLToPath(new URL("../../../docs", import.meta.url));
const GALLERY = join(DOCS, "gallery");
const HEIGHT = 900;
/** The scale of a screen on its sheet, and the bounds of a sheet. */
const SCALE = 0.5;
const QUALITY = 85;
const MOST_BYTES = 400_000;
const LANGUAGES = [["en", "English"], ["zh-Hans", "简体中文"]] as const;
const THEMES = ["light", "dark"] as const;

/** One screen: its address, and the actions before it is captured. */
interface Screen {
  name: string;
  address: string;
  ready?: (page: Page) => Promise<void>;
}

const inGallery = (sheet: string): Screen => ({
  name: `gallery-${sheet}`,
  address: `/settings/about/gallery/${sheet}`,
  ready: (page) => page.locator(".gallery").evaluate((gallery) => scrollTo(0, gallery.getBoundingClientRect().top + scrollY)),
});

/** Takes all pictures of a screen and puts them on one sheet. */
async function capture(page: Page, origin: string, { name, address, ready }: Screen): Promise<void> {
  const rows: [title: string, pictures: string[]][] = [];
  for (const [language, spoken] of LANGUAGES) {
    await page.context().addCookies([{ name: "turnleaf_language", value: language, url: origin }]);
    const pictures = { light: [] as string[], dark: [] as string[] };
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      await page.goto(address);
      await ready?.(page);
      await page.evaluate(() => document.fonts.ready);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await waitForPaint(page);
        const picture = await page.screenshot({ animations: "disabled", scale: "css" });
        pictures[theme].push(picture.toString("base64"));
      }
    }
    for (const theme of THEMES) rows.push([`${spoken}, ${theme}`, pictures[theme]]);
  }
  const cell = (picture: string, at: number) => `<img src="data:image/png;base64,${picture}" width="${WIDTHS[at]! * SCALE}" height="${HEIGHT * SCALE}">`;
  const row = ([title, pictures]: [string, string[]]) => `<h2>${title}</h2><div>${pictures.map(cell).join("")}</div>`;
  const style = "body{margin:0;padding:16px;background:#888;font:14px sans-serif;color:#fff;width:max-content}h2{font:inherit;margin:8px 0}div{display:flex;gap:16px}img{display:block}";
  const board = await page.context().newPage();
  await board.setContent(`<style>${style}</style>${rows.map(row).join("")}`);
  await board.waitForFunction(() => [...document.images].every((image) => image.complete));
  const { width, height } = await board.evaluate(() => ({ width: document.body.offsetWidth, height: document.documentElement.scrollHeight }));
  const session = await page.context().newCDPSession(board);
  const clip = { x: 0, y: 0, width, height, scale: 1 };
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY, clip, captureBeyondViewport: true });
  await board.close();
  writeFileSync(join(GALLERY, `${name}.webp`), Buffer.from(data, "base64"));
}

if (IS_FOR_DOCS) {
  // Tests run one after the other, because `cargo xtask gallery` has one worker; a failure does not stop the next.
  test.describe.configure({ timeout: 400_000 });

  test("clears the old pictures", () => {
    mkdirSync(GALLERY, { recursive: true });
    for (const file of readdirSync(GALLERY)) if (/\.(png|webp)$/.test(file)) rmSync(join(GALLERY, file));
  });

  test.describe("on a new server", () => {
    test.use({ withProvider: false });
    test("the first run", async ({ page, turnleaf }) => {
      await capture(page, turnleaf.url, { name: "first-run", address: "/", ready: waitForHydration });
    });
    test("the parts", async ({ page, turnleaf }) => {
      for (const name of ["writing", "reasoning", "tools", "results", "parts", "menus"]) await capture(page, turnleaf.url, inGallery(name));
    });
  });

  test("a chat, and what belongs to it", async ({ page, turnleaf, model }) => {
    const { chat, leaves: [left, right], document } = await seedServer(turnleaf, model);
    await page.setViewportSize({ width: 1280, height: 800 });
    await startChat(page, "Show me what you can do", "demo/tour");
    await expectStatus(latestReply(page), "complete");
    const tour = new URL(page.url()).pathname;
    await page.goto(tour);
    await waitForHydration(page);
    await page.evaluate(() => scrollTo(0, 0));
    await waitForPaint(page);
    writeFileSync(join(DOCS, "screenshot.png"), await page.screenshot({ animations: "disabled", scale: "css" }));

    await startChat(page, "Write a line");
    const reply = await model.nextReply();
    reply.sendReasoning("The tree is old. ");
    reply.sendText("Leaf by leaf the **path** grows on");
    await expect(textOf(latestReply(page))).toHaveText(/Leaf by leaf/);
    await page.waitForURL(/\/c\//);
    const answering = new URL(page.url()).pathname;
    const palette = async (page: Page) => {
      await waitForHydration(page);
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("option").first().waitFor();
    };
    const screens: Screen[] = [
      { name: "home", address: "/", ready: waitForHydration },
      { name: "chat", address: tour, ready: waitForHydration },
      { name: "chat-answering", address: answering, ready: waitForHydration },
      { name: "tree", address: `/c/${chat}/tree`, ready: waitForHydration },
      { name: "palette", address: `/c/${chat}`, ready: palette },
      { name: "compare", address: `/c/${chat}/compare?left=${left}&right=${right}` },
      { name: "document", address: `/documents/${document}` },
      { name: "documents", address: "/documents" },
      { name: "search", address: "/search?q=leaf" },
      { name: "trash", address: "/trash" },
      { name: "usage", address: "/usage" },
      { name: "settings-providers", address: "/settings/providers" },
      { name: "settings-appearance", address: "/settings/appearance" },
    ];
    for (const screen of screens) await capture(page, turnleaf.url, screen);
    reply.finish();
  });

  test("stays within its size budget", () => {
    for (const file of readdirSync(GALLERY)) expect.soft(statSync(join(GALLERY, file)).size, file).toBeLessThan(MOST_BYTES);
  });
}
