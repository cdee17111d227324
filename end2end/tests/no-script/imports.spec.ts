// An import by forms only: preview, import, filters of the report, undo and restore.
// UX-40 of docs/acceptance.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "../../support/fixtures.ts";

const SAMPLES = join(import.meta.dirname, "../../../src/interchange/samples");

test("a file is previewed, imported, undone and restored", async ({ page }) => {
  await page.goto("/settings/data");
  const buffer = readFileSync(join(SAMPLES, "chatgpt/conversations.json"));
  await page.getByLabel("Files", { exact: true }).setInputFiles({ name: "conversations.json", mimeType: "application/json", buffer });
  await page.getByRole("button", { name: "Preview import" }).click();
  await expect(page.getByRole("heading", { name: "Import preview", level: 1 })).toBeVisible();
  await expect(page.locator("p[role=status]")).toContainText(/Nothing is imported yet\. This would be imported: [1-9]\d* new chats?/);
  await expect(page.getByText("Format: ChatGPT")).toBeVisible();
  const title = "Edits and regenerations";
  await expect(page.getByText(title, { exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: title, exact: true })).toHaveCount(0);

  await page.getByRole("button", { name: "Import", exact: true }).click();
  await expect(page.locator("p[role=status]")).toContainText(/Finished\./);
  await expect(page.getByRole("link", { name: title, exact: true })).toBeVisible();
  const filters = page.getByRole("navigation", { name: "Differences from the source" });
  await filters.getByRole("link", { name: /^Not preserved/i }).click();
  await expect(page).toHaveURL(/show=lost#differences$/);
  await expect(filters.locator("[aria-current=true]")).toHaveText(/^Not preserved/i);
  await expect(page.locator("#differences [data-kind]:not([data-kind=lost])")).toHaveCount(0);

  await page.getByRole("button", { name: "Undo this import…" }).click();
  await expect(page.getByRole("alertdialog")).toContainText("is moved to Trash");
  await page.getByRole("button", { name: "Undo import", exact: true }).click();
  await expect(page.locator("[data-state=undone]")).toBeVisible();
  await expect(page.getByText("The import was undone.")).toBeVisible();
  await page.goto("/trash");
  await expect(page.getByRole("heading", { name: "Undone imports" })).toBeVisible();
  await page.getByRole("button", { name: /^Restore import/ }).click();
  await expect(page.getByText("Restored.")).toBeVisible();
  await expect(page.locator("[data-state=finished]")).toBeVisible();
});

test("a preview is cancelled, and a damaged file is explained", async ({ page, watch }) => {
  watch.expect(/status of 422/);
  await page.goto("/settings/data");
  const choose = (name: string, text: string) =>
    page.getByLabel("Files", { exact: true }).setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
  await choose("notes.json", JSON.stringify([{ not: "a chat" }]));
  await page.getByRole("button", { name: "Preview import" }).click();
  await expect(page.getByRole("alert")).toContainText("The import failed");
  await expect(page.getByRole("button", { name: "Import", exact: true })).toHaveCount(0);

  await page.goto("/settings/data");
  const buffer = readFileSync(join(SAMPLES, "chatgpt/conversations.json"));
  await page.getByLabel("Files", { exact: true }).setInputFiles({ name: "conversations.json", mimeType: "application/json", buffer });
  await page.getByRole("button", { name: "Preview import" }).click();
  await page.getByRole("button", { name: "Cancel import" }).click();
  await expect(page.getByText("Import cancelled. Nothing was imported.")).toBeVisible();
  await page.goto("/trash");
  await expect(page.getByRole("heading", { name: "Undone imports" })).toHaveCount(0);
});
