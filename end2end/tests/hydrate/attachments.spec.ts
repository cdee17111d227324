// Attachments of a message: files by button, drop and paste, documents by `@`, images and chips.
// UX-22, UX-23, UX-27 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { expectAccessibleState } from "../../support/accessibility_checks.ts";
import { violations } from "../../support/axe.ts";
import { TEST_MODEL, chooseModel, expectStatus, waitForHydration, latestReply, messageBox, openPage, replies, sendMessage, sendButton } from "../../support/chat.ts";
import { attachFiles, attachmentChips, dispatchFiles, pngFile, textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";

const users = (page: Page): Locator => page.locator("article[data-turn-id][data-role=user]");
const ready = (page: Page): Locator => page.locator(".attached-item[data-state=ready]");

async function answered(page: Page, model: { nextReply(): Promise<{ finishWithText(words: string): void }> }): Promise<void> {
  (await model.nextReply()).finishWithText("Seen.");
  await expectStatus(latestReply(page), "complete");
}

async function makeDocument(page: Page, title: string, content: string): Promise<{ id: string; rev: number }> {
  const answer = await page.request.post("/api/documents", { data: { title, content } });
  expect(answer.status()).toBe(201);
  return answer.json();
}

test("files and pictures are attached by button, drop and paste, sent, and shown the same after a reload", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await attachFiles(page, textFile("notes.txt", "one\ntwo\n"), pngFile("leaf.png"));
  await expect(ready(page)).toHaveCount(2);
  await dispatchFiles(page, "main", "dragover", [textFile("more.md", "# More")]);
  await expect(page.getByText("Drop files to attach them to your message")).toBeVisible();
  await dispatchFiles(page, ".drop-target", "drop", [textFile("more.md", "# More")]);
  await expect(page.getByText("Drop files to attach them to your message")).toHaveCount(0);
  await expect(ready(page)).toHaveCount(3);
  await dispatchFiles(page, "#message", "paste", [pngFile("image.png", 600, 300, [200, 30, 30])]);
  await expect(ready(page)).toHaveCount(4);
  await expect(attachmentChips(page).first()).toContainText("notes.txt");
  await sendMessage(page, "Look");
  const request = (await model.nextReply());
  const content = JSON.stringify(request.request.messages.at(-1).content);
  expect(content).toContain("one\\ntwo");
  expect(content).toContain("data:image/png;base64,");
  request.finishWithText("Seen.");
  await expectStatus(latestReply(page), "complete");
  const look = async () => {
    const user = users(page).first();
    await expect(user.locator("a.chip.reference")).toHaveText([/notes\.txt · \d+ tokens/, /more\.md · \d+ tokens/]);
    await expect(user.locator("a.picture img")).toHaveCount(2);
    const image = user.getByRole("img", { name: "image.png" });
    await image.scrollIntoViewIfNeeded();
    await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(1);
    expect(await image.evaluate((image) => [image.getAttribute("width"), image.getAttribute("height")])).toEqual(["480", "240"]);
  };
  await look();
  await expect(attachmentChips(page)).toHaveCount(0);
  await page.reload();
  await waitForHydration(page);
  await look();
  await expect(attachmentChips(page)).toHaveCount(0);
  await users(page).first().locator("a.chip.reference").first().click();
  await expect(page).toHaveURL(/\/documents\//);
});

test("a picture opens in full with keys and gives the focus back", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await attachFiles(page, pngFile("leaf.png"));
  await expect(ready(page)).toHaveCount(1);
  await sendButton(page).click();
  await answered(page, model);
  const picture = users(page).first().locator("a.picture");
  await picture.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Full-size image" });
  await expect(dialog.getByRole("img", { name: "leaf.png" })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(picture).toBeFocused();
});

test("a failed file blocks no other, shows the reason, and can be retried", async ({ page, watch }) => {
  watch.expect(/status of (503|500|422|415)/);
  await openPage(page);
  let refused = true;
  await page.route("**/api/blobs?name=second.txt", (route) =>
    refused ? route.fulfill({ status: 500, contentType: "application/problem+json", body: JSON.stringify({ detail: "The disk is full." }) }) : route.continue());
  await attachFiles(page, textFile("first.txt", "1"), textFile("second.txt", "2"), textFile("third.txt", "3"), textFile("empty.txt", ""));
  await expect(ready(page)).toHaveCount(2);
  const second = attachmentChips(page).filter({ hasText: "second.txt" });
  await expect(second).toContainText("The disk is full.");
  await expect(attachmentChips(page).filter({ hasText: "empty.txt" })).toHaveAttribute("data-state", "failed");
  await messageBox(page).fill("Look");
  await sendButton(page).click();
  await expect(page.locator("#message-problem")).toContainText("A file could not be attached.");
  refused = false;
  await second.getByRole("button", { name: "Retry: second.txt" }).click();
  await expect(second).toHaveAttribute("data-state", "ready");
  await attachmentChips(page).filter({ hasText: "empty.txt" }).getByRole("button", { name: "Remove empty.txt" }).click();
  await expect(attachmentChips(page)).toHaveCount(3);
});

test("a person chooses the encoding of a text where it is unknown (S-UP-11)", async ({ page, model, watch }) => {
  watch.expect(/status of 422/);
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  // "你好，世界。" in GBK.
  const buffer = Buffer.from("c4e3bac3a3accac0bde7a1a3d5e2cac7d2bbb8f6b2e2cad4a1a3", "hex");
  await attachFiles(page, { name: "gbk.txt", mimeType: "text/plain", buffer });
  const file = attachmentChips(page).filter({ hasText: "gbk.txt" });
  await expect(file).toHaveAttribute("data-state", "failed");
  await expect(file.getByRole("button", { name: /Retry/ })).toHaveCount(0);
  await file.getByRole("button", { name: /^Read as GB/ }).first().click();
  await expect(file).toHaveAttribute("data-state", "ready");
  await sendMessage(page, "Look");
  const reply = await model.nextReply();
  expect(JSON.stringify(reply.request.messages.at(-1).content)).toContain("你好，世界。");
  reply.finishWithText("Seen.");
  await expectStatus(latestReply(page), "complete");
});

test("files that were chosen before the page listened are attached", async ({ page }) => {
  let isChosen = false;
  await page.route("**/turnleaf.wasm", async (route) => {
    if (!isChosen) await page.locator("input[type=file]").setInputFiles([textFile("early.txt", "early")]);
    isChosen = true;
    await route.continue();
  });
  await openPage(page);
  await expect(ready(page)).toHaveCount(1);
  await expect(attachmentChips(page)).toContainText("early.txt");
});

test("a page that is left while a file is on its way asks first", async ({ page }) => {
  await openPage(page);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/api/blobs?name=slow.txt", async (route) => {
    await held;
    await route.continue();
  });
  await attachFiles(page, textFile("slow.txt", "slow"));
  await expect(attachmentChips(page).getByRole("progressbar")).toBeVisible();
  // Browsers show this dialog only after an interaction with the page.
  await messageBox(page).click();
  const dialog = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const question = await dialog;
  expect(question.type()).toBe("beforeunload");
  await question.dismiss();
  release();
  await expect(ready(page)).toHaveCount(1);
});

