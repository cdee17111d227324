// Between tool rounds, before the model has answered: open parts stay open, nothing moves, and the status names what
// is awaited.
import type { Page } from "@playwright/test";

import { expectStatus, latestReply, sendMessage } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { toolCards, decisionButton, openChatWithTools, test, wireName } from "../../support/tools.ts";

/** Records each toggle of the newest match; returns a function that returns the record. */
async function observeToggles(page: Page, selector: string): Promise<() => Promise<string[]>> {
  await page.evaluate((selector) => {
    const noted: string[] = [];
    (window as any).noted = noted;
    const all = document.querySelectorAll<HTMLDetailsElement>(selector);
    const details = all[all.length - 1]!;
    details.addEventListener("toggle", () => noted.push(details.open ? "opened" : "closed"));
  }, selector);
  return () => page.evaluate(() => (window as any).noted);
}

/** Waits longer than the automatic close takes: timers of a page fire in order of their times. */
async function waitBriefly(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((passed) => setTimeout(passed, 1_200)));
}

test("reasoning stays open between rounds, without moving, and closes once after the last", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  let reply = await model.nextReply();
  reply.sendReasoning("First thought.");
  const panel = latestReply(page).locator("details.reasoning");
  await expect(panel).toHaveJSProperty("open", true);
  const noted = await observeToggles(page, "details.reasoning");
  for (const thought of ["Second thought.", "Third thought."]) {
    reply.finishWithToolCalls([wireName("search"), thought]);
    // The next request has arrived and is held, so the model is silent.
    reply = await model.nextReply();
    await expect(toolCards(page).last()).toHaveAttribute("data-tool-status", "done");
    const top = await panel.evaluate((panel) => panel.getBoundingClientRect().top);
    const height = await latestReply(page).evaluate((turn) => turn.getBoundingClientRect().height);
    await waitBriefly(page);
    await expect(panel).toHaveJSProperty("open", true);
    await expect(panel.locator("summary").first()).toContainText("Thinking");
    expect(Math.abs((await panel.evaluate((panel) => panel.getBoundingClientRect().top)) - top)).toBeLessThanOrEqual(1);
    expect(Math.abs((await latestReply(page).evaluate((turn) => turn.getBoundingClientRect().height)) - height)).toBeLessThanOrEqual(1);
    reply.sendReasoning(thought);
    await expect(panel).toContainText(thought);
  }
  expect(await noted()).toEqual([]);
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(panel).toHaveJSProperty("open", false);
  await waitBriefly(page);
  expect(await noted()).toEqual(["closed"]);
  await expect(panel.locator("summary").first()).toContainText("2 tool calls");
});

test("a row of many tools stays open until something follows it", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls(...Array.from({ length: 6 }, (_, n): [string, string] => [wireName("search"), `${n}`]));
  const reply = await model.nextReply();
  const group = latestReply(page).locator("details.tool-group");
  await expect(group).toHaveJSProperty("open", true);
  const noted = await observeToggles(page, "details.tool-group");
  await waitBriefly(page);
  await expect(group).toHaveJSProperty("open", true);
  // The status waits for the model, not for its first words, which have arrived before.
  await expect(latestReply(page).locator(".status-line")).toContainText("Waiting for the model…");
  reply.finishWithToolCalls([wireName("search"), "one more"]);
  const last = await model.nextReply();
  await expect(toolCards(page)).toHaveCount(7);
  await waitBriefly(page);
  expect(await noted()).toEqual([]);
  last.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(group).toHaveJSProperty("open", false);
  expect(await noted()).toEqual(["closed"]);
});

test("many tools between two thoughts are one line of the reasoning", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  let reply = await model.nextReply();
  reply.sendReasoning("I look everywhere.");
  for (let n = 0; n < 6; n++) {
    // Blank reasoning between the calls is not shown.
    if (n > 0) reply.sendReasoning(" ");
    reply.finishWithToolCalls([wireName("search"), `${n}`]);
    reply = await model.nextReply();
  }
  const group = latestReply(page).locator("details.reasoning details.tool-group");
  await expect(group).toHaveCount(1);
  await expect(group).toHaveJSProperty("open", true);
  reply.sendReasoning("Now I know.");
  await expect(group).toHaveJSProperty("open", false);
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  const panel = latestReply(page).locator("details.reasoning");
  await expect(panel).toHaveJSProperty("open", false);
  await panel.locator("summary").first().click();
  for (const loaded of [false, true]) {
    if (loaded) await page.reload();
    await expect(panel).toHaveJSProperty("open", true);
    await expect(group.locator("summary").first()).toHaveText("6 tool calls, all done");
    await expect(toolCards(page).first()).toBeHidden();
  }
  await group.locator("summary").first().click();
  await expect(toolCards(page)).toHaveCount(6);
  await expect(toolCards(page).first()).toBeVisible();
});

test("the last lines of what a tool says are in its card, also after a reload", async ({ page, model, turnleaf, tools }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("slow"), "lines"]);
  await decisionButton(page, "Allow once").click();
  const card = toolCards(page).first();
  await card.locator("summary").first().click();
  const says = card.getByRole("group", { name: "Tool output" });
  await expect(says).toContainText(/file \d+\nfile \d+\nfile \d+/);
  await page.reload();
  await card.locator("summary").first().click();
  await expect(says).toContainText(/file \d+\nfile \d+\nfile \d+/);
  expect((await says.innerText()).trim().split("\n").length).toBeLessThanOrEqual(8);
  tools.releaseCalls();
  (await model.nextReply()).finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(says).toHaveCount(0);
  await expect(card).toContainText("It took a while.");
});
