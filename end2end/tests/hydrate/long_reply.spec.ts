// A reply much longer than the screen: distant parts are not rendered, and none may be missed.
// UX-17 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { scrollTo, waitForScrollSettled } from "../../support/reader.ts";
import { menuButton } from "../../support/turn_actions.ts";

/** Paragraphs of one to four lines, so that the heights of unrendered ones cannot be guessed. */
const paragraph = (at: number) => `Paragraph ${at}: ${"a reply that goes on for long, and then some more of it. ".repeat(1 + (at % 7))}`.trim();
const TEXT = Array.from({ length: 200 }, (_, at) => paragraph(at)).join("\n\n");

/** Returns the first paragraph that is fully visible below the header, and its position. */
const firstSeen = (page: Page) =>
  page.evaluate(() => {
    const header = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    const parts = [...document.querySelectorAll("li.leaf .md > .parts > .part")];
    const part = parts.find((part) => part.getBoundingClientRect().top >= header);
    return { words: part?.textContent?.slice(0, 14), y: Math.round(part?.getBoundingClientRect().top ?? 0) };
  });

test("a long reply that comes at once is whole, read from its beginning, and copied whole", async ({ page, context, model }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await startChat(page, "Write a lot");
  (await model.nextReply()).finishWithText(TEXT);
  await expectStatus(latestReply(page), "complete");
  const parts = textOf(latestReply(page)).locator(".md > .parts > .part");
  await expect(parts).toHaveCount(200);
  await expect(parts.first()).toBeInViewport();
  await page.getByRole("button", { name: "Go to latest" }).click();
  await expect(parts.last()).toBeInViewport();
  expect(await parts.allTextContents()).toEqual(TEXT.split("\n\n"));
  await menuButton(latestReply(page)).click();
  await page.getByRole("button", { name: "Copy as plain text" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(TEXT);
});

test("S11 a reload keeps the line that is read within a long reply", async ({ page, model }) => {
  await startChat(page, "Write a lot");
  (await model.nextReply()).finishWithText(TEXT);
  await expectStatus(latestReply(page), "complete");
  await page.getByRole("button", { name: "Go to latest" }).click();
  await expect(textOf(latestReply(page)).locator(".md > .parts > .part").last()).toBeInViewport();
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (const share of [0.35, 0.7]) {
    await page.evaluate(() => sessionStorage.clear());
    await scrollTo(page, Math.round(height * share));
    await waitForScrollSettled(page);
    await expect.poll(() => page.evaluate(() => Object.values({ ...sessionStorage }).join()), "the place is kept").toMatch(/turn-\S+ -?\d+ \d+/);
    const before = await firstSeen(page);
    await page.reload();
    await waitForHydration(page);
    await expect.poll(() => firstSeen(page)).toEqual({ words: before.words, y: expect.any(Number) });
    expect(Math.abs((await firstSeen(page)).y - before.y)).toBeLessThanOrEqual(2);
  }
});
