// Import and export as a person does them: each product's file through the settings, legacy databases by the command,
// and a chat as a standalone page.
// UX-40 of docs/acceptance.md.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, messageBox, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { pngFile, textFile, zipFile } from "../../support/files.ts";
import { userTurns } from "../../support/turn_actions.ts";

const SAMPLES = join(import.meta.dirname, "../../../src/interchange/samples");

/** Chooses a file under Data, waits for its preview and, unless only that is wanted, for the end of its import. */
async function importFile(page: Page, name: string, { onlyLook = false, bytes }: { onlyLook?: boolean; bytes?: Buffer } = {}): Promise<void> {
  await page.goto("/settings/data");
  await page.getByLabel("Files", { exact: true }).setInputFiles({ ...textFile(name.split("/").pop()!, ""), buffer: bytes ?? readFileSync(join(SAMPLES, name)) });
  await page.getByRole("button", { name: "Preview import" }).click();
  await expect(page.getByRole("status")).toContainText(/^(Nothing is imported yet|Nothing was imported)\./);
  const start = page.getByRole("button", { name: "Import", exact: true });
  if (onlyLook || await start.count() === 0) return;
  await start.click();
  await expect(page.getByRole("status")).toContainText(/^(Finished|Nothing was imported)\./);
}

/**
 * Each product's sample, the title of a chat in it, the shown path, and the path with the other version of the last
 * turn that has versions. big-AGI has no versions.
 */
const PRODUCTS = [
  {
    file: "chatgpt/conversations.json", product: "ChatGPT", title: "Edits and regenerations",
    path: ["Which knot for a cleat?", "A cleat hitch."], before: ["Which knot for a cleat?", "A clove hitch."],
  },
  {
    file: "claude/conversations.json", product: "Claude", title: "Branches and blocks",
    path: ["Which knot?", "Let me look.", "Thanks"], before: ["Which knot?", "Another answer."],
  },
  { file: "open_webui/chats.json", product: "Open WebUI", title: "Older form", path: ["What is it?", "Model not found"], before: ["What is it?", "I look."] },
  {
    file: "librechat/branches.json", product: "LibreChat", title: "Tides and “ports”",
    path: ["When is low tide in Brest?"], before: ["When is high tide in Brest?"],
  },
  { file: "llama_cpp/session.jsonl", product: "llama.cpp", title: "Files", path: ["List the files.", "I will look", "Two files."],
    before: ["List the files.", "I will look", "There are two files."] },
  { file: "big_agi/all.json", product: "big-AGI", title: "Code talk", path: ["Run it.", /./, "Half"], before: undefined },
  { file: "lobehub/tables.json", product: "LobeHub", title: "A dinghy",
    path: ["Which wood for a dinghy?", "Use marine plywood.", "How thick?", "Six millimetres."],
    before: ["Which wood for a dinghy?", "Use marine plywood.", "Which glue?", "Epoxy."] },
  { file: "cherry_studio/older.json", product: "Cherry Studio", title: "潮汐", path: ["什么时候涨潮？", "晚上八点", "谢谢"],
    before: ["什么时候涨潮？", "No key"] },
  { file: "silly_tavern/group.jsonl", product: "SillyTavern", title: "Bob: group",
    path: ["Bob: Evening.", "Who sails?", "Bob: I do.", "Carol: Me too."], before: undefined },
  { file: "anything_llm/chats.json", product: "AnythingLLM", title: "Kitchen (ann)", path: ["Hello", "Hello, Ann."], before: undefined },
];

// The formats have their own tests. Every product's file is imported here; three of them are read in the browser, too.
for (const { file, product, title, path, before } of PRODUCTS.slice(0, 3)) {
  test(`a ${product} export is imported with its tree`, async ({ page }) => {
    await importFile(page, file, { onlyLook: true });
    await expect(page.getByText(`Format: ${product}`)).toBeVisible();
    await page.goto("/");
    await expect(page.locator(".chat-link")).toHaveCount(0);

    await importFile(page, file);
    await expect(page.getByRole("status")).toContainText(/[1-9]\d* imported, 0 already imported/);
    await page.getByRole("link", { name: title, exact: true }).click();
    await waitForHydration(page);
    await expect(page.getByRole("heading", { name: title, level: 1 })).toBeVisible();
    const turns = page.locator("article[data-turn-id]");
    await expect(turns).toHaveCount(path.length);
    for (const [at, words] of path.entries()) await expect(turns.nth(at)).toContainText(words);
    // The other branches were imported, too.
    const others = page.getByRole("group", { name: "Versions" });
    if (before) {
      await others.last().getByRole("button", { name: /^(Previous|Next) version/, disabled: false }).first().click();
      for (const [at, words] of before.entries()) await expect(turns.nth(at)).toContainText(words);
    } else await expect(others).toHaveCount(0);

    await importFile(page, file);
    await expect(page.getByRole("status")).toContainText(/0 imported, [1-9]\d* already imported/);
  });
}

