// Pages of a chat beside it: branches, diagram, comparison, export, settings, and what was sent. The same links lead to the
// pages where scripts do not run (no-script/tree, no-script/compare, no-script/chats).
// UX-47 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { openPage, replies, textOf, waitForHydration } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { plantTree } from "../../support/tree.ts";

const panel = (page: Page) => page.locator("#panel");
const heading = (page: Page, name: string | RegExp) => panel(page).getByRole("heading", { name, level: 2 }).first();
const branches = (page: Page) => panel(page).locator("section.branch");
const latest = (page: Page) => textOf(replies(page).last());
// As the browser's button does, but without waiting for a navigation that must not come.
const back = (page: Page) => page.evaluate(() => history.back());

async function choose(page: Page, button: string, entry: string): Promise<void> {
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("link", { name: entry }).click();
}

test("pages of a chat open beside it, their forms work there, and Esc, the button and Back close them", async ({ page, turnleaf, model, watch }) => {
  watch.expect(/status of 422.*\/settings/);
  const planted = await plantTree(turnleaf, model, 3, 2);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[2]}`);
  const address = page.url();

  // Settings: saved and refused in place; the chat follows, and the button of the menu gets the focus back.
  await choose(page, "More actions for this chat", "Chat settings");
  await expect(page.getByRole("complementary", { name: /Chat settings/ })).toBeVisible();
  await expect(heading(page, /Chat settings/)).toBeFocused();
  await expect(latest(page)).toBeVisible();
  await panel(page).getByRole("textbox", { name: "Title" }).fill("Leaves & more");
  await page.keyboard.press("Enter");
  await expect(panel(page).getByText("Saved.", { exact: true })).toBeVisible();
  await expect(page.locator("#say")).toContainText("Saved.");
  await expect(page.getByRole("heading", { name: "Leaves & more", level: 1 })).toBeVisible();
  const warmth = panel(page).locator("input[name=temperature]");
  await warmth.fill("warm");
  await page.keyboard.press("Enter");
  await expect(warmth).toHaveAttribute("aria-invalid", "true");
  await expect(warmth).toHaveValue("warm");
  await expect(warmth).toBeFocused();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(panel(page)).toHaveCount(0);
  await expect(page.locator("#chat-head-menu-button")).toBeFocused();

  // From the tree to the branches: one name, edited in place, and one menu, whose deletion is undone.
  await page.locator("#tree-button").click();
  await panel(page).getByRole("link", { name: "Branches" }).click();
  await expect(heading(page, /^Branches/)).toBeFocused();
  await expect(branches(page)).toHaveCount(3);
  const name = branches(page).nth(2).getByRole("textbox", { name: "Name" });
  await name.fill("my way");
  await page.keyboard.press("Enter");
  await expect(panel(page).getByText("Saved.", { exact: true })).toBeVisible();
  await expect(name).toHaveValue("my way");
  await expect(branches(page).nth(2).getByText("my way").filter({ visible: true })).toHaveCount(1);
  await branches(page).nth(2).getByRole("button", { name: "Branch actions" }).click();
  await branches(page).nth(2).getByRole("button", { name: /^Delete this branch/ }).click();
  await expect(branches(page)).toHaveCount(2);
  await expect(page.locator("#tree-button")).toContainText("2");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(branches(page)).toHaveCount(3);
  await expect(page.locator("#tree-button")).toContainText("3");

  // The diagram leads to a turn beside it; the outline is the tree.
  await panel(page).getByRole("link", { name: "Diagram" }).click();
  await panel(page).getByRole("link", { name: "200%" }).click();
  await expect(panel(page).getByRole("link", { name: "200%" })).toHaveAttribute("aria-current", "true");
  await panel(page).getByRole("link", { name: /^You: Twig 0/ }).click();
  await expect(page.locator("article[data-role=user]").last()).toContainText("Twig 0");
  await expect(heading(page, /^Diagram/)).toBeVisible();
  await panel(page).getByRole("link", { name: "Outline" }).click();
  await expect(page.getByRole("treeitem", { name: /^You: Twig 0/ })).toBeVisible();

  // Back closes a page before it goes back.
  await panel(page).getByRole("link", { name: "Diagram" }).click();
  await expect(heading(page, /^Diagram/)).toBeFocused();
  const shown = page.url();
  await back(page);
  await expect(panel(page)).toHaveCount(0);
  expect(page.url()).toBe(shown);
  expect(shown.split("?")[0]).toBe(address.split("?")[0]);
});

for (const width of [390, 820]) {
  test(`where there is no room a page is a dialog, ${width}`, async ({ page, turnleaf, model }) => {
    const planted = await plantTree(turnleaf, model, 2, 1);
    // Browsers let a page stop Back only where it stays in the same document.
    await openPage(page);
    await page.locator(`#chats a[href="/c/${planted.chat}"]`).click();
    await expect(latest(page)).toBeVisible();
    await page.setViewportSize({ width, height: 800 });
    const shown = page.url();
    const entries = await page.evaluate(() => history.length);
    await choose(page, "Share", "Export options…");
    await expect(page.getByRole("dialog", { name: "Export chat" })).toBeVisible();
    await expect(heading(page, "Export chat")).toBeFocused();
    await expect(page.locator("#main")).toHaveAttribute("inert", "");
    expect(await violations(page)).toEqual([]);
    const overflow = () => page.evaluate(() => {
      const body = document.querySelector(".panel-body")!;
      return [document.documentElement, body].map((box) => box.scrollWidth - box.clientWidth);
    });
    expect(await overflow()).toEqual([0, 0]);
    // A download leaves everything where it is.
    const download = page.waitForEvent("download");
    await panel(page).getByRole("button", { name: "Download" }).first().click();
    expect((await download).suggestedFilename()).toMatch(/\.html$/);
    await expect(heading(page, "Export chat")).toBeVisible();
    await back(page);
    await expect(panel(page)).toHaveCount(0);
    expect(page.url()).toBe(shown);
    expect(await page.evaluate(() => history.length), "the page adds no entry to the history").toBe(entries);
    await expect(page.locator("#main")).not.toHaveAttribute("inert");
    await expect(page.locator("#chat-share-menu-button")).toBeFocused();
    await expect(latest(page)).toBeVisible();
  });
}

