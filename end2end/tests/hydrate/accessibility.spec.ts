// What axe can see, and what reflow asks for: every screen, in both themes and at three widths, idle, while a reply is
// written, broken, and while a tool waits for a person; nothing to be scrolled in two directions on the narrowest screen
// and at 200 %; and nothing that sticks covers what has the focus.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { begin, expectStatus, hydrated, idOf, latestReply, open, send, textOf } from "../../support/chat.ts";
import { drawn } from "../../support/dom.ts";
import { expect, test } from "../../support/fixtures.ts";
import { openWithTools, question, test as withTools, wire } from "../../support/tools.ts";

const WIDTHS = [390, 820, 1440];
const THEMES = ["light", "dark"] as const;
const softly = expect.configure({ soft: true });
/** The narrowest screen, and a window of 1440 × 900 at 200 %. */
const NARROW = [{ width: 320, height: 640 }, { width: 720, height: 450 }];

/** What is being moved for longer than a frame. */
function moving(page: Page): Promise<string[]> {
  const frame = 17;
  return page.evaluate((frame) => document.getAnimations().flatMap((animation) => {
    const { effect } = animation;
    const lasts = Number(effect?.getComputedTiming().duration ?? 0);
    const target = effect instanceof KeyframeEffect ? `${effect.target?.className ?? ""}${effect.pseudoElement ?? ""}` : "";
    return animation.playState === "running" && lasts > frame ? [`${target}: ${lasts} ms`] : [];
  }), frame);
}

/** Holds what is on screen to all of it. */
async function isForEverybody(page: Page, screen: string): Promise<void> {
  for (const size of NARROW) {
    await page.setViewportSize(size);
    await drawn(page);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect.soft(wider, `${screen}: sideways scrolling at ${size.width}`).toBeLessThanOrEqual(0);
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await drawn(page);
      expect.soft(await moving(page), `${screen}, ${width}: what moves for whoever wants it still`).toEqual([]);
      // What lies outside of the window takes the colours of another theme a moment later.
      await softly.poll(() => violations(page), { message: `${screen}, ${width}, ${colorScheme}`, timeout: 10_000 }).toEqual([]);
    }
  }
}

const SCREENS: [group: string, addresses: string[]][] = [
  ["the settings", ["general", "appearance", "providers", "tools"].map((name) => `/settings/${name}`)],
  ["more settings", ["/settings/shortcuts", "/settings/data", "/settings/about", "/usage", "/offline"]],
  ["what is kept", ["/documents", "/documents/new", "/search?q=leaf", "/trash"]],
  ["the gallery", ["basics", "parts", "lists", "composer-files"].map((name) => `/settings/about/gallery/${name}`)],
  ["the gallery's replies", ["writing", "reasoning", "tools"].map((name) => `/settings/about/gallery/${name}`)],
];

for (const [group, addresses] of SCREENS) {
  test(`nothing is in the way of anybody: ${group}`, async ({ page }) => {
    test.setTimeout(120_000);
    for (const address of addresses) {
      await page.goto(address);
      await isForEverybody(page, address);
    }
  });
}

test("nothing is in the way of anybody: a new chat, a reply, its tree and its pages", async ({ page }) => {
  test.setTimeout(120_000);
  await open(page);
  await isForEverybody(page, "a new chat");
  await begin(page, "Show me", "demo/tour");
  await expectStatus(latestReply(page), "complete");
  await isForEverybody(page, "a reply");
  const chat = new URL(page.url()).pathname;
  await open(page, `${chat}/tree`);
  await isForEverybody(page, "the tree");
  for (const name of ["settings", "branches", "tools"]) {
    await page.goto(`${chat}/${name}`);
    await isForEverybody(page, `the chat's ${name}`);
  }
});

test("nothing is in the way of anybody: what a chat's menus lead to", async ({ page }) => {
  test.setTimeout(120_000);
  await begin(page, "Show me", "demo/tour");
  await expectStatus(latestReply(page), "complete");
  const [chat, reply] = [new URL(page.url()).pathname, await idOf(latestReply(page))];
  const addresses = [`${chat}/export`, `${chat}/find?q=the`, `${chat}/compare`, `/turns/${reply}/again`, `/turns/${reply}/sent`];
  for (const address of addresses) {
    await page.goto(address);
    await isForEverybody(page, address.replace(/[0-9a-f-]{36}/, "…"));
  }
});

test("nothing is in the way of anybody: what is not there", async ({ page, watch }) => {
  watch.expect(/status of 404/);
  for (const address of ["/c/00000000-0000-7000-8000-000000000000", "/documents/none", "/nowhere"]) {
    await page.goto(address);
    await isForEverybody(page, address);
  }
});

