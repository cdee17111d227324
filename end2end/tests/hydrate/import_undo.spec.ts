// The undo of an import beside the hydrated chat: what was continued is kept, listed, and undone where that is asked
// for, with its progress.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { latestReply, messageBox, textOf, waitForHydration } from "../../support/chat.ts";
import { expectImportState, importThroughPreview, manyChats, restoreImport, startUndo, undoTheRest } from "../../support/imports.ts";
import { expect, test } from "../../support/fixtures.ts";

const SAMPLE = join(import.meta.dirname, "../../../src/interchange/samples/claude/conversations.json");

test("a continued chat is kept by the undo, and goes with the rest", async ({ page, model }) => {
  const path = await importThroughPreview(page, "conversations.json", readFileSync(SAMPLE));
  await page.getByRole("link", { name: "Branches and blocks", exact: true }).click();
  await waitForHydration(page);
  const chat = new URL(page.url()).pathname;
  const versions = page.getByRole("group", { name: "Versions" }).last();
  await versions.getByRole("button", { name: /^(Previous|Next) version/, disabled: false }).first().click();
  await expect(textOf(latestReply(page))).toHaveText("Another answer.");
  await page.locator(".banner.warn").getByRole("button", { name: /^Continue with .*test/i }).click();
  await messageBox(page).fill("And then?");
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("Then it holds.");
  await expect(latestReply(page)).toContainText("Then it holds.");

  await page.goto(path);
  await startUndo(page);
  await expectImportState(page, "undone");
  const kept = page.locator("[data-kept]").getByRole("link", { name: "Branches and blocks", exact: true });
  await expect(kept).toHaveAttribute("href", chat);
  // The chats that nobody continued are gone.
  await expect(page.locator("[data-kept] a[href^='/c/']")).toHaveCount(1);

  await undoTheRest(page);
  await page.goto("/");
  await waitForHydration(page);
  await expect(page.locator(".chat-link")).toHaveCount(0);

  await page.goto(path);
  await restoreImport(page);
  await page.goto(chat);
  await waitForHydration(page);
  await expect(latestReply(page)).toContainText("Then it holds.");
});

test("the undo of a large import shows its progress, and the chat list is empty afterwards", async ({ page }) => {
  test.setTimeout(300_000);
  const path = await importThroughPreview(page, "chats.json", manyChats(400));
  await startUndo(page);
  await expectImportState(page, "undoing");
  await expect(page.getByRole("progressbar", { name: "Undo import" })).toBeVisible();
  await expectImportState(page, "undone");
  expect(new URL(page.url()).pathname).toBe(path);
  await expect(page.getByText("The import was undone. What it created is in Trash.")).toBeVisible();
  await page.goto("/");
  await waitForHydration(page);
  await expect(page.locator(".chat-link")).toHaveCount(0);
});