test("exports of other products are imported, one after the other", async ({ page }) => {
  test.setTimeout(120_000);
  for (const { file, product, title } of PRODUCTS.slice(3)) {
    await importFile(page, file);
    await expect(page.getByText(`Format: ${product}`)).toBeVisible();
    await expect(page.getByRole("status")).toContainText(/[1-9]\d* imported, 0 already imported/);
    await expect(page.getByRole("link", { name: title, exact: true })).toBeVisible();
  }
});

test("an invalid file is reported and the page stays", async ({ page }) => {
  await importFile(page, "letter.json", { bytes: Buffer.from("Dear reader,") });
  await expect(page.getByRole("alert")).toContainText("The import failed: no chats were found in it: this is not JSON");
  await expect(page.getByRole("status")).toHaveText("Nothing was imported.");
});

/** Builds a large ChatGPT export: several files of conversations, with the images beside them. */
function splitArchive(conversations: any[]): Buffer {
  const picture = pngFile("picture.png").buffer;
  return zipFile("chatgpt.zip", [
    ["export/conversations-000.json", JSON.stringify(conversations.slice(0, 1))],
    ["export/conversations-001.json", JSON.stringify(conversations.slice(1))],
    ["export/file_00000000aaaa-sanitized.png", picture],
    ["export/file-LOGBOOK1-log.md", "# Log"],
    ["export/dalle-generations/file-MADE1-0f0f0f0f-0000-4000-8000-000000000000.png", picture],
    ["export/user-abc/file-PLOT1.dat", picture],
    ["export/conversation_asset_file_names.json", JSON.stringify({ "file-PLOT1.dat": "plot.png" })],
  ]).buffer;
}

test("a ChatGPT archive of many files is imported with its images and versions, and can be continued", async ({ page }) => {
  const conversations = JSON.parse(readFileSync(join(SAMPLES, "chatgpt/conversations.json"), "utf8"));
  const bytes = splitArchive(conversations);
  await importFile(page, "chatgpt.zip", { bytes, onlyLook: true });
  const looked = await page.getByRole("status").innerText();
  await importFile(page, "chatgpt.zip", { bytes });
  await expect(page.getByRole("status")).toContainText(`${conversations.length} imported, 0 already imported`);
  expect(looked).toContain(`${conversations.length} `);
  const came = page.url();

  await page.getByRole("link", { name: "Reasoning, tools, pictures, sources", exact: true }).click();
  await waitForHydration(page);
  const pictures = page.locator("article[data-turn-id] img");
  await expect(pictures).toHaveCount(3);
  for (const picture of await pictures.all()) {
    await picture.scrollIntoViewIfNeeded();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0)).toBe(true);
  }
  // The file attached to the question is a document now.
  await expect(page.locator("article[data-role=user] a.chip.reference").first()).toContainText("log.pdf");

  await page.goto("/");
  await waitForHydration(page);
  // The chat was archived at the source, and is archived here.
  await expect(page.locator(".chat-link").filter({ hasText: "Reasoning, tools" })).toBeVisible();
  await expect(page.locator(".chat-link").filter({ hasText: "Edits and regenerations" })).toHaveCount(0);
  await page.goto(came);
  await page.getByRole("link", { name: "Edits and regenerations", exact: true }).click();
  await waitForHydration(page);
  const turns = page.locator("article[data-turn-id]");
  await expect(turns.last()).toContainText("A cleat hitch.");
  await page.getByRole("group", { name: "Versions" }).last().getByRole("button", { name: "Previous version" }).click();
  await expect(textOf(turns.last())).toContainText("A clove hitch.");

  // The chat continued at the source, so an incremental import adds the new messages here.
  const [first] = conversations;
  first.mapping.a2b.children = ["later"];
  first.mapping.later = {
    id: "later", parent: "a2b", children: [],
    message: { id: "later", author: { role: "user" }, create_time: 1704067400, content: { content_type: "text", parts: ["Thanks"] }, metadata: {}, recipient: "all" },
  };
  first.current_node = "later";
  await importFile(page, "chatgpt.zip", { bytes: splitArchive(conversations) });
  await expect(page.getByRole("status")).toContainText(`0 imported, ${conversations.length} already imported`);
  await expect(page.getByText("updated", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Edits and regenerations", exact: true }).click();
  await waitForHydration(page);
  // A reader of another version stays there.
  await expect(textOf(turns.last())).toContainText("A clove hitch.");
  await page.getByRole("group", { name: "Versions" }).last().getByRole("button", { name: "Next version" }).click();
  await expect(turns.last()).toContainText("Thanks");
});

