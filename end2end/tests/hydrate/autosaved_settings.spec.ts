// Autosave of settings: a changed setting is saved at once without leaving the page, and the page reports it; a
// refused value stays in its field with the error beside it.
import { waitForHydration, openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

import type { Page } from "@playwright/test";

const status = (page: Page) => page.locator("main > [role=status]");

/** Fails when the page was left meanwhile. */
async function watchNavigation(page: Page): Promise<() => Promise<void>> {
  await page.evaluate(() => Object.assign(window, { stays: true }));
  return async () => expect(await page.evaluate(() => "stays" in window)).toBe(true);
}

test("what a tool may do is saved by choosing it, and the focus stays", async ({ page }) => {
  await openPage(page, "/settings/tools");
  const stays = await watchNavigation(page);
  const tool = page.locator("[data-tool]").first();
  await expect(tool.locator("xpath=ancestor::form").getByRole("button", { name: "Save permissions" })).toBeHidden();
  const policy = tool.getByRole("combobox");
  await policy.focus();
  await policy.selectOption("never");
  await expect(status(page)).toHaveText("Saved.");
  await expect(policy).toBeFocused();
  // The saved value is the base for the next change.
  await expect(tool.locator("input[name=was]")).toHaveValue("never");
  const tick = page.locator("#new-chats").getByRole("checkbox").first();
  const was = await tick.isChecked();
  await tick.focus();
  await page.keyboard.press("Space");
  await expect(status(page)).toHaveText("Saved.");
  await expect(tick).toBeFocused();
  await stays();
  await page.reload();
  await expect(policy).toHaveValue("never");
  expect(await tick.isChecked()).toBe(!was);
});

test("keys that a command cannot have are reported beside the field, with the typed text", async ({ page, watch }) => {
  watch.expect(/status of 422/);
  await openPage(page, "/settings/shortcuts");
  const stays = await watchNavigation(page);
  const row = page.locator("#search");
  await row.getByText("Change", { exact: true }).click();
  const field = row.getByRole("textbox");
  await field.fill("x");
  await page.keyboard.press("Tab");
  await expect(row.locator(".problem")).toBeVisible();
  await expect(field).toHaveValue("x");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  expect(await field.getAttribute("aria-describedby")).toBe(await row.locator(".problem").getAttribute("id"));
  await field.fill("Ctrl+ж");
  await field.press("Enter");
  await expect(status(page)).toHaveText("Saved.");
  await expect(row.locator("kbd").last()).toHaveText("Ж");
  await expect(row.locator(".problem")).toHaveCount(0);
  await expect(field).toHaveValue("");
  await expect(field).not.toHaveAttribute("aria-invalid");
  await row.getByRole("button", { name: /^Reset to default/ }).click();
  await expect(row.locator("kbd").last()).toHaveText("K");
  await expect(row.getByRole("button", { name: /^Reset to default/ })).toHaveCount(0);
  await expect(field).toBeFocused();
  await stays();
});

test("instructions are saved when the field is left, and are kept when they cannot be", async ({ page, watch }) => {
  watch.expect(/status of 422/);
  await openPage(page, "/settings/general");
  const stays = await watchNavigation(page);
  const field = page.locator("#instructions").getByRole("textbox");
  await field.fill("Be brief.");
  await page.keyboard.press("Tab");
  await expect(status(page)).toHaveText("Saved.");
  const long = "a".repeat(100_001);
  await field.fill(long);
  await page.keyboard.press("Tab");
  await expect(page.locator("#instructions .problem")).toContainText("100000 characters");
  await expect(field).toHaveValue(long);
  await stays();
  await page.reload();
  await expect(field).toHaveValue("Be brief.");
});

test("models are hidden by their ticks, and what was looked for stays", async ({ page, turnleaf }) => {
  const models = Array.from({ length: 14 }, (_, at) => `m-${at + 10}`);
  const box = { id: "box", name: "Box", api: "openai_chat", base_url: "https://box.example/v1", key: "k", models };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  await openPage(page, "/settings/providers?models=box&q=m-1#models-box");
  const stays = await watchNavigation(page);
  const list = page.locator("#models-box");
  await list.getByRole("checkbox", { name: "m-12" }).uncheck();
  // The status also reports a failed connection once that is known, so only its beginning is compared.
  await expect(status(page)).toHaveText(/^Saved\./);
  await expect(list.locator("summary")).toContainText("Models (14, 1 hidden)");
  await expect(list.getByRole("checkbox")).toHaveCount(10);
  await stays();
  await page.reload();
  await expect(list.getByRole("checkbox", { name: "m-12" })).not.toBeChecked();
});

test("what is chosen for this browser is there at once", async ({ page }) => {
  await openPage(page, "/settings/appearance");
  const stays = await watchNavigation(page);
  const choice = page.getByRole("group", { name: "Text size" }).getByRole("button", { name: "20 px" });
  await choice.focus();
  await page.keyboard.press("Enter");
  await expect(choice).toHaveAttribute("aria-pressed", "true");
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("20px");
  await expect(status(page)).toHaveText("Saved.");
  await expect(choice).toBeFocused();
  await page.getByRole("group", { name: "Theme" }).getByRole("button", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await stays();
  // Changing the language loads a new page.
  await page.goto("/settings/general");
  await waitForHydration(page);
  await page.getByRole("group", { name: "Language" }).getByRole("button", { name: "中文" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", /^zh/);
});

test("a failed save is reported where it is seen", async ({ page, turnleaf, watch }) => {
  watch.expectLostConnection();
  await openPage(page, "/settings/tools");
  const tick = page.locator("#new-chats").getByRole("checkbox").last();
  await tick.scrollIntoViewIfNeeded();
  await turnleaf.stop();
  await tick.click();
  await expect(status(page)).toHaveText(/^Not saved/);
  await expect(status(page)).toBeInViewport();
});
