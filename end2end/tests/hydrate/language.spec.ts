// English and Chinese, chosen or found out, the same before and after the page is live; and a language that shows what is
// written outside of the tables.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { expectStatus, hydrated, latestReply, TEST_MODEL } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

/** A reply with reasoning, a tool's card, code and a table, in any language of the page. */
async function demo(page: Page): Promise<void> {
  await page.goto("/");
  await hydrated(page);
  await page.locator("select[name=model]").selectOption("demo/tour");
  await page.locator("#message").fill("Show me");
  await page.keyboard.press("Enter");
  await expectStatus(latestReply(page), "complete");
}

test.describe("a Chinese browser", () => {
  test.use({ locale: "zh-CN" });

  test("reads and hears Chinese, from the first byte on", async ({ page, model }) => {
    await page.goto("/");
    await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
    await hydrated(page);
    await page.locator("select[name=model]").selectOption(TEST_MODEL);
    await page.getByRole("textbox", { name: "消息", exact: true }).fill("你好");
    await page.keyboard.press("Enter");
    const reply = await model.next();
    reply.think("想一想");
    await expect(latestReply(page).locator("details.reasoning > summary")).toContainText("思考");
    reply.answer("好的：\n\n```rust\nfn main() {}\n```\n");
    await expectStatus(latestReply(page), "complete");
    await expect(page.locator("#say")).toContainText("好的");
    const label = await latestReply(page).locator("details.reasoning > summary .label-words").innerText();
    expect(label).toMatch(/思考了 \d+ 秒|略作思考/);
    await expect(latestReply(page).getByRole("button", { name: "复制代码" })).toBeAttached();
    await page.reload();
    await hydrated(page);
    await expect(latestReply(page).locator("details.reasoning > summary .label-words")).toHaveText(label);
    await expect(latestReply(page).getByRole("button", { name: "复制代码" })).toBeAttached();
    expect(await violations(page)).toEqual([]);
  });

  test("is told in Chinese why a reply failed", async ({ page, model }) => {
    await page.goto("/");
    await hydrated(page);
    await page.locator("select[name=model]").selectOption(TEST_MODEL);
    await page.locator("#message").fill("你好");
    await page.keyboard.press("Enter");
    const reply = await model.next();
    reply.say("一半");
    await expect(latestReply(page)).toContainText("一半");
    reply.drop();
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
    await page.getByRole("button", { name: "As the browser" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("常规");
  });
});

/** Texts that a person sees or hears and that no table has, of all but what people and models wrote. */
async function outsideOfTables(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const written = "[data-turn-id] .md, [data-block-type], .brand, kbd, code, pre, textarea, select, time, [data-own], .tool-body, .segment pre";
    // Names of products and protocols, what the test wrote, keys.
    const names = /^(API|Top [pk]|OpenAI.*|Gemini|Anthropic|OpenRouter|DeepSeek|Groq|Mistral|xAI|Ollama|llama\.cpp|LM Studio|English|简体中文|SQLite|MIT OR Apache-2\.0|[0-9a-f]{16}|https?:\S+|test-model|Show me|tour|main|“?(# )?Welcome to Turnleaf.*|(title=)?Ctrl\+\S+)$/su;
    const known = /^([\s·,]|main · |Demo \(offline, scripted\) · tour · )*\[[^\]]*(·\]|…$)|^[\s\d·.,:;%+≈$€/()‹›▸●–—-]*$/u;
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

/** Words that are cut off although nothing scrolls there and no ellipsis says so. */
async function clipped(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const cut: string[] = [];
    for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
      const style = getComputedStyle(element);
      const hides = (axis: string): boolean => axis === "hidden" || axis === "clip";
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (element.matches(".quiet, .skip, [hidden], svg *, .md *") || element.closest("[popover]:not(:popover-open), .quiet")) continue;
      if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none") continue;
      // Only for ears.
      if (element.clientWidth <= 2) continue;
      if (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1) cut.push(`${element.className}: ${element.innerText.slice(0, 60)}`);
    }
    return [...new Set(cut)];
  });
}

/** What makes the page wider than the screen. */
async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const wide = [...document.body.querySelectorAll<HTMLElement>("*")].filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1);
    return [`${root.scrollWidth - root.clientWidth} px`, ...wide.map((element) => `${element.tagName}.${element.className}: ${element.innerText?.slice(0, 40)}`)].slice(0, 9);
  });
}

test("no word stands outside of the tables, and longer words have room", async ({ page, watch }) => {
  watch.expect(/nothing\/here|forms\/send/);
  test.setTimeout(120_000);
  await page.context().addCookies([{ name: "turnleaf_language", value: "en-XA", url: (await page.context().request.get("/")).url() }]);
  await demo(page);
  const chat = new URL(page.url()).pathname;
  const pages = [
    "/", chat, `${chat}/tree`, `${chat}/settings`, `${chat}/tools`, `${chat}/branches`, "/documents", "/documents/new", "/search",
    "/settings/general", "/settings/appearance", "/settings/providers", "/settings/tools", "/settings/shortcuts", "/settings/about",
    "/usage", "/trash", "/nothing/here", "/settings/appearance?saved=1", "/offline", `${chat}/drawing`, `${chat}/compare`, "/forms/send",
  ];
  for (const path of pages) {
    await page.goto(path);
    expect.soft(await outsideOfTables(page), `outside of the tables: ${path}`).toEqual([]);
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      expect.soft(await clipped(page), `clipped at ${width}: ${path}`).toEqual([]);
      expect.soft(await tooWide(page), `sideways scrolling at ${width}: ${path}`).toEqual([]);
    }
  }
});
