// Reasoning opens and closes automatically until the reader toggles it, and the reader's choice is remembered.
// UX-10, UX-11 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, openPage, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { userTurns } from "../../support/turn_actions.ts";

const panelOf = (page: Page): Locator => latestReply(page).locator("details.reasoning");
const summaryOf = (page: Page): Locator => panelOf(page).locator("summary").first();

/** Waits longer than reasoning takes to close automatically. */
async function waitBriefly(page: Page): Promise<void> {
  const now = await page.evaluate(() => performance.now());
  await page.waitForFunction((now) => performance.now() > now + 900, now);
}

test("reasoning is open while it is written, closes after it, and the page stays still", async ({ page, model }) => {
  await startChat(page, "Think");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me see.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await expect(summaryOf(page)).toHaveAttribute("aria-expanded", "true");
  // Three lines are shown of it, however much there is.
  const height = async () => (await panelOf(page).locator(".reasoning-body").boundingBox())!.height;
  const three = await height();
  reply.sendReasoning("And more.\n\n".repeat(30) + "The last thought.");
  await expect(panelOf(page).getByText("The last thought.")).toBeInViewport();
  expect(await height()).toBe(three);
  expect(three).toBeLessThan(140);
  const before = await userTurns(page).last().evaluate((turn) => turn.getBoundingClientRect().top);
  reply.sendText("Done.");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  const after = await userTurns(page).last().evaluate((turn) => turn.getBoundingClientRect().top);
  expect(Math.abs(after - before)).toBeLessThanOrEqual(1);
  await expect(summaryOf(page)).toHaveAttribute("aria-expanded", "false");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await summaryOf(page).click();
  await expect.poll(height, "opened by hand it is whole").toBeGreaterThan(three * 2);
});

test("what is closed by hand stays closed, what is opened by hand stays open", async ({ page, model }) => {
  await startChat(page, "Think");
  let reply = await model.nextReply();
  reply.sendReasoning("First. ");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  reply.sendReasoning("Second.");
  await expect(panelOf(page)).toContainText("Second.");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await waitBriefly(page);
  await expect(panelOf(page)).toHaveJSProperty("open", true);
});

test("reasoning does not close while the reader is in it", async ({ page, model }) => {
  await startChat(page, "Think");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me see.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await summaryOf(page).focus();
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await waitBriefly(page);
  await expect(panelOf(page)).toHaveJSProperty("open", true);
});

test("what was opened by hand is open after another chat and after a reload", async ({ page, model }) => {
  await startChat(page, "Think");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me see.");
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  const chat = new URL(page.url()).pathname;

  await page.getByRole("link", { name: "New chat" }).first().click();
  await sendMessage(page, "Other");
  (await model.nextReply()).finishWithText("else");
  await expectStatus(latestReply(page), "complete");
  await page.locator(`a[href^="${chat}"]`).first().click();
  await expect(textOf(latestReply(page)).last()).toContainText("Done.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);

  await page.reload();
  await waitForHydration(page);
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await summaryOf(page).click();
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await openPage(page, chat);
  await expect(panelOf(page)).toHaveJSProperty("open", false);
});

test("what the provider sent for a thought is a page of its own", async ({ page, model }) => {
  await startChat(page, "Think");
  const reply = await model.nextReply();
  reply.sendReasoning("<b>Let me</b> see.");
  await expect(panelOf(page)).toHaveJSProperty("open", true);
  await expect(panelOf(page).getByRole("link", { name: "Raw data" })).toHaveCount(0);
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(panelOf(page)).toHaveJSProperty("open", false);
  await summaryOf(page).click();
  await panelOf(page).getByRole("link", { name: "Raw data", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Provider response", level: 2 })).toBeFocused();
  await expect(page.locator(".raw-text")).toContainText('"reasoning_content":"<b>Let me</b> see."');
  await expect(page.locator(".raw-text")).toContainText("data: [DONE]");
  await page.getByRole("link", { name: "Back to chat" }).click();
  await expect(page.locator(".raw-text")).toHaveCount(0);
  await expect(summaryOf(page)).toBeVisible();
});
