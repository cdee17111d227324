// Data settings: an import shows its progress and can be cancelled; deleting everything requires a typed word.
import { startChat, expectStatus, latestReply, openPage } from "../../support/chat.ts";
import { textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";

test("an importing file has a progress bar, and can be cancelled and sent again", async ({ page, watch }) => {
  watch.expect(/ERR_FAILED|status of 422/);
  await openPage(page, "/settings/data");
  let letGo = (): void => {};
  const held = new Promise<void>((done) => (letGo = done));
  await page.route("**/forms/import", async (route) => {
    await held;
    // The upload was cancelled by then; if it continued, it might still arrive.
    await route.abort().catch(() => undefined);
  });
  const form = page.locator("form[action='/forms/import']");
  await form.getByLabel("Files").setInputFiles(textFile("chats.json", JSON.stringify([{ not: "a chat" }])));
  await form.getByRole("button", { name: "Preview import" }).click();
  await expect(form.getByRole("progressbar")).toBeVisible();
  await expect(form.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(form.getByRole("progressbar")).toBeHidden();
  await expect(form.getByRole("button", { name: "Preview import" })).toBeFocused();
  await expect(page).toHaveURL(/\/settings\/data$/);
  letGo();
  await page.unroute("**/forms/import");
  // An error of a file is shown on this page.
  await form.getByLabel("Files").setInputFiles(textFile("empty.json", ""));
  await form.getByRole("button", { name: "Preview import" }).click();
  await expect(page.locator("main > [role=status]")).toContainText("empty");
  await expect(form.getByRole("progressbar")).toBeHidden();
  await form.getByLabel("Files").setInputFiles(textFile("chats.json", JSON.stringify([{ not: "a chat" }])));
  await form.getByRole("button", { name: "Preview import" }).click();
  await expect(page).toHaveURL(/\/settings\/data\/imports\//);
});

test("everything is deleted once the word is typed, and the page stays usable", async ({ page, watch }) => {
  watch.expect(/status of 422/);
  await startChat(page, "Hello", "demo/plain");
  await expectStatus(latestReply(page), "complete");
  await openPage(page, "/settings/data");
  await page.getByRole("link", { name: "Delete everything…" }).click();
  await expect(page.getByText("1 chat, with all its branches")).toBeVisible();
  await expect(page.getByRole("link", { name: "Export everything" })).toBeVisible();
  const word = page.getByLabel("Confirm");
  await word.fill("yes");
  await word.press("Enter");
  await expect(page.getByText("You did not type “delete”.")).toBeVisible();
  await expect(word).toHaveValue("yes");
  await word.fill("delete");
  await page.getByRole("button", { name: "Delete everything permanently" }).click();
  await expect(page.getByText("Everything was deleted.")).toBeVisible();
  await openPage(page);
  await expect(page.getByRole("link", { name: "Hello" })).toHaveCount(0);
});

test("files are dropped anywhere in the frame and imported, and a second tab sees the import", async ({ page, context }) => {
  await openPage(page, "/settings/data");
  const target = page.locator(".import-drop");
  const chat = (id: string) => [{ id, title: id, create_time: 1_700_000_000, mapping: {
    q: { id: "q", parent: null, children: [], message: { id: "q", author: { role: "user" }, create_time: 1_700_000_000,
      metadata: {}, content: { content_type: "text", parts: ["Hello"] } } } } }];
  // Playwright has no drag of files from outside the page, so the input gets what a drop gives it.
  await expect(target.locator("input[type=file]")).toHaveAttribute("multiple", "");
  const box = (await target.boundingBox())!;
  const file = (await target.locator("input[type=file]").boundingBox())!;
  expect(file.width).toBeGreaterThan(box.width * 0.8);
  await target.getByLabel("Files").setInputFiles([
    textFile("one.json", JSON.stringify(chat("One"))), textFile("two.json", JSON.stringify(chat("Two"))),
  ]);
  await page.getByRole("button", { name: "Preview import" }).click();
  await expect(page.getByRole("status")).toContainText("Nothing is imported yet");
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByRole("button", { name: "Import", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await expect(page.getByRole("status")).toContainText("Finished.");
  // The other tab starts nothing a second time: it leads to the same import.
  await other.getByRole("button", { name: "Import", exact: true }).click();
  await expect(other).toHaveURL(page.url());
  await page.goto("/settings/data");
  await expect(page.locator(".import-list [data-state=finished]")).toHaveCount(1);
});
