// English and Chinese, chosen or detected, the same before and after hydration; and a pseudo-locale that reveals
// untranslated texts.
// UX-29 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { chooseModel, expectStatus, waitForHydration, latestReply, TEST_MODEL } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { seedServer, SEEDED_TEXTS } from "../../support/seeded_server.ts";

/** Starts a demo reply with reasoning, a tool card, code and a table, in any language of the page. */
async function startDemo(page: Page): Promise<void> {
  await page.goto("/");
  await waitForHydration(page);
  await chooseModel(page, "demo/tour");
  await page.locator("#message").fill("Show me");
  await page.keyboard.press("Enter");
  await expectStatus(latestReply(page), "complete");
}

test.describe("a Chinese browser", () => {
  test.use({ locale: "zh-CN" });

  test("reads and hears Chinese, from the first byte on", async ({ page, model }) => {
    await page.goto("/");
    await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
    await waitForHydration(page);
    await chooseModel(page, TEST_MODEL);
    await page.getByRole("textbox", { name: "消息", exact: true }).fill("你好");
    await page.keyboard.press("Enter");
    const reply = await model.nextReply();
    reply.sendReasoning("想一想");
    await expect(latestReply(page).locator("details.reasoning > summary")).toContainText("思考");
    reply.finishWithText("好的：\n\n```rust\nfn main() {}\n```\n");
    await expectStatus(latestReply(page), "complete");
    await expect(page.locator("#say")).toContainText("好的");
    const label = await latestReply(page).locator("details.reasoning > summary .label-words").innerText();
    expect(label).toMatch(/思考了 \d+ 秒|略作思考/);
    await expect(latestReply(page).getByRole("button", { name: "复制代码" })).toBeAttached();
    await page.reload();
    await waitForHydration(page);
    await expect(latestReply(page).locator("details.reasoning > summary .label-words")).toHaveText(label);
    await expect(latestReply(page).getByRole("button", { name: "复制代码" })).toBeAttached();
    expect(await violations(page)).toEqual([]);
  });

  test("shows in Chinese why a reply failed", async ({ page, model }) => {
    await page.goto("/");
    await waitForHydration(page);
    await chooseModel(page, TEST_MODEL);
    await page.locator("#message").fill("你好");
    await page.keyboard.press("Enter");
    const reply = await model.nextReply();
    reply.sendText("一半");
    await expect(latestReply(page)).toContainText("一半");
    reply.dropConnection();
    await expectStatus(latestReply(page), "error");
    await expect(latestReply(page).locator(".error-title")).toHaveText(/^与 .+ 的连接中断。$/);
  });

  test("can have English, and its own choice back", async ({ page }) => {
    await page.goto("/settings/general");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("常规");
    await page.getByRole("button", { name: "English" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("General");
    await expect(page.getByRole("button", { name: "English" })).toHaveAttribute("aria-pressed", "true");
    await page.goto("/");
    await expect(page.getByRole("link", { name: "New chat" }).first()).toBeVisible();
    await page.goto("/settings/general");
    await page.getByRole("button", { name: "Browser default" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("常规");
  });
});

/** Returns the visible and spoken texts that no message table has, without what people and models wrote. */
async function untranslatedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const written = "[data-turn-id] .md, [data-block-type], .brand, kbd, code, pre, textarea, select, time, [data-own], .tool-body, .segment pre";
    // Names of products and protocols, texts of the test, keys.
    const names = /^(API|Top [pk]|OpenAI.*|Gemini|Anthropic|OpenRouter|DeepSeek|Groq|Mistral|xAI|Ollama|llama\.cpp|LM Studio|English|简体中文|SQLite|MIT OR Apache-2\.0|[0-9a-f]{16}|https?:\S+|test-model|Show me|tour|main|“?(# )?Welcome to Turnleaf.*|(title=)?Ctrl\+\S+)$/su;
    const known = /^([\s·,]|main · |Demo \(offline, scripted\) · (tour · )?)*\[[^\]]*(·\]|…$)|^[\s\d·.,:;%+≈$€/()‹›▸●–—-]*$/u;
    const texts: string[] = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const parent = node.parentElement;
      if (!parent || parent.closest(`script, style, svg, ${written}`)) continue;
      const text = node.textContent?.trim() ?? "";
      if (!known.test(text) && !names.test(text)) texts.push(text);
    }
    for (const element of document.body.querySelectorAll("[aria-label], [title], [placeholder], [alt]")) {
      if (element.closest(written) && !element.matches("textarea")) continue;
      for (const name of ["aria-label", "title", "placeholder", "alt"]) {
        const text = element.getAttribute(name);
        if (text && !known.test(text) && !names.test(`${name}=${text}`) && !known.test(text)) texts.push(`${name}=${text}`);
      }
    }
    return [...new Set(texts)];
  });
}

/** Returns the texts that are clipped although nothing scrolls there and no ellipsis marks it. */
async function clippedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const cut: string[] = [];
    for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
      const style = getComputedStyle(element);
      const hides = (axis: string): boolean => axis === "hidden" || axis === "clip";
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (element.matches(".quiet, .skip, [hidden], svg *, .md *") || element.closest("[popover]:not(:popover-open), .quiet")) continue;
      if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none") continue;
      // Visually hidden text for screen readers.
      if (element.clientWidth <= 2) continue;
      const isCut = (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1)
        // Lines overflow their boxes by a few pixels where a font is higher than its line.
        || (hides(style.overflowY) && element.clientHeight > 2 && element.scrollHeight > element.clientHeight + 4);
      if (isCut) cut.push(`${element.className}: ${element.innerText.slice(0, 60)}`);
    }
    return [...new Set(cut)];
  });
}

