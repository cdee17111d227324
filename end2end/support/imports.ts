// Imports as a person makes them on the page "Data", with or without script.
import { expect, type Page } from "@playwright/test";

/** How long an import, or its undo, of the most chats may take on a loaded machine. */
export const IMPORT_MS = 90_000;

/** Builds a ChatGPT export of this many chats, each with a message and a reply. */
export function manyChats(count: number): Buffer {
  const node = (id: string, parent: string | null, role: string, text: string) => ({
    id, parent, children: [],
    message: { id, author: { role }, create_time: 1_700_000_000, metadata: {}, content: { content_type: "text", parts: [text] } },
  });
  const chat = (number: number) => ({
    id: `chat-${number}`, title: `Chat ${number}`, create_time: 1_700_000_000,
    mapping: { q: node("q", null, "user", `Question ${number}`), a: node("a", "q", "assistant", `Answer ${number}`) },
  });
  return Buffer.from(JSON.stringify(Array.from({ length: count }, (_, at) => chat(at + 1))));
}

/** Previews and imports a file; ends on the page of the import, whose path it returns. */
export async function importThroughPreview(page: Page, name: string, buffer: Buffer): Promise<string> {
  await page.goto("/settings/data");
  await page.getByLabel("Files", { exact: true }).setInputFiles({ name, mimeType: "application/json", buffer });
  await page.getByRole("button", { name: "Preview import" }).click();
  const start = page.getByRole("button", { name: "Import", exact: true });
  await expect(start).toBeVisible({ timeout: IMPORT_MS });
  await start.click();
  await expectImportState(page, "finished");
  return new URL(page.url()).pathname;
}

/** Waits for the state of the import on its page, which refreshes itself. */
export async function expectImportState(page: Page, state: "finished" | "undoing" | "undone"): Promise<void> {
  await expect(page.locator(`[data-import][data-state=${state}]`)).toBeVisible({ timeout: IMPORT_MS });
}

/** Starts the undo of the import on its page. */
export async function startUndo(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Undo this import…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Undo import", exact: true }).click();
}

/** Undoes what an undo kept, on the page of the import. */
export async function undoTheRest(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Undo the rest…" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("with everything you wrote there");
  await question.getByRole("button", { name: "Undo the rest", exact: true }).click();
  await expectImportState(page, "undone");
  await expect(page.locator("[data-kept]")).toHaveCount(0);
}

/** Restores the import on its page. */
export async function restoreImport(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Restore import" }).click();
  await expectImportState(page, "finished");
}
