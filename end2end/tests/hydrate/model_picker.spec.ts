// The model picker: many models and few, by keyboard, with an input method, by touch, in every place that offers it.
// UX-08, UX-19, UX-26 of docs/acceptance.md.
import { violations } from "../../support/axe.ts";
import { branchModelChip, expectStatus, latestReply, messageBox, openPage, sendMessage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL, type ModelServer } from "../../support/model_server.ts";

import type { Locator, Page } from "@playwright/test";

const chip = (page: Page): Locator => page.getByRole("form", { name: "Message" }).getByRole("button", { name: /^Model/ });
const dialog = (page: Page): Locator => page.getByRole("dialog");
const box = (page: Page): Locator => dialog(page).getByRole("combobox", { name: "Find a model" });
const options = (page: Page): Locator => dialog(page).getByRole("option");
const chosen = (page: Page): Locator => dialog(page).locator("[role=option][aria-selected=true]");

/** Makes the provider offer too many models for a menu. */
async function offerMany(page: Page, model: ModelServer): Promise<void> {
  model.models = [MODEL, ...Array.from({ length: 20 }, (_, at) => `maker-${at + 1}`)];
  expect((await page.request.post("/api/providers/openai/test")).ok()).toBe(true);
}

/** Asserts that the active descendant of the field is the selected option. */
async function expectPointed(page: Page, text: RegExp): Promise<void> {
  await expect(chosen(page)).toHaveCount(1);
  await expect(chosen(page)).toContainText(text);
  await expect(box(page)).toHaveAttribute("aria-activedescendant", (await chosen(page).getAttribute("id")) ?? "none");
}

test("a model is found with the keyboard alone, answers, and comes first from then on", async ({ page, model }) => {
  await offerMany(page, model);
  await openPage(page);
  await expect(page.locator("select[name=model]")).toBeHidden();
  await chip(page).focus();
  await page.keyboard.press("Enter");
  await expect(box(page)).toBeFocused();
  await expect(box(page)).toHaveAttribute("aria-expanded", "true");
  await expect(dialog(page).getByRole("group", { name: /^127\.0\.0\.1/ })).toBeVisible();
  await expect(dialog(page).getByRole("group", { name: /Demo/ })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.type("maker-1");
  await expect(dialog(page).getByRole("status").first()).toHaveText("11 models");
  await expect(options(page)).toHaveCount(11);
  await expectPointed(page, /maker.1(?!\d)/i);
  await page.keyboard.press("ArrowDown");
  await expectPointed(page, /maker.10/i);
  await page.keyboard.press("End");
  await expectPointed(page, /maker.19/i);
  await page.keyboard.press("ArrowDown");
  await expectPointed(page, /maker.1(?!\d)/i);
  await page.keyboard.press("Escape");
  await expect(dialog(page)).toBeHidden();
  await expect(chip(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(box(page)).toHaveValue("");
  await page.keyboard.type("no such thing");
  await expect(options(page)).toHaveCount(0);
  await expect(dialog(page).getByText("No models match “no such thing”.")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(dialog(page)).toBeVisible();
  await box(page).fill("test-m");
  await page.keyboard.press("Enter");
  await expect(dialog(page)).toBeHidden();
  await expect(chip(page)).toContainText(/test.model/i);
  await sendMessage(page, "Hello");
  const reply = await model.nextReply();
  expect(reply.request.model).toBe(MODEL);
  reply.finishWithText("Hi.");
  await expectStatus(latestReply(page), "complete");

  await openPage(page);
  await chip(page).click();
  await expect(dialog(page).getByRole("group", { name: "Recently used" }).getByRole("option")).toHaveText([/test.model/i]);
  // Each model is listed once.
  await expect(options(page).filter({ hasText: /test.model/i })).toHaveCount(1);
});

test("the Enter of an input method chooses nothing", async ({ page, model }) => {
  await offerMany(page, model);
  await openPage(page);
  await chip(page).click();
  await box(page).evaluate((input: HTMLInputElement) => {
    const key = (init: KeyboardEventInit) => input.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, key: "Enter", ...init }));
    input.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
    input.value = "maker";
    input.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
    key({ isComposing: true });
    input.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "maker" }));
    key({ keyCode: 229 } as KeyboardEventInit);
  });
  await expect(options(page)).toHaveCount(20);
  await expect(dialog(page)).toBeVisible();
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 780 }, hasTouch: true });

  test("a branch continues with another model that is found by touch, and what is written stays", async ({ page, model }) => {
    await offerMany(page, model);
    await openPage(page);
    await chip(page).tap();
    await box(page).fill("test-model");
    await options(page).first().tap();
    await sendMessage(page, "Hello");
    (await model.nextReply()).finishWithText("Hi.");
    await expectStatus(latestReply(page), "complete");
    await messageBox(page).fill("And you?");
    await branchModelChip(page).tap();
    await expect(box(page)).toBeFocused();
    const [content, window] = await page.locator("html").evaluate((html) => [html.scrollWidth, html.clientWidth]);
    expect(content).toBeLessThanOrEqual(window ?? 0);
    await box(page).fill("maker-7");
    await options(page).first().tap();
    await expect(dialog(page)).toBeHidden();
    await expect(branchModelChip(page)).toContainText("new branch");
    await expect(messageBox(page)).toHaveValue("And you?");
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    const reply = await model.nextReply();
    expect(reply.request.model).toBe("maker-7");
    reply.finishWithText("Fine.");
    await expectStatus(latestReply(page), "complete");
  });
});

test("a few models are chosen in the same dialog, with what they can do", async ({ page }) => {
  await openPage(page);
  await expect(page.locator("select[name=model]")).toBeHidden();
  await chip(page).click();
  await expect(box(page)).toBeFocused();
  const tour = dialog(page).getByRole("option", { name: /Demo: Tour.*Thinking.*Images/i });
  // The words are seen, not only heard.
  for (const word of ["Thinking", "Images"]) {
    expect((await tour.getByText(word, { exact: true }).boundingBox())!.width, word).toBeGreaterThan(40);
  }
  expect(await violations(page)).toEqual([]);
});

test("the demo is offered beside other models only where that was chosen", async ({ page }) => {
  const offered = async () => {
    await openPage(page);
    await chip(page).click();
    await expect(options(page).first()).toBeVisible();
    return dialog(page).getByRole("group", { name: /Demo/ }).count();
  };
  expect(await offered()).toBe(1);
  await openPage(page, "/settings/providers");
  await page.getByRole("button", { name: "Hide from menus" }).click();
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  expect(await offered()).toBe(0);
  await openPage(page, "/settings/providers");
  await page.getByRole("button", { name: "Show in menus" }).click();
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  expect(await offered()).toBe(1);
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the list speaks Chinese", async ({ page, model }) => {
    await offerMany(page, model);
    await openPage(page);
    await page.locator("form.composer .pick-model").click();
    await expect(dialog(page).getByRole("combobox", { name: "查找模型" })).toBeFocused();
    await page.keyboard.type("maker-2");
    await expect(dialog(page).getByRole("status").first()).toHaveText("2 个模型");
  });
});
