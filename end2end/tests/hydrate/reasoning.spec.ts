// Reasoning opens and closes by itself until the reader says otherwise, and what they said is remembered (UX-10, UX-11).
import type { Locator, Page } from "@playwright/test";

import { begin, expectStatus, hydrated, latestReply, open, send, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { users } from "../../support/verbs.ts";

const panelOf = (page: Page): Locator => latestReply(page).locator("details.reasoning");
const summaryOf = (page: Page): Locator => panelOf(page).locator("summary").first();

/** Longer than it takes to close by itself. */
async function aMomentLater(page: Page): Promise<void> {
  const now = await page.evaluate(() => performance.now());
  await page.waitForFunction((now) => performance.now() > now + 900, now);
}

test("reasoning is open while it is written, closes after it, and the page stays still", async ({ page, model }) => {
  await begin(page, "Think");
  const reply = await model.next();
  reply.think("Let me see.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await expect(summaryOf(page)).toHaveAttribute("aria-expanded", "true");
  const before = await users(page).last().evaluate((turn) => turn.getBoundingClientRect().top);
  reply.say("Done.");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  const after = await users(page).last().evaluate((turn) => turn.getBoundingClientRect().top);
  expect(Math.abs(after - before)).toBeLessThanOrEqual(1);
  await expect(summaryOf(page)).toHaveAttribute("aria-expanded", "false");
  reply.end();
  await expectStatus(latestReply(page), "complete");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
});

test("what is closed by hand stays closed, what is opened by hand stays open", async ({ page, model }) => {
  await begin(page, "Think");
  let reply = await model.next();
  reply.think("First. ");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  reply.think("Second.");
  await expect(panelOf(page)).toContainText("Second.");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  reply.answer("Done.");
  await expectStatus(latestReply(page), "complete");
  await aMomentLater(page);
  await expect(panelOf(page)).toHaveJSProperty("open", true);
});

test("it does not close over whoever is in it", async ({ page, model }) => {
  await begin(page, "Think");
  const reply = await model.next();
  reply.think("Let me see.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await summaryOf(page).focus();
  reply.answer("Done.");
  await expectStatus(latestReply(page), "complete");
  await aMomentLater(page);
  await expect(panelOf(page)).toHaveJSProperty("open", true);
});

test("what was opened by hand is open after another chat and after a reload", async ({ page, model }) => {
  await begin(page, "Think");
  const reply = await model.next();
  reply.think("Let me see.");
  reply.answer("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  const chat = new URL(page.url()).pathname;

  await page.getByRole("link", { name: "New chat" }).first().click();
  await send(page, "Other");
  (await model.next()).answer("else");
  await expectStatus(latestReply(page), "complete");
  await page.locator(`a[href^="${chat}"]`).first().click();
  await expect(textOf(latestReply(page)).last()).toContainText("Done.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);

  await page.reload();
  await hydrated(page);
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await open(page, chat);
  await expect(panelOf(page)).toHaveJSProperty("open", false);
});

test("what the provider sent for a thought is a page of its own", async ({ page, model }) => {
  await begin(page, "Think");
  const reply = await model.next();
  reply.think("<b>Let me</b> see.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await expect(panelOf(page).getByRole("link", { name: "Raw" })).toHaveCount(0);
  reply.answer("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await summaryOf(page).click();
  await panelOf(page).getByRole("link", { name: "Raw", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The provider's answer");
  await expect(page.locator(".raw-text")).toContainText('"reasoning_content":"<b>Let me</b> see."');
  await expect(page.locator(".raw-text")).toContainText("data: [DONE]");
  await page.getByRole("link", { name: "Back to the chat" }).click();
  await expect(summaryOf(page)).toBeVisible();
});