test("a message waits for its files, shows how far they are, and goes out by itself", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/api/blobs?name=slow.txt", async (route) => {
    await held;
    await route.continue();
  });
  await attachFiles(page, textFile("slow.txt", "slow"), textFile("quick.txt", "quick"));
  const slow = attachmentChips(page).filter({ hasText: "slow.txt" });
  await expect(slow.getByRole("progressbar")).toBeVisible();
  await expect(ready(page)).toHaveCount(1);
  await sendMessage(page, "Both");
  await expect(page.getByText("Uploading 2 of 2…")).toBeVisible();
  // Further typing cancels the pending send.
  await messageBox(page).pressSequentially("!");
  await expect(page.getByText("Uploading 2 of 2…")).toHaveCount(0);
  await sendButton(page).click();
  await expect(page.getByText("Uploading 2 of 2…")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("Uploading 2 of 2…")).toHaveCount(1);
  await messageBox(page).press("Escape");
  await expect(page.getByText("Uploading 2 of 2…")).toHaveCount(0);
  await messageBox(page).press("Enter");
  expect(model.requestCount).toBe(0);
  release();
  await answered(page, model);
  await expect(users(page).first().locator("a.chip.reference")).toHaveCount(2);
  await expect(users(page).first()).toContainText("Both!");
});