test("the Share menu copies the whole chat and its link, and downloads it", async ({ page, context, turnleaf }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const long = await turnleaf.plantLongChat(60);
  await openPage(page, `/c/${long.chat}`);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const share = () => page.getByRole("button", { name: "Share" }).click();
  await share();
  await page.getByRole("button", { name: "Copy as Markdown" }).click();
  // The page has only the last thirty messages.
  await expect.poll(copied).toContain("Question 0:");
  await expect(page.locator(".toast").getByText("Copied.")).toBeVisible();
  await share();
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect.poll(copied).toBe(`${turnleaf.url}/c/${long.chat}?at=${long.turns.at(-1)}`);
  await share();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as Markdown" }).click();
  expect((await download).suggestedFilename()).toMatch(/\.md$/);
});

test("the link of a shared path is copied by its button", async ({ page, context, turnleaf, model }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const planted = await plantTree(turnleaf, model, 2, 1);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[1]}`);
  await choose(page, "Share", "Share this path…");
  await page.getByRole("button", { name: "Create link" }).click();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  await waitForHydration(page);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await expect(page.getByRole("button", { name: "Copied ✓" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
  await expect(page.getByRole("button", { name: "Copy", exact: true })).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test("a page that fails to load says so, and loads on retry", async ({ page, turnleaf, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  const planted = await plantTree(turnleaf, model, 2, 1);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[1]}`);
  await page.route("**/compare", (route) => route.abort());
  await choose(page, "More actions for this chat", "Compare branches");
  await expect(panel(page)).toContainText("Could not load this part of the page.");
  await page.unroute("**/compare");
  await panel(page).getByRole("button", { name: "Retry", exact: true }).click();
  await expect(heading(page, "Compare branches")).toBeVisible();
  await expect(panel(page).getByText("Could not load this part of the page.")).toHaveCount(0);
  // The texts come first, the figures are folded.
  await panel(page).getByLabel("Right").selectOption({ index: 1 });
  await panel(page).getByRole("button", { name: "Compare" }).click();
  await expect(panel(page).getByRole("article", { name: "Message 1" })).toBeVisible();
  await expect(panel(page).getByRole("table", { name: /^Models and usage/ })).toBeHidden();
  await panel(page).getByText("Summary").click();
  await expect(panel(page).getByRole("table", { name: /^Models and usage/ })).toBeVisible();

  // A form that does not reach the server says so and keeps its words; the same button sends them again.
  await choose(page, "More actions for this chat", "Chat settings");
  const title = panel(page).getByRole("textbox", { name: "Title" });
  await page.route("**/forms/rename", (route) => route.abort());
  await title.fill("Kept words");
  await page.keyboard.press("Enter");
  await expect(page.locator(".toast").getByText("Could not reach the server.")).toBeVisible();
  await expect(title).toHaveValue("Kept words");
  await page.unroute("**/forms/rename");
  await title.press("Enter");
  await expect(page.getByRole("heading", { name: "Kept words", level: 1 })).toBeVisible();
});
