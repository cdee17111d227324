// Every screen, compared with the approved pictures, with fixed chats and documents.
import { startChat, expectStatus, waitForHydration, latestReply, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { seedServer } from "../../support/seeded_server.ts";
import { checkPictures, test } from "../../support/pictures.ts";
import { ToolServer, createChatWithTools, approvalPrompt, wireName } from "../../support/tools.ts";
import { Turnleaf } from "../../support/turnleaf.ts";

test.describe("without a provider", () => {
  test.use({ withProvider: false });
  test("the first run, and empty pages", async ({ page, turnleaf, watch }, info) => {
    watch.expect(/404/);
    await checkPictures(page, turnleaf.url, "first-run", "/", info);
    await checkPictures(page, turnleaf.url, "missing", "/nothing-here", info);
  });
});

test("a chat and its tree", async ({ page, turnleaf }, info) => {
  const { chat } = await turnleaf.plantLongChat(6);
  await checkPictures(page, turnleaf.url, "home", "/", info);
  await checkPictures(page, turnleaf.url, "chat", `/c/${chat}`, info);
  await checkPictures(page, turnleaf.url, "tree", `/c/${chat}/tree`, info);
});

test("the palette", async ({ page, turnleaf }, info) => {
  await turnleaf.plantLongChat(2);
  await checkPictures(page, turnleaf.url, "palette", "/", info, async () => {
    await waitForHydration(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("option").first().waitFor();
  });
});

test("a reply that is being written, and one that broke", async ({ page, turnleaf, model }, info) => {
  await startChat(page, "Show me");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me see. ");
  reply.sendText("Half an **answer** with `code`");
  await expect(textOf(latestReply(page))).toHaveText(/Half an answer/);
  await page.waitForURL(/\/c\//);
  const chat = new URL(page.url()).pathname;
  await checkPictures(page, turnleaf.url, "chat-answering", chat, info);
  reply.dropConnection();
  await expectStatus(latestReply(page), "error");
  await checkPictures(page, turnleaf.url, "chat-failed", chat, info);
});

test("the pages of a chat", async ({ page, turnleaf }, info) => {
  const { chat } = await turnleaf.plantLongChat(6);
  for (const name of ["settings", "tools", "branches", "export"]) {
    await checkPictures(page, turnleaf.url, `chat-${name}`, `/c/${chat}/${name}`, info);
  }
});

test("documents, usage and trash", async ({ page, turnleaf, model }, info) => {
  const { document, versions: [older, newer], importId: taken } = await seedServer(turnleaf, model);
  const seen: [name: string, address: string][] = [
    ["documents", "/documents"], ["document", `/documents/${document}`], ["document-edit", `/documents/${document}/edit`],
    ["document-compare", `/documents/${document}/compare?left=${older}&right=${newer}`], ["documents-new", "/documents/new"],
    ["usage", "/usage"], ["search", "/search?q=leaf"], ["trash", "/trash"], ["settings-data", "/settings/data"],
    ["import", `/settings/data/imports/${taken}`],
  ];
  for (const [name, address] of seen) await checkPictures(page, turnleaf.url, name, address, info);
});

test("pages about a chat", async ({ page, turnleaf, model }, info) => {
  const { chat, message, reply, leaves: [left, right], graft } = await seedServer(turnleaf, model);
  const seen: [name: string, address: string][] = [
    ["chat-compare", `/c/${chat}/compare?left=${left}&right=${right}`], ["chat-graft", `/c/${chat}/grafts/${graft}`],
    ["chat-drawing", `/c/${chat}/drawing`], ["chat-find", `/c/${chat}/find?q=leaf`], ["turn-edit", `/turns/${message}/edit`],
    ["turn-again", `/turns/${reply}/again`], ["turn-sent", `/turns/${reply}/sent`],
  ];
  for (const [name, address] of seen) await checkPictures(page, turnleaf.url, name, address, info);
});

test("overlays of a chat", async ({ page, turnleaf, model }, info) => {
  const { chat, reply } = await seedServer(turnleaf, model);
  const at = `/c/${chat}`;
  const opened = (deed: () => Promise<void>, shows: string) => async () => {
    await waitForHydration(page);
    await deed();
    await page.locator(shows).first().waitFor();
  };
  await checkPictures(page, turnleaf.url, "chat-going-on", `${at}?from=${reply}`, info);
  await checkPictures(page, turnleaf.url, "chat-dialog", at, info, opened(() => page.locator(".chat-title button").click(), "dialog[open]"));
  const more = `#turn-${reply}-menu`;
  await checkPictures(page, turnleaf.url, "chat-menu", at, info, opened(() => page.locator(`${more}-button`).click(), `${more} .menu-row`));
  const tree = opened(() => page.locator("#tree-button").click(), "#panel [role=treeitem]");
  await checkPictures(page, turnleaf.url, "chat-beside-tree", at, info, tree, [1440]);
  const drawer = opened(() => page.locator("button[popovertarget=chats]:visible").first().click(), "#chats .chat-link");
  await checkPictures(page, turnleaf.url, "chat-drawer", at, info, drawer, [390]);
});

test.describe("with tools", () => {
  test.use({
    turnleaf: async ({ model }, use) => {
      const turnleaf = await Turnleaf.start(model.environment, ToolServer.config);
      await use(turnleaf);
      await turnleaf.remove();
    },
  });
  test("a tool that waits for a person", async ({ page, turnleaf, model }, info) => {
    const chat = await createChatWithTools(turnleaf);
    await page.goto(`/c/${chat}`);
    await waitForHydration(page);
    await page.locator("#message").fill("Write it down");
    await page.keyboard.press("Enter");
    (await model.nextReply()).finishWithToolCalls([wireName("delete"), "a note"]);
    await expect(approvalPrompt(page)).toBeVisible();
    await checkPictures(page, turnleaf.url, "chat-asking", `/c/${chat}`, info);
  });
});

test("a failure, and the API reference", async ({ page, turnleaf, watch }, info) => {
  watch.expect(/status of 4\d\d/);
  await checkPictures(page, turnleaf.url, "failure", "/documents/none", info);
  // Only the first sections are kept: the rest is similar and very long.
  const begin = () => page.evaluate(() => {
    const places = [...document.querySelectorAll("main section, main details, main article")];
    for (const place of places.slice(8)) place.remove();
  });
  await checkPictures(page, turnleaf.url, "api-docs", "/api/docs", info, begin, [390, 820]);
});

test("the settings", async ({ page, turnleaf }, info) => {
  for (const name of ["general", "appearance", "tools", "shortcuts", "about"]) {
    await checkPictures(page, turnleaf.url, `settings-${name}`, `/settings/${name}`, info);
  }
});

test("the providers", async ({ page, turnleaf }, info) => {
  await checkPictures(page, turnleaf.url, "settings-providers", "/settings/providers", info);
  await checkPictures(page, turnleaf.url, "offline", "/offline", info);
});