test("what is attached belongs to the draft: after a reload, and in another tab", async ({ page, context, model }) => {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await sendMessage(page, "Begin");
  await answered(page, model);
  const path = new URL(page.url()).pathname;
  await attachFiles(page, textFile("notes.txt", "one"), pngFile("leaf.png"));
  await expect(ready(page)).toHaveCount(2);
  await messageBox(page).fill("half a thought");
  await messageBox(page).blur();
  await page.reload();
  await waitForHydration(page);
  await expect(ready(page)).toHaveCount(2);
  await expect(messageBox(page)).toHaveValue("half a thought");

  const other = await context.newPage();
  await openPage(other, path);
  await expect(ready(other)).toHaveCount(2);
  await other.getByRole("button", { name: "Remove notes.txt" }).click();
  await expect(ready(page)).toHaveCount(1);
  await expect(messageBox(page)).toHaveValue("half a thought");
  await messageBox(page).press("Enter");
  await answered(page, model);
  await expect(attachmentChips(other)).toHaveCount(0);
});

test("an attachment alone can be sent, and a failed message restores it", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED/);
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await attachFiles(page, textFile("notes.txt", "one"));
  await expect(ready(page)).toHaveCount(1);
  await page.route("**/api/page/send_message", (route) => route.abort());
  await sendButton(page).click();
  await expect(page.locator("#message-problem")).not.toBeEmpty();
  await expect(ready(page)).toHaveCount(1);
  await page.unroute("**/api/page/send_message");
  await sendButton(page).click();
  await answered(page, model);
  await expect(users(page).first().locator("a.chip.reference")).toContainText("notes.txt");
  await expect(users(page)).toHaveCount(1);
});

test("a chip shows the current state of its document", async ({ page, model }) => {
  const document = await makeDocument(page, "spec.md", "a\nb\nc");
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await messageBox(page).pressSequentially("@spec");
  await expect(page.getByRole("option", { name: "spec.md" })).toBeVisible();
  await messageBox(page).press("Enter");
  await messageBox(page).fill("Read");
  await messageBox(page).press("Enter");
  await answered(page, model);
  const chip = users(page).first().locator(".chip.reference");
  await expect(chip).not.toContainText("older");
  await page.request.put(`/api/documents/${document.id}`, { data: { content: "x\ny" } });
  await page.reload();
  await expect(chip).toContainText("older version");
  await page.request.delete(`/api/documents/${document.id}`);
  await page.reload();
  await expect(chip).toContainText("deleted");
  await expect(users(page).first().getByRole("link", { name: /spec/ })).toHaveCount(0);
});

test("the menu behind @ by keys: filters, chooses, closes, and knows an address from a question", async ({ page }) => {
  for (const title of ["Alpha plan", "Beta plan", "Notes"]) await makeDocument(page, title, title);
  await openPage(page);
  const box = messageBox(page);
  const list = page.getByRole("listbox", { name: "Documents" });
  await box.pressSequentially("mail me@plan");
  await expect(list).toHaveCount(0);
  await box.fill("");
  await box.pressSequentially("See @");
  await expect(list.getByRole("option")).toHaveText(["Notes", "Beta plan", "Alpha plan"]);
  expect(await violations(page)).toEqual([]);
  await box.pressSequentially("PLAN");
  await expect(list.getByRole("option")).toHaveCount(2);
  await box.dispatchEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true });
  await expect(list).toBeVisible();
  await box.press("ArrowDown");
  await expect(list.getByRole("option", { selected: true })).toHaveText("Alpha plan");
  await expect(box).toHaveAttribute("aria-activedescendant", (await list.getByRole("option", { selected: true }).getAttribute("id"))!);
  await box.press("Enter");
  await expect(list).toHaveCount(0);
  await expect(box).toHaveValue("See ");
  await expect(ready(page)).toHaveText([/Alpha plan/]);
  await box.pressSequentially("@no");
  await box.press("Escape");
  await expect(list).toHaveCount(0);
  await expect(box).toHaveValue("See @no");
  await box.pressSequentially("t");
  await expect(list).toHaveCount(0);
  await box.pressSequentially(" @");
  await list.getByRole("option", { name: "Notes" }).click();
  await expect(ready(page)).toHaveCount(2);
  await expect(box).toBeFocused();
});