test.describe("without a provider", () => {
  test.use({ configured: false });
  test("nothing is in the way of anybody: the first run", async ({ page }) => {
    await open(page);
    await isForEverybody(page, "the first run");
  });
});

withTools("nothing is in the way of anybody while a reply is written, asks, and breaks", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  await openWithTools(page, turnleaf);
  await send(page, "Write it down");
  const reply = await model.next();
  reply.think("Let me see. ");
  reply.say("Half an **answer** with `code`");
  await expect(textOf(latestReply(page))).toHaveText(/Half an answer/);
  await isForEverybody(page, "streaming");
  await latestReply(page).locator("details.reasoning summary").click();
  expect.soft(await violations(page), "streaming, reasoning open or closed by hand").toEqual([]);
  reply.ask([wire("delete"), "a note"]);
  await expect(question(page)).toBeVisible();
  await isForEverybody(page, "approval");
  await question(page).getByRole("button", { name: "Allow once", exact: true }).click();
  const next = await model.next();
  next.say("Written");
  next.drop();
  await expectStatus(latestReply(page), "error");
  await latestReply(page).getByRole("button", { name: "Details", exact: true }).click();
  await isForEverybody(page, "error");
});

test("paper is light, and has the text over its whole width and nothing to press", async ({ page, turnleaf }) => {
  const { chat } = await turnleaf.grow(6);
  for (const width of [600, 820, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    await open(page, `/c/${chat}`);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const reply = await latestReply(page).boundingBox();
    expect.soft(reply?.width, `the text at ${width}`).toBeGreaterThan(0.85 * width);
    await expect.soft(page.getByRole("navigation")).toBeHidden();
    await expect.soft(page.getByRole("form", { name: "Message" })).toBeHidden();
    await expect.soft(page.locator("button:not(h1 *)").filter({ visible: true })).toHaveCount(0);
    const ink = await textOf(latestReply(page)).evaluate((text) => getComputedStyle(text).color);
    const [red = 255] = (ink.match(/[\d.]+/g) ?? []).map(Number);
    expect.soft(red, `${ink} on paper`).toBeLessThan(100);
    // All of it is laid out, also what is far away.
    const hidden = await page.locator(".turn-row").evaluateAll((rows) => rows.filter((row) => getComputedStyle(row).contentVisibility !== "visible").length);
    expect.soft(hidden).toBe(0);
  }
  await page.goto("/settings/about/gallery/tools");
  const main = await page.locator("main").boundingBox();
  expect.soft(main?.width, "a plain page").toBeGreaterThan(0.9 * 1440);
});

test("where the colours are the system's, what is chosen, pressed and framed is still seen", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto("/settings/about/gallery/parts");
  const edges = (name: string) => page.getByRole("button", { name, exact: true }).first().evaluate((button) => getComputedStyle(button).borderTopStyle);
  for (const name of ["Primary", "Plain", "Bare", "Danger"]) expect.soft(await edges(name), name).toBe("solid");
  await page.goto("/settings/about/gallery/writing");
  expect.soft(await page.locator(".bubble").first().evaluate((bubble) => getComputedStyle(bubble).borderTopWidth)).toBe("1px");
  await page.goto("/settings/about/gallery/basics");
  // Colours that are the matter itself stay.
  expect.soft(await page.locator(".swatch").first().evaluate((swatch) => getComputedStyle(swatch).forcedColorAdjust)).toBe("none");
});

for (const viewport of NARROW) {
  test(`what sticks never covers the focus, ${viewport.width} × ${viewport.height}`, async ({ page, turnleaf }) => {
    await page.setViewportSize(viewport);
    const { chat } = await turnleaf.grow(8);
    await page.goto(`/c/${chat}`);
    await hydrated(page);
    await page.locator("body").press("Home");
    const covered: string[] = [];
    for (let step = 0; step < 60; step += 1) {
      await page.keyboard.press("Tab");
      const what = await page.evaluate(async () => {
        await new Promise((drawn) => requestAnimationFrame(drawn));
        const focused = document.activeElement;
        if (!focused || focused === document.body) return null;
        const box = focused.getBoundingClientRect();
        // What is only for those who listen has no place to be covered in.
        if (box.width < 8 || box.height < 8) return null;
        const points = [[0.5, 0.5], [0.1, 0.2], [0.9, 0.8]].map(([x, y]) => [box.left + x! * box.width, box.top + y! * box.height] as const);
        const isSeen = ([x, y]: readonly [number, number]) => {
          const there = document.elementFromPoint(x, y);
          return there !== null && (focused.contains(there) || there.contains(focused));
        };
        return points.some(isSeen) ? null : `${focused.outerHTML.slice(0, 120)} at ${Math.round(box.left)}, ${Math.round(box.top)}`;
      });
      if (what) covered.push(what);
    }
    expect(covered).toEqual([]);
  });
}
