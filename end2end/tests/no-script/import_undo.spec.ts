// The undo of a large import by forms only: its progress, what it keeps, the undo of the rest, and a killed server.
// UX-32 of docs/acceptance.md.
import { expectImportState, importThroughPreview, manyChats, restoreImport, startUndo, undoTheRest } from "../../support/imports.ts";
import { expect, test } from "../../support/fixtures.ts";

/** So many chats that their undo outlasts the request that starts it, and the next page. */
const MANY = 400;
/** So many that it also outlasts the page that shows it. */
const MORE = 1_000;

test("the undo of a large import shows its progress, and all of it is restored", async ({ page, turnleaf }) => {
  test.setTimeout(300_000);
  const path = await importThroughPreview(page, "chats.json", manyChats(MANY));
  await startUndo(page);
  await expectImportState(page, "undoing");
  await expect(page.getByRole("progressbar", { name: "Undo import" })).toBeVisible();
  await expect(page.getByText(/^Moving to Trash: \d/)).toBeVisible();
  await expect(page.getByRole("button", { name: /^(Undo this import|Restore import|Remove from list)/ })).toHaveCount(0);
  await expectImportState(page, "undone");
  await expect(page.getByText("The import was undone. What it created is in Trash.")).toBeVisible();
  await expect(page.locator("[data-kept]")).toHaveCount(0);
  const undone = await turnleaf.get(`/api/imports/${path.split("/").pop()}`);
  expect([undone.present.chats, undone.in_trash, undone.reversal.removed.chats]).toEqual([0, MANY, MANY]);

  await restoreImport(page);
  await expect(page.getByText("Restored.", { exact: true })).toBeVisible();
  const restored = await turnleaf.get(`/api/imports/${path.split("/").pop()}`);
  expect([restored.present.chats, restored.in_trash]).toEqual([MANY, 0]);
});

test("an undo that ends with the server is offered again, and continues", async ({ page, context, turnleaf, watch }) => {
  test.setTimeout(300_000);
  watch.expectLostConnection();
  const path = await importThroughPreview(page, "chats.json", manyChats(MORE));
  await startUndo(page);
  await expectImportState(page, "undoing");
  await turnleaf.kill();
  await page.close();
  await turnleaf.restart();

  const after = await context.newPage();
  await after.goto("/settings/data");
  await expect(after.locator("[data-import] [data-partly]")).toContainText("was not finished");
  await after.goto(path);
  await expectImportState(after, "finished");
  await expect(after.locator("[data-partly]")).toContainText(/not finished: .+ in Trash\. Undo it again to move the rest there, or restore it\.$/);
  await expect(after.getByRole("button", { name: "Restore import" })).toBeVisible();
  await startUndo(after);
  await expectImportState(after, "undone");
  await expect(after.locator("[data-partly]")).toHaveCount(0);
  const undone = await turnleaf.get(`/api/imports/${path.split("/").pop()}`);
  expect([undone.present.chats, undone.in_trash]).toEqual([0, MORE]);
  await turnleaf.stop();
  expect(await turnleaf.fsck()).toBe(0);
});

test("the undo of the rest takes messages that a later import followed", async ({ page, turnleaf }) => {
  const conversation = (exchanges: number) => {
    const [chat] = JSON.parse(manyChats(1).toString());
    let parent = "a";
    for (let number = 2; number <= exchanges; number++) {
      for (const [id, role] of [[`q${number}`, "user"], [`a${number}`, "assistant"]] as const) {
        const content = { content_type: "text", parts: [`Words ${id}`] };
        chat.mapping[id] = { id, parent, children: [], message: { id, author: { role }, create_time: 1_700_000_000 + number, metadata: {}, content } };
        parent = id;
      }
    }
    return Buffer.from(JSON.stringify([chat]));
  };
  await importThroughPreview(page, "first.json", conversation(1));
  const path = await importThroughPreview(page, "second.json", conversation(2));
  await importThroughPreview(page, "third.json", conversation(3));
  /** Of the second import: 1 while messages of it are in the chat. */
  const messages = async (): Promise<number> => (await turnleaf.get(`/api/imports/${path.split("/").pop()}`)).present.extended_chats;
  await page.goto(path);
  await startUndo(page);
  await expectImportState(page, "undone");
  const kept = page.locator("[data-kept]");
  await expect(kept.getByRole("heading", { name: "Kept" })).toBeVisible();
  const chat = await kept.getByRole("link", { name: "Chat 1", exact: true }).getAttribute("href");
  expect(chat).toMatch(/^\/c\//);
  expect(await messages()).toBe(1);

  await undoTheRest(page);
  expect(await messages()).toBe(0);
  await page.goto(chat!);
  await expect(page.locator("article[data-turn-id]")).toHaveCount(2);
  await page.goto(path);
  await restoreImport(page);
  expect(await messages()).toBe(1);
});
