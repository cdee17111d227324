// Tables in replies: words stay whole, the table scrolls in itself under its headings, and it can be copied.
import type { Locator, Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { expectStatus, latestReply, startChat } from "../../support/chat.ts";
import { waitForPaint } from "../../support/dom.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";

const ROWS = Array.from({ length: 60 }, (_, n) => `| package-${n} | Apache | maintained | 2026 | a note of several words |`).join("\n");
const TABLE = `| Name | Licence | State | Year | Remark |\n| :-- | --- | :-: | --: | --- |\n${ROWS}\n`;

async function showReply(page: Page, model: ModelServer, text: string): Promise<Locator> {
  await startChat(page, "Compare");
  (await model.nextReply()).finishWithText(text);
  await expectStatus(latestReply(page), "complete");
  return latestReply(page).locator(".md-table");
}

/** Returns the words of the cells that are broken over lines. */
const brokenWords = (box: Locator): Promise<string[]> =>
  box.evaluate((box) => {
    const broken: string[] = [];
    for (const cell of box.querySelectorAll("th, td")) {
      const text = cell.firstChild!;
      for (const word of cell.textContent!.matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        // A hyphen is a place to break.
        if (!word[0].includes("-") && range.getClientRects().length > 1) broken.push(word[0]);
      }
    }
    return broken;
  });

test("a table of five columns is readable at every width", async ({ page, model }) => {
  const box = await showReply(page, model, TABLE);
  for (const width of [390, 820, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    await box.evaluate((box) => (box.scrollTop = 0));
    await waitForPaint(page);
    expect(await brokenWords(box), `${width}`).toEqual([]);
    const [inner, outer] = await box.evaluate((box) => [box.scrollWidth, box.clientWidth]);
    expect(inner! > outer!, `${width}`).toBe(width === 390);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), `${width}`).toBe(0);
    // The headings stay in sight.
    await box.evaluate((box) => (box.scrollTop = 400));
    const distance = () => box.evaluate((box) => box.querySelector("th")!.getBoundingClientRect().top - box.getBoundingClientRect().top);
    await expect.poll(distance, `${width}`).toBeLessThanOrEqual(1);
    expect(await distance(), `${width}`).toBeGreaterThanOrEqual(-1);
    expect(await violations(page), `${width}`).toEqual([]);
  }
});

test("a table is copied as Markdown with HTML, and as CSV, and the buttons say so", async ({ page, model, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await showReply(page, model, '| a | b |\n| :-- | --: |\n| 1, "one" | x\\|y |\n');
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const asMarkdown = latestReply(page).getByRole("button", { name: "Copy table", exact: true });
  await asMarkdown.click();
  await expect(asMarkdown).toHaveText("Copied ✓");
  await expect.poll(copied).toBe('| a | b |\n| :-- | --: |\n| 1, "one" | x\\|y |\n');
  const html = await page.evaluate(async () => (await (await navigator.clipboard.read())[0]!.getType("text/html")).text());
  // Browsers add styles when it is read.
  expect(html).toMatch(/<table[\s>]/);
  await expect(asMarkdown).toHaveText("Copy table");
  await latestReply(page).getByRole("button", { name: "Copy table as CSV" }).click();
  await expect.poll(async () => (await copied()).replaceAll("\r", "")).toBe('a,b\n"1, ""one""",x|y\n');
});

test("copied code and replies say so, and a reply is HTML too", async ({ page, model, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await showReply(page, model, "## Plan\n\n**Bold** [link](https://a.test/x)\n\n```js\nlet a = 1;\n```\n");
  const code = latestReply(page).getByRole("button", { name: "Copy code" });
  await code.click();
  await expect(code).toHaveText("Copied ✓");
  await expect(code).toHaveText("Copy");
  const reply = latestReply(page).getByRole("button", { name: "Copy reply" });
  const width = async () => (await reply.boundingBox())!.width;
  const before = await width();
  await reply.click();
  await expect(reply).toHaveText("Copied ✓");
  expect(await width()).toBe(before);
  await expect(reply).toHaveText("");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("## Plan");
  const html = await page.evaluate(async () => (await (await navigator.clipboard.read())[0]!.getType("text/html")).text());
  expect(html).toMatch(/<h2[^>]*>Plan<\/h2>/);
  expect(html).toMatch(/<strong[^>]*>Bold<\/strong>/);
  // The page asks before it leads to an unknown host; other programs get the address.
  expect(html).toContain('href="https://a.test/x"');
  expect(html).not.toContain("<button");
});

test("a table begins on the side where its language does", async ({ page, model }) => {
  const box = await showReply(page, model, "| الاسم | السنة |\n|---|---|\n| أحمد | 2026 |\n");
  const [first, second] = await box.evaluate((box) => [...box.querySelectorAll("th")].map((cell) => cell.getBoundingClientRect().left));
  expect(first!).toBeGreaterThan(second!);
});