test("@ with lines behind a title quotes them, and says where there are none", async ({ page }) => {
  await makeDocument(page, "Ratio 3:2", "one\n两\nthree\n");
  await openPage(page);
  const box = messageBox(page);
  const list = page.getByRole("listbox", { name: "Documents" });
  const option = list.getByRole("option");
  await box.pressSequentially("See @3:2");
  await expect(option).toHaveText([/^Ratio 3:2$/]);
  await box.pressSequentially(":7-9");
  await expect(option).toHaveText([/Ratio 3:2.*lines 7–9/]);
  await box.press("Enter");
  await expect(page.locator(".mention-menu")).toContainText("These lines do not exist: the document has 3 lines.");
  await expect(box).toHaveValue("See @3:2:7-9");
  for (let n = 0; n < 3; n++) await box.press("Backspace");
  await box.pressSequentially("2-3");
  await expect(option).toHaveText([/lines 2–3/]);
  expect(await violations(page)).toEqual([]);
  await box.press("Tab");
  await expect(ready(page)).toHaveText([/Ratio 3:2.*lines 2–3/]);
  await expect(box).toHaveValue("See ");
  await expect(box).toBeFocused();
  await page.reload();
  await expect(ready(page)).toHaveText([/Ratio 3:2.*lines 2–3/]);
  await box.press("Enter");
  await expect(users(page).first().locator(".chip.reference")).toContainText("lines 2–3");
});

test("@ finds a document that is older than those it knows, and Enter before the menu came sends nothing", async ({ page }) => {
  await makeDocument(page, "ÄLTESTE", "x");
  for (let n = 0; n < 200; n++) await makeDocument(page, `Newer ${n}`, "x");
  await openPage(page);
  let go = () => {};
  const held = new Promise<void>((resolve) => { go = resolve; });
  await page.route("**/api/documents?*", async (route) => { await held; await route.continue(); });
  const box = messageBox(page);
  await box.pressSequentially("See @älteste");
  await expect(page.locator("#mention-hint")).toHaveText("Searching documents…");
  await box.press("Enter");
  await expect(box).toHaveValue("See @älteste");
  go();
  await expect(page.getByRole("listbox", { name: "Documents" }).getByRole("option")).toHaveText(["ÄLTESTE"]);
  await box.press("Enter");
  await expect(ready(page)).toHaveText([/ÄLTESTE/]);
  await expect(users(page)).toHaveCount(0);
});

test("Backspace in front of the words selects the last chip, then takes it away", async ({ page }) => {
  await openPage(page);
  await attachFiles(page, textFile("a.txt", "a"), textFile("b.txt", "b"));
  await expect(ready(page)).toHaveCount(2);
  await messageBox(page).fill("words");
  await messageBox(page).press("Home");
  await messageBox(page).press("Backspace");
  await expect(page.locator(".attached-item.is-selected")).toContainText("b.txt");
  await messageBox(page).press("End");
  await expect(page.locator(".attached-item.is-selected")).toHaveCount(0);
  await messageBox(page).press("Home");
  await messageBox(page).press("Backspace");
  await messageBox(page).press("Backspace");
  await expect(attachmentChips(page)).toHaveText([/a\.txt/]);
  await expect(messageBox(page)).toHaveValue("words");
});

