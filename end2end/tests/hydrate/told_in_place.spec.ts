// What could not be done is told where it was asked for, with the way to try again, and nothing typed is lost (ux.md 4.10, 15).
import type { Locator, Page } from "@playwright/test";

import { begin, expectStatus, latestReply, messageBox, open } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { talk } from "../../support/verbs.ts";

const list = (page: Page): Locator => page.locator("#chats");
const failed = (page: Page): Locator => list(page).locator(".failed-deed");
const rows = (page: Page): Locator => list(page).locator(".chat-item");

async function chat(page: Page, model: ModelServer, text: string): Promise<void> {
  await begin(page, text);
  (await model.next()).answer("Fine.");
  await page.waitForURL("**/c/*");
  await expectStatus(latestReply(page), "complete");
}

async function choose(page: Page, deed: string): Promise<void> {
  await rows(page).first().hover();
  await rows(page).first().getByRole("button").click();
  await page.locator("#chat-menu").getByRole("button", { name: deed, exact: true }).click();
}

for (const [deed, call, left] of [["Delete", "delete_chat", 0], ["Archive", "place_chat", 0], ["Pin", "place_chat", 1]] as const) {
  test(`${deed} that fails is told above the list, and tried again from there`, async ({ page, model, watch }) => {
    watch.expect(/ERR_FAILED|Failed to fetch/);
    await chat(page, model, "How do leaves grow?");
    await page.route(`**/api/page/${call}*`, (route) => route.abort());
    await choose(page, deed);
    await expect(failed(page)).toContainText("“How do leaves grow?”: The server cannot be reached");
    await expect(rows(page)).toHaveCount(1);
    await expect(page.locator(".toast")).toHaveCount(0);
    // It stays, and fails again.
    await failed(page).getByRole("button", { name: "Try again" }).click();
    await expect(failed(page)).toContainText("The server cannot be reached");
    await page.unroute(`**/api/page/${call}*`);
    await failed(page).getByRole("button", { name: "Try again" }).click();
    await expect(failed(page)).toHaveCount(0);
    await expect(rows(page)).toHaveCount(left);
    if (deed === "Pin") await expect(list(page).getByRole("list", { name: "Pinned" }).getByRole("listitem")).toHaveCount(1);
  });
}

test("Undo that fails is told too, and can be tried again when its note is gone", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await chat(page, model, "How do leaves grow?");
  await choose(page, "Delete");
  await expect(rows(page)).toHaveCount(0);
  await page.route("**/api/page/restore_chat*", (route) => route.abort());
  await page.locator(".toasts").getByRole("button", { name: "Undo" }).click();
  await expect(failed(page)).toBeVisible();
  await page.unroute("**/api/page/restore_chat*");
  await failed(page).getByRole("button", { name: "Try again" }).click();
  await expect(rows(page)).toHaveCount(1);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("where the list is not on screen, a note tells it and tries again", async ({ page, model, watch }) => {
    watch.expect(/ERR_FAILED|Failed to fetch/);
    await chat(page, model, "How do leaves grow?");
    await page.route("**/api/page/delete_chat*", (route) => route.abort());
    await page.locator(".chat-head").getByRole("button", { name: "More for this chat" }).click();
    await page.locator(".chat-head").getByRole("button", { name: "Delete", exact: true }).click();
    const note = page.locator(".toast", { hasText: "The server cannot be reached" });
    await expect(note).toBeVisible();
    await page.unroute("**/api/page/delete_chat*");
    const gone = page.waitForResponse("**/api/page/delete_chat*");
    await note.getByRole("button", { name: "Try again" }).click();
    await gone;
  });
});

test("a branch that could not be renamed keeps what was typed, with the reason beside it", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await open(page);
  await talk(page, model, 1);
  await page.keyboard.press("Control+.");
  const card = page.locator("#panel .tree-card");
  const field = card.getByRole("textbox", { name: "Name" });
  await expect(field).toBeVisible();
  await page.route("**/api/page/change_branch*", (route) => route.abort());
  await field.fill("Leaves");
  await field.press("Enter");
  await expect(card.locator(".problem")).toContainText("The server cannot be reached");
  await expect(field).toHaveValue("Leaves");
  await expect(page.locator(".toast")).toHaveCount(0);
  await page.unroute("**/api/page/change_branch*");
  await field.press("Enter");
  await expect(card.locator(".problem")).toHaveCount(0);
  await expect(page.locator(".toast")).toContainText("Saved");
});

test("the new chat's draft of another tab is asked for again where it did not come", async ({ page, context, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await open(page);
  let refused = 0;
  await page.route("**/api/page/load_chat*", (route) => {
    refused += 1;
    return refused === 1 ? route.abort() : route.continue();
  });
  const other = await context.newPage();
  await open(other);
  const saved = other.waitForResponse("**/api/page/save_draft*");
  await messageBox(other).fill("Written in the other tab");
  await saved;
  await page.bringToFront();
  await expect(messageBox(page)).toHaveValue("Written in the other tab");
  expect(refused).toBeGreaterThan(1);
});
