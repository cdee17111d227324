// Screen reader announcements, as the page's live regions make them.
// UX-25 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, expectStatus, latestReply, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

/** Records everything that the two live regions announce from now on, in order. */
async function record(page: Page): Promise<() => Promise<Record<"say" | "alert", string[]>>> {
  await page.addInitScript(() => {
    const announced: Record<string, string[]> = { say: [], alert: [] };
    Object.assign(window, { announced });
    addEventListener("DOMContentLoaded", () => {
      for (const [region, words] of Object.entries(announced)) {
        const element = document.getElementById(region)!;
        const heard = () => element.textContent && words.push(element.textContent);
        new MutationObserver(heard).observe(element, { childList: true, characterData: true, subtree: true });
      }
    });
  });
  return () => page.evaluate(() => (window as unknown as { announced: Record<"say" | "alert", string[]> }).announced);
}

test("a minute of a reply is announced briefly, and never token by token", async ({ page, model }) => {
  await page.clock.install();
  const announced = await record(page);
  await startChat(page, "Tell me");
  const reply = await model.nextReply();
  reply.sendText("token0 ");
  await expect(textOf(latestReply(page))).toContainText("token0");
  for (let second = 1; second <= 60; second += 1) {
    reply.sendText(`token${second} `);
    await page.clock.runFor(1000);
  }
  await expect(textOf(latestReply(page))).toContainText("token60");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await expect.poll(async () => (await announced()).say.at(-1)).toBe("Reply complete, 61 words. Press Alt+Up to read.");
  const { say, alert } = await announced();
  expect(say.length).toBeLessThanOrEqual(12);
  expect(say).toContain("Sent.");
  expect(say.filter((words) => /^Assistant is replying/.test(words))).toHaveLength(1);
  expect(say.filter((words) => /^Still replying, \d+ seconds/.test(words)).length).toBeGreaterThanOrEqual(3);
  expect(say.join()).not.toContain("token");
  expect(alert).toEqual([]);
});

test("a reply that ends before its page has loaded is still announced, after the page title", async ({ page, model }) => {
  const announced = await record(page);
  let release = () => {};
  const over = new Promise<void>((done) => (release = done));
  await page.route("**/api/page/load_chat*", async (route) => {
    if ((route.request().postData() ?? "").includes('"chat_id":null')) return route.continue();
    await over;
    await route.continue();
  });
  await startChat(page, "Tell me at once");
  (await model.nextReply()).finishWithText("word ".repeat(120));
  const chat = async () => (await (await page.request.get("/api/chats")).json())[0];
  await expect.poll(async () => (await chat()).running).toBe(false);
  release();
  await expectStatus(latestReply(page), "complete");
  await expect.poll(async () => (await announced()).say.at(-1)).toBe("Reply complete, 120 words. Press Alt+Up to read.");
  const { say } = await announced();
  const place = say.findIndex((words) => words.startsWith("Tell me at once"));
  expect(place).toBeGreaterThanOrEqual(0);
  expect(place).toBeLessThan(say.length - 1);
});

test("a reply that fails interrupts", async ({ page, model }) => {
  const announced = await record(page);
  await startChat(page, "Tell me");
  const reply = await model.nextReply();
  reply.sendText("half a ");
  await expect(textOf(latestReply(page))).toContainText("half a");
  reply.dropConnection();
  await expectStatus(latestReply(page), "error");
  await expect.poll(async () => (await announced()).alert).toEqual([expect.stringMatching(/^Reply failed: /)]);
  expect((await announced()).say.join()).not.toContain("failed");
});

test("announcements made while the palette is open are heard in it", async ({ page, model }) => {
  const announced = await record(page);
  await startChat(page, "Tell me");
  const reply = await model.nextReply();
  reply.sendText("half a ");
  await expect(textOf(latestReply(page))).toContainText("half a");
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search and commands" });
  await expect(palette).toBeVisible();
  await palette.evaluate((dialog) => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    for (const region of dialog.querySelectorAll("[data-live]")) {
      const hear = () => region.textContent && heard.push(`${region.getAttribute("role")}: ${region.textContent}`);
      new MutationObserver(hear).observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  const before = (await announced()).alert.length;
  reply.dropConnection();
  await expectStatus(latestReply(page), "error");
  await expect.poll(() => page.evaluate(() => (window as any).heard.join("\n"))).toMatch(/^alert: Reply failed: /m);
  // The page behind the dialog is inert, so its live region stays silent.
  expect((await announced()).alert.length).toBe(before);
});