test("a long text that is pasted becomes a document, undo makes it text, and a key is remarked upon", async ({ page }) => {
  await openPage(page);
  const long = "0123456789 ".repeat(1_000);
  await messageBox(page).focus();
  await messageBox(page).fill("Before ");
  await dispatchFiles(page, "#message", "paste", [], long);
  await expect(page.locator(".attached-note")).toContainText("The 11,000 characters you pasted were attached as a document.");
  await expect(ready(page)).toHaveText([/Pasted text/]);
  await expect(messageBox(page)).toHaveValue("Before ");
  await page.locator(".attached-note").getByRole("button", { name: "Undo" }).click();
  await expect(messageBox(page)).toHaveValue(`Before ${long}`);
  await expect(page.locator(".attached-item")).toHaveCount(0);
  await expect(page.locator(".attached-note")).toHaveCount(0);
  // The note outlasts what is typed beside it. Removing the attachment takes it along, and then the remark on its key.
  const warning = page.locator(".hint.warning");
  await messageBox(page).fill("Before ");
  await dispatchFiles(page, "#message", "paste", [], `sk-proj-0123456789abcdefghij ${long}`);
  await expect(ready(page)).toHaveText([/Pasted text/]);
  await messageBox(page).fill("");
  await expect(page.locator(".attached-note")).toBeVisible();
  await expect(warning).toBeVisible();
  await page.getByRole("button", { name: /^Remove Pasted text/ }).click();
  await expect(page.locator(".attached-note")).toHaveCount(0);
  await messageBox(page).fill("Something else ");
  await expect(warning).toHaveCount(0);
  await dispatchFiles(page, "#message", "paste", [], "sk-proj-0123456789abcdefghij");
  await expect(warning).toContainText("This looks like an API key.");
  await messageBox(page).fill("nothing");
  await expect(warning).toHaveCount(0);
});

test("a lost connection loses no file: the upload resumes when the network is back", async ({ page, context, watch }) => {
  watch.expectLostConnection();
  watch.expect(/ERR_INTERNET_DISCONNECTED/);
  await openPage(page);
  await attachFiles(page, textFile("before.txt", "b"));
  await expect(ready(page)).toHaveCount(1);
  await context.setOffline(true);
  await attachFiles(page, textFile("during.txt", "d"));
  const during = attachmentChips(page).filter({ hasText: "during.txt" });
  await expect(during).toContainText("Connection lost");
  await context.setOffline(false);
  await expect(ready(page)).toHaveCount(2);
});

test("a file that is too large is refused before it is sent, beside one that is not", async ({ page }) => {
  await openPage(page);
  const requests: string[] = [];
  page.on("request", (request) => void (request.url().includes("/api/blobs") && requests.push(request.url())));
  await attachFiles(page, { name: "large.txt", mimeType: "text/plain", buffer: Buffer.alloc((32 << 20) + 1, "a") }, textFile("small.txt", "s"));
  await expect(attachmentChips(page).filter({ hasText: "large.txt" })).toContainText("This file is 33 MiB. The limit is 32 MiB per file.");
  await expect(ready(page)).toHaveCount(1);
  expect(requests).toHaveLength(1);
});

test("an edit shows what the message has, and keeps it", async ({ page, model }) => {
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await attachFiles(page, textFile("notes.txt", "one"));
  await expect(ready(page)).toHaveCount(1);
  await sendMessage(page, "First");
  await answered(page, model);
  await users(page).first().getByRole("button", { name: "Edit your message" }).click();
  const editor = page.getByRole("form", { name: "Edit your message" });
  await expect(editor.locator(".chip.reference")).toContainText("notes.txt");
  await editor.getByRole("textbox").fill("Second");
  await editor.getByRole("button", { name: "Send" }).click();
  await answered(page, model);
  await expect(users(page).first()).toContainText("Second");
  await expect(users(page).first().locator(".chip.reference")).toContainText("notes.txt");
  await expect(replies(page)).toHaveCount(1);
});

test("attachments are accessible", async ({ page, model, watch }) => {
  watch.expect(/status of 422/);
  test.setTimeout(120_000);
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await attachFiles(page, textFile("a file with quite a long name that goes on and on.md", "a"), pngFile("leaf.png"), textFile("empty.txt", ""));
  await expect(ready(page)).toHaveCount(2);
  await expect(attachmentChips(page).filter({ hasText: "empty.txt" })).toHaveAttribute("data-state", "failed");
  await expectAccessibleState(page, "files beside a message, one of which failed");
  await page.getByRole("button", { name: "Remove empty.txt" }).click();
  await sendMessage(page, "Look at these");
  await answered(page, model);
  await expectAccessibleState(page, "a message with files");
});