/** Returns the elements that make the page wider than the screen. */
async function overflowingElements(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const wide = [...document.body.querySelectorAll<HTMLElement>("*")].filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1);
    return [`${root.scrollWidth - root.clientWidth} px`, ...wide.map((element) => `${element.tagName}.${element.className}: ${element.innerText?.slice(0, 40)}`)].slice(0, 9);
  });
}

/**
 * Returns whether a text has letters apart from those of the message tables, of user content and names, of keys and
 * of addresses.
 */
function isOfPage(text: string): boolean {
  const known = [/\[[^\]]*\]/gs, /127\.0\.0\.1:\d+/g, /^(title|aria-label|alt)=/, /\b(main|test-model|Esc|Enter|Ctrl|HTTP API|UTC|B|KiB|MiB|GiB|ms|openai|again)\b/g];
  const wordsOf = (text: string) => text.match(/[\p{L}\d]+/gu) ?? [];
  const own = new Set(SEEDED_TEXTS.flatMap(wordsOf));
  // A text may be a part of the seeded content, such as a search result or a diff.
  if (wordsOf(text).every((word) => own.has(word))) return false;
  const left = SEEDED_TEXTS.reduce((text, own) => text.replaceAll(own, ""), text);
  return /\p{L}/u.test(known.reduce((text, pattern) => text.replaceAll(new RegExp(pattern, pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`), ""), left));
}

/** Asserts both at each width: no untranslated and no clipped texts. */
async function expectTranslated(page: Page, name: string, widths = [390, 820, 1440]): Promise<void> {
  expect.soft((await untranslatedTexts(page)).filter(isOfPage), `outside of the tables: ${name}`).toEqual([]);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    expect.soft(await clippedTexts(page), `clipped at ${width}: ${name}`).toEqual([]);
    expect.soft(await overflowingElements(page), `sideways scrolling at ${width}: ${name}`).toEqual([]);
  }
}

async function usePseudoLocale(page: Page, origin: string): Promise<void> {
  await page.context().addCookies([{ name: "turnleaf_language", value: "en-XA", url: origin }]);
}

test("pages with content and message forms contain no untranslated text", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  const { chat, message, reply, leaves: [left, right], graft, document, versions: [older, newer], importId: taken } = await seedServer(turnleaf, model);
  await usePseudoLocale(page, turnleaf.url);
  const addresses = [
    `/c/${chat}/export`, `/c/${chat}/find?q=leaf`, `/turns/${message}/edit`, `/turns/${reply}/again`, `/turns/${reply}/sent`,
    `/c/${chat}/compare?left=${left}&right=${right}`, `/c/${chat}/grafts/${graft}`, "/settings/data", `/settings/data/imports/${taken}`,
    `/documents/${document}`, `/documents/${document}/edit`, `/documents/${document}/compare?left=${older}&right=${newer}`,
    "/documents", "/usage", "/trash", "/search?q=leaf",
  ];
  for (const address of addresses) {
    await page.goto(address);
    await expectTranslated(page, address.replaceAll(/[0-9a-f-]{36}/g, "…"));
  }
  // The API documentation is in English, for developers; its frame is translated, and its texts must fit.
  await page.goto("/api/docs");
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    expect.soft([...await clippedTexts(page), ...await overflowingElements(page)], `/api/docs at ${width}`).toEqual([]);
  }
});

test("dialogs and menus of a chat contain no untranslated text", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  const { chat, reply } = await seedServer(turnleaf, model);
  await usePseudoLocale(page, turnleaf.url);
  await page.goto(`/c/${chat}`);
  await waitForHydration(page);
  const opened: [name: string, shows: string, deed: () => Promise<void>][] = [
    ["rename", "dialog[open]", () => page.locator(".chat-title button").click()],
    ["shortcuts", "dialog[open]", () => page.keyboard.press("Control+/")],
    ["the palette", "dialog[open] [role=option]", () => page.keyboard.press("Control+k")],
    ["the menu of a reply", ".menu:popover-open", () => page.locator(`#turn-${reply}-menu-button`).click()],
    ["the menu of the chat", ".menu:popover-open", () => page.locator("#chat-head-menu-button").click()],
    ["the Share menu", ".menu:popover-open", () => page.locator("#chat-share-menu-button").click()],
    ["the bar that finds", "[role=search]", () => page.keyboard.press("Control+Shift+F")],
    ["the tree", "#panel [role=treeitem]", () => page.keyboard.press("Control+.")],
  ];
  for (const [name, shows, deed] of opened) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await deed();
    await page.locator(shows).first().waitFor();
    await expectTranslated(page, name, name === "the tree" ? [1440] : undefined);
    await page.keyboard.press("Escape");
  }
});

test("pages contain no untranslated text, and longer words have room", async ({ page, watch }) => {
  watch.expect(/nothing\/here|forms\/send/);
  test.setTimeout(120_000);
  await usePseudoLocale(page, (await page.context().request.get("/")).url());
  await startDemo(page);
  const chat = new URL(page.url()).pathname;
  const pages = [
    "/", chat, `${chat}/tree`, `${chat}/settings`, `${chat}/tools`, `${chat}/branches`, "/documents", "/documents/new", "/search",
    "/settings/general", "/settings/appearance", "/settings/providers", "/settings/tools", "/settings/shortcuts", "/settings/about",
    "/settings/shared-links", `${chat}/share`, "/usage", "/trash", "/nothing/here", "/settings/appearance?saved=1", "/offline", `${chat}/drawing`, `${chat}/compare`, "/forms/send",
  ];
  for (const path of pages) {
    await page.goto(path);
    await expectTranslated(page, path);
  }
});