test.describe("on PostgreSQL", () => {
  test.use({ onPostgres: 2 });

  test("a ChatGPT export is imported with its tree and its images", async ({ page }) => {
    const conversations = JSON.parse(readFileSync(join(SAMPLES, "chatgpt/conversations.json"), "utf8"));
    await importFile(page, "chatgpt.zip", { bytes: splitArchive(conversations) });
    await expect(page.getByRole("status")).toContainText(`${conversations.length} imported, 0 already imported`);
    await page.getByRole("link", { name: "Edits and regenerations", exact: true }).click();
    await waitForHydration(page);
    await expect(page.locator("article[data-turn-id]").last()).toContainText("A cleat hitch.");
    await page.getByRole("group", { name: "Versions" }).last().getByRole("button", { name: "Previous version" }).click();
    await expect(textOf(page.locator("article[data-turn-id]").last())).toContainText("A clove hitch.");
    await page.locator(".chat-link").filter({ hasText: "Reasoning, tools, pictures, sources" }).click();
    await expect(page.locator("article[data-turn-id] img")).toHaveCount(3);
    await importFile(page, "chatgpt.zip", { bytes: splitArchive(conversations) });
    await expect(page.getByRole("status")).toContainText(`0 imported, ${conversations.length} already imported`);
  });
});

test("a chat imported without a model says so, and continues with a chosen one", async ({ page, model }) => {
  await importFile(page, "claude/conversations.json");
  await page.getByRole("link", { name: "Branches and blocks", exact: true }).click();
  await waitForHydration(page);
  await expect(page.getByText("This chat was imported and its model is unknown.")).toBeVisible();
  // The shown path ends with a message; the other one with a reply, which can be continued.
  const versions = page.getByRole("group", { name: "Versions" }).last();
  await versions.getByRole("button", { name: /^(Previous|Next) version/, disabled: false }).first().click();
  // The reply is on the page, and not only in the list of versions.
  await expect(textOf(latestReply(page))).toHaveText("Another answer.");
  await expect(page.locator(".model-chip")).toContainText("unknown model");
  await expect(page.locator("body")).not.toContainText("unknown is no longer available");
  await page.locator(".banner.warn").getByRole("button", { name: /^Continue with .*test/i }).click();
  await messageBox(page).fill("And then?");
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("Then it holds.");
  await expect(latestReply(page)).toContainText("Then it holds.");
});

for (const sample of ["legacy-messages", "legacy-messages-without-turns"] as const) {
  test(`the database of ${sample} is imported as chats`, async ({ page, turnleaf, watch }) => {
    watch.expectLostConnection();
    await turnleaf.importLegacy(sample);
    await page.goto("/");
    await waitForHydration(page);
    await page.locator(".chat-link").filter({ hasText: "Tides" }).click();
    await expect(userTurns(page)).toHaveCount(3);
    const reply = replies(page).first();
    await expect(reply).toContainText("At 17:42.");
    // Reasoning and tool calls are in the reply, in the order of their dates.
    await expect(reply.locator("[data-segment=reasoning]").first()).toBeVisible();
    await expect(reply).toContainText("search");
  });
}

test("older sessions are imported as chats", async ({ page, turnleaf, watch }) => {
  watch.expectLostConnection();
  await turnleaf.importLegacy("legacy-actions");
  await page.goto("/");
  await waitForHydration(page);
  await page.locator(".chat-link").filter({ hasText: "Repair" }).click();
  await expect(userTurns(page)).toHaveText([/Why does it fail\?/, /Mend it/]);
  await expect(replies(page).first()).toContainText("A semicolon is missing.");
});

test("a chat as a page of its own reads as it did, without the server and without script", async ({ page, browser, turnleaf }, info) => {
  test.setTimeout(120_000);
  await startChat(page, "Show me", "demo/tour");
  await expectStatus(latestReply(page), "complete");
  // A page of its own has no buttons.
  const shown = (await textOf(latestReply(page)).allInnerTexts()).map((text) => text.replace("Copy table\nCSV\n", ""));
  await page.goto(`${new URL(page.url()).pathname}/export`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("heading", { name: "Page (HTML)" }).locator("..").getByRole("button", { name: "Download" }).click(),
  ]);
  const file = info.outputPath("chat.html");
  await download.saveAs(file);
  await turnleaf.stop();
  const bytes = (await readFile(file)).toString();
  expect(bytes).not.toContain("<script");
  expect(bytes).not.toContain(turnleaf.url);

  const context = await browser.newContext({ javaScriptEnabled: false, viewport: page.viewportSize() });
  const requests: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  const alone = await context.newPage();
  await alone.goto(pathToFileURL(file).href);
  expect(await textOf(latestReply(alone)).allInnerTexts()).toEqual(shown);
  // Reasoning is collapsed as before, and opens without script.
  const reasoning = latestReply(alone).locator("[data-segment=reasoning]").first();
  await reasoning.locator("summary").first().click();
  await expect(reasoning.locator("[data-block-type=thinking]").first()).toBeVisible();
  await alone.emulateMedia({ media: "print" });
  await expect(latestReply(alone)).toBeVisible();
  expect(requests.filter((address) => !/^(file|data):/.test(address))).toEqual([]);
  await context.close();
});
