// A conversation with a real model on llama.cpp: several turns, a reload in the middle, Stop, and a kill of the
// server with a restart. Nothing that was shown may be lost.
import { setTimeout as wait } from "node:timers/promises";

import { expect, test as base, type Page } from "@playwright/test";

import { chooseModel, waitForHydration, idOf, latestReply, openPage, replies, sendMessage, stopButton, textOf } from "../support/chat.ts";
import { Turnleaf } from "../support/turnleaf.ts";

const SLOW = 5 * 60_000;
const MODEL = `openai/${process.env.REAL_MODEL}`;
/** Text that is younger than this may be lost, in ms. */
const COMMITTED_MS = 150;

const test = base.extend<{ turnleaf: Turnleaf }>({
  turnleaf: async ({}, use) => {
    const turnleaf = await Turnleaf.start({ OPENAI_BASE_URL: process.env.REAL_MODEL_URL ?? "", OPENAI_API_KEY: "none" });
    await use(turnleaf);
    await turnleaf.remove();
  },
  baseURL: async ({ turnleaf }, use) => use(turnleaf.url),
});

/** Returns the text of the newest reply on the page. */
async function latestText(page: Page): Promise<string> {
  return (await textOf(latestReply(page)).first().innerText()).trim();
}

/** Waits until the newest reply is at least `by` characters longer than `before`. */
async function waitForGrowth(page: Page, before: number, by = 20): Promise<string> {
  await expect.poll(async () => ((await textOf(latestReply(page)).count()) ? (await latestText(page)).length : 0), { timeout: SLOW })
    .toBeGreaterThanOrEqual(before + by);
  return latestText(page);
}

async function waitForStatus(page: Page, status: string): Promise<void> {
  await expect(latestReply(page)).toHaveAttribute("data-status", status, { timeout: SLOW });
}

/** Normalizes white space, which the page's layout may change. */
const words = (text: string) => text.replace(/\s+/g, " ");

test("a conversation with a real model survives what happens to it", async ({ page, turnleaf }) => {
  await openPage(page);
  await chooseModel(page, MODEL);

  await test.step("a first turn and a second one", async () => {
    await sendMessage(page, "Say hello in one short sentence.");
    await waitForStatus(page, "complete");
    expect((await latestText(page)).length).toBeGreaterThan(1);
    await sendMessage(page, "Name three colours.");
    await expect(replies(page)).toHaveCount(2);
    await waitForStatus(page, "complete");
  });

  await test.step("a reload in the middle", async () => {
    await sendMessage(page, "Write a long story about a lighthouse keeper.");
    await expect(replies(page)).toHaveCount(3);
    const before = await waitForGrowth(page, 0);
    await page.reload();
    await waitForHydration(page);
    const after = await waitForGrowth(page, before.length);
    expect(words(after).startsWith(words(before).slice(0, -1))).toBe(true);
  });

  await test.step("Stop", async () => {
    const before = await latestText(page);
    await stopButton(page).click();
    await waitForStatus(page, "cancelled");
    expect(words(await latestText(page)).startsWith(words(before).slice(0, -1))).toBe(true);
  });

  await test.step("a kill in the middle", async () => {
    await sendMessage(page, "Write a long story about a river and the people who live beside it.");
    await expect(replies(page)).toHaveCount(4);
    await waitForGrowth(page, 0, 60);
    const id = await idOf(latestReply(page));
    const before = await latestText(page);
    await wait(COMMITTED_MS);
    await turnleaf.kill();
    await turnleaf.restart();
    await page.reload();
    await waitForHydration(page);
    await waitForStatus(page, "error");
    await expect(latestReply(page).locator("[data-error=server_restarted]")).toBeVisible();
    expect(await idOf(latestReply(page))).toBe(id);
    expect(words(await latestText(page)).startsWith(words(before).slice(0, -1))).toBe(true);
  });

  await test.step("the conversation goes on", async () => {
    await sendMessage(page, "Say goodbye in one short sentence.");
    await expect(replies(page)).toHaveCount(5);
    await waitForStatus(page, "complete");
  });

  await test.step("everything that was stored is sound", async () => {
    await turnleaf.stop();
    expect(await turnleaf.fsck()).toBe(0);
  });
});
