// Settings take effect on the next page, and without script.
import { startChat, chooseModel, expectStatus, latestReply, messageBox, openPage, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { turnHeading, userTurns } from "../../support/turn_actions.ts";

import type { Page } from "@playwright/test";

async function choose(page: Page, screen: "general" | "appearance", setting: string, value: string): Promise<void> {
  await page.goto(`/settings/${screen}`);
  await page.getByRole("group", { name: setting }).getByRole("button", { name: value, exact: true }).click();
  await expect(page.getByRole("group", { name: setting }).getByRole("button", { name: value, exact: true })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
}

const rootSize = (page: Page): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).fontSize);

test("letters are as large as was chosen, everywhere", async ({ page }) => {
  await openPage(page);
  expect(await rootSize(page)).toBe("16px");
  await choose(page, "appearance", "Text size", "20 px");
  expect(await rootSize(page)).toBe("20px");
  await openPage(page);
  expect(await rootSize(page)).toBe("20px");
  await choose(page, "appearance", "Text size", "14 px");
  expect(await rootSize(page)).toBe("14px");
});

test("long lines of code are wrapped, and space is saved, where that was chosen", async ({ page }) => {
  await startChat(page, "Show me", "demo/markdown");
  await expectStatus(latestReply(page), "complete");
  const chat = page.url();
  const code = latestReply(page).locator("pre").first();
  await expect(code).toHaveCSS("white-space", /^pre$/);
  const gap = () => page.evaluate(() => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--sp-7")));
  const before = await gap();
  await choose(page, "appearance", "Long code lines", "Wrap");
  await choose(page, "appearance", "Spacing", "Compact");
  await page.goto(chat);
  await expect(code).toHaveCSS("white-space", /pre-wrap/);
  expect(await gap()).toBeLessThan(before);
});

test("Enter makes lines when Ctrl+Enter sends", async ({ page, model }) => {
  await choose(page, "general", "Send messages with", "Ctrl+Enter");
  await openPage(page);
  await chooseModel(page, "openai/test-model");
  await messageBox(page).focus();
  await page.keyboard.type("one");
  await page.keyboard.press("Enter");
  await page.keyboard.type("two");
  await expect(messageBox(page)).toHaveValue("one\ntwo");
  await page.keyboard.press("Control+Enter");
  const reply = await model.nextReply();
  expect(reply.request.messages.at(-1).content).toBe("one\ntwo");
  reply.finishWithText("both");
  await expectStatus(latestReply(page), "complete");
});

for (const [name, value, open_] of [["always open", "Always open", true], ["closed", "Always closed", false]] as const) {
  test(`reasoning is ${name} while it is written and after`, async ({ page, model }) => {
    await choose(page, "general", "Reasoning", value);
    await startChat(page, "Think");
    const reply = await model.nextReply();
    reply.sendReasoning("Let me see.");
    const panel = latestReply(page).locator("details.reasoning");
    await expect(panel).toHaveJSProperty("open", open_);
    reply.finishWithText("Done.");
    await expectStatus(latestReply(page), "complete");
    await expect(textOf(latestReply(page))).toContainText("Done.");
    // Waits longer than reasoning takes to close automatically.
    const ended = await page.evaluate(() => performance.now());
    await page.waitForFunction((ended) => performance.now() > ended + 900, ended);
    await expect(panel).toHaveJSProperty("open", open_);
    await page.reload();
    await expect(page.locator("html[data-hydrated]")).toBeAttached();
    await expect(panel).toHaveJSProperty("open", open_);
    await panel.locator("summary").click();
    await expect(panel).toHaveJSProperty("open", !open_);
  });
}

test("letters do nothing where they were switched off", async ({ page, model }) => {
  await startChat(page, "First");
  (await model.nextReply()).finishWithText("Reply.");
  await expectStatus(latestReply(page), "complete");
  const chat = page.url();
  await turnHeading(userTurns(page).first()).focus();
  await page.keyboard.press("e");
  await expect(page.getByRole("textbox", { name: "Edit your message" })).toBeVisible();
  await page.keyboard.press("Escape");
  await choose(page, "general", "Single-key shortcuts", "Off");
  await openPage(page, new URL(chat).pathname);
  await turnHeading(userTurns(page).first()).focus();
  await page.keyboard.press("e");
  await page.keyboard.press("/");
  await expect(turnHeading(userTurns(page).first())).toBeFocused();
  await expect(page.getByRole("textbox", { name: "Edit your message" })).toHaveCount(0);
});

test("a screen reader hears only that a reply is complete where that was chosen", async ({ page, model }) => {
  await choose(page, "general", "Screen reader announcements", "Only announce that a reply is complete");
  await page.addInitScript(() => {
    const announced: string[] = [];
    Object.assign(window, { announced });
    addEventListener("DOMContentLoaded", () => {
      const say = document.getElementById("say");
      if (say) new MutationObserver(() => say.textContent && announced.push(say.textContent)).observe(say, { childList: true, characterData: true, subtree: true });
    });
  });
  await openPage(page);
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Think");
  const reply = await model.nextReply();
  reply.sendReasoning("Hm.");
  await expect(latestReply(page).locator("details.reasoning")).toBeAttached();
  reply.finishWithText("A short reply.");
  await expectStatus(latestReply(page), "complete");
  const announced = () => page.evaluate(() => (window as unknown as { announced: string[] }).announced);
  await expect.poll(announced).toContainEqual(expect.stringMatching(/^Reply complete, 3 words/));
  expect((await announced()).filter((text) => /thinking|replying|short reply/i.test(text))).toEqual([]);
});

test("a connection that is being tested says so, and is sent once", async ({ page, model }) => {
  await openPage(page, "/settings/providers?add=other");
  const form = page.locator("form[action='/forms/providers/add']");
  await form.getByLabel("Name").fill("Mine");
  await form.getByLabel("Address").fill(model.environment.OPENAI_BASE_URL);
  // Submissions are counted and prevented, because nothing can be inspected while a page is being left.
  await page.evaluate(() => {
    Object.assign(window, { sent: 0 });
    addEventListener("submit", (event) => {
      if (!event.defaultPrevented) (window as unknown as { sent: number }).sent += 1;
      event.preventDefault();
    });
  });
  await form.getByRole("button", { name: "Test and save" }).click();
  const busy = form.getByRole("button", { name: "Testing…" });
  await expect(busy).toBeVisible();
  await expect(form).toHaveAttribute("aria-busy", "true");
  await busy.click();
  expect(await page.evaluate(() => (window as unknown as { sent: number }).sent)).toBe(1);
});

test("a connection that is being tested can be sent again where the browser was stopped from sending it", async ({ page, model }) => {
  await openPage(page, "/settings/providers?add=other");
  const form = page.locator("form[action='/forms/providers/add']");
  await form.getByLabel("Name").fill("Mine");
  await form.getByLabel("Address").fill(model.environment.OPENAI_BASE_URL);
  let sent = 0;
  await page.route("**/forms/providers/add", () => { sent += 1; });
  // Nothing can be inspected or pressed while a page is being left, so the page records its busy state itself.
  await page.evaluate(() => {
    Object.assign(window, { wasBusy: false });
    setTimeout(() => {
      Object.assign(window, { wasBusy: document.querySelector("form[aria-busy]") !== null });
      window.stop();
    }, 1_500);
  });
  await form.getByRole("button", { name: "Test and save" }).click({ noWaitAfter: true });
  await expect(form.getByRole("button", { name: "Test and save" })).toBeVisible();
  await expect(form).not.toHaveAttribute("aria-busy");
  expect(await page.evaluate(() => (window as unknown as { wasBusy: boolean }).wasBusy)).toBe(true);
  expect(sent).toBe(1);
});
