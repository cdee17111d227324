// Every screen as it was approved, with what somebody has made there: chats and documents that are always the same.
import { begin, expectStatus, hydrated, latestReply, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { live } from "../../support/lived.ts";
import { lookAround, test } from "../../support/pictures.ts";
import { ToolServer, chatWithTools, question, wire } from "../../support/tools.ts";
import { Turnleaf } from "../../support/turnleaf.ts";

test.describe("without a provider", () => {
  test.use({ configured: false });
  test("the first run, and nothing", async ({ page, turnleaf, watch }, info) => {
    watch.expect(/404/);
    await lookAround(page, turnleaf.url, "first-run", "/", info);
    await lookAround(page, turnleaf.url, "missing", "/nothing-here", info);
  });
});

test("a chat and its tree", async ({ page, turnleaf }, info) => {
  const { chat } = await turnleaf.grow(6);
  await lookAround(page, turnleaf.url, "home", "/", info);
  await lookAround(page, turnleaf.url, "chat", `/c/${chat}`, info);
  await lookAround(page, turnleaf.url, "tree", `/c/${chat}/tree`, info);
});

test("the palette", async ({ page, turnleaf }, info) => {
  await turnleaf.grow(2);
  await lookAround(page, turnleaf.url, "palette", "/", info, async () => {
    await hydrated(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("option").first().waitFor();
  });
});

test("a reply that is being written, and one that broke", async ({ page, turnleaf, model }, info) => {
  await begin(page, "Show me");
  const reply = await model.next();
  reply.think("Let me see. ");
  reply.say("Half an **answer** with `code`");
  await expect(textOf(latestReply(page))).toHaveText(/Half an answer/);
  await page.waitForURL(/\/c\//);
  const chat = new URL(page.url()).pathname;
  await lookAround(page, turnleaf.url, "chat-answering", chat, info);
  reply.drop();
  await expectStatus(latestReply(page), "error");
  await lookAround(page, turnleaf.url, "chat-failed", chat, info);
});

test("the pages of a chat", async ({ page, turnleaf }, info) => {
  const { chat } = await turnleaf.grow(6);
  for (const name of ["settings", "tools", "branches", "export"]) {
    await lookAround(page, turnleaf.url, `chat-${name}`, `/c/${chat}/${name}`, info);
  }
});

test("what somebody has made, and what was counted and thrown away", async ({ page, turnleaf, model }, info) => {
  const { document, versions: [older, newer], taken } = await live(turnleaf, model);
  const seen: [name: string, address: string][] = [
    ["documents", "/documents"], ["document", `/documents/${document}`], ["document-edit", `/documents/${document}/edit`],
    ["document-compare", `/documents/${document}/compare?left=${older}&right=${newer}`], ["documents-new", "/documents/new"],
    ["usage", "/usage"], ["search", "/search?q=leaf"], ["trash", "/trash"], ["settings-data", "/settings/data"],
    ["import", `/settings/data/imports/${taken}`],
  ];
  for (const [name, address] of seen) await lookAround(page, turnleaf.url, name, address, info);
});

test("what is said about a chat", async ({ page, turnleaf, model }, info) => {
  const { chat, message, reply, ends: [left, right], graft } = await live(turnleaf, model);
  const seen: [name: string, address: string][] = [
    ["chat-compare", `/c/${chat}/compare?left=${left}&right=${right}`], ["chat-graft", `/c/${chat}/grafts/${graft}`],
    ["chat-drawing", `/c/${chat}/drawing`], ["chat-find", `/c/${chat}/find?q=leaf`], ["turn-edit", `/turns/${message}/edit`],
    ["turn-again", `/turns/${reply}/again`], ["turn-sent", `/turns/${reply}/sent`],
  ];
  for (const [name, address] of seen) await lookAround(page, turnleaf.url, name, address, info);
});

test("what opens over a chat", async ({ page, turnleaf, model }, info) => {
  const { chat, reply } = await live(turnleaf, model);
  const at = `/c/${chat}`;
  const opened = (deed: () => Promise<void>, shows: string) => async () => {
    await hydrated(page);
    await deed();
    await page.locator(shows).first().waitFor();
  };
  await lookAround(page, turnleaf.url, "chat-going-on", `${at}?from=${reply}`, info);
  await lookAround(page, turnleaf.url, "chat-dialog", at, info, opened(() => page.locator(".chat-title button").click(), "dialog[open]"));
  const more = `#turn-${reply}-menu`;
  await lookAround(page, turnleaf.url, "chat-menu", at, info, opened(() => page.locator(`${more}-button`).click(), `${more} .menu-row`));
  const tree = opened(() => page.locator("#tree-button").click(), "aside [role=treeitem]");
  await lookAround(page, turnleaf.url, "chat-beside-tree", at, info, tree, [1440]);
  const drawer = opened(() => page.locator("button[popovertarget=chats]:visible").first().click(), "#chats .chat-link");
  await lookAround(page, turnleaf.url, "chat-drawer", at, info, drawer, [390]);
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
    const chat = await chatWithTools(turnleaf);
    await page.goto(`/c/${chat}`);
    await hydrated(page);
    await page.locator("#message").fill("Write it down");
    await page.keyboard.press("Enter");
    (await model.next()).ask([wire("delete"), "a note"]);
    await expect(question(page)).toBeVisible();
    await lookAround(page, turnleaf.url, "chat-asking", `/c/${chat}`, info);
  });
});

test("a failure, and what programs may ask", async ({ page, turnleaf, watch }, info) => {
  watch.expect(/status of 4\d\d/);
  await lookAround(page, turnleaf.url, "failure", "/documents/none", info);
  // Its begin: the rest is more of the same, and as long as a book.
  const begin = () => page.evaluate(() => {
    const places = [...document.querySelectorAll("main section, main details, main article")];
    for (const place of places.slice(8)) place.remove();
  });
  await lookAround(page, turnleaf.url, "api-docs", "/api/docs", info, begin, [390, 820]);
});

test("the settings", async ({ page, turnleaf }, info) => {
  for (const name of ["general", "appearance", "tools", "shortcuts", "about"]) {
    await lookAround(page, turnleaf.url, `settings-${name}`, `/settings/${name}`, info);
  }
});

test("the providers", async ({ page, turnleaf }, info) => {
  await lookAround(page, turnleaf.url, "settings-providers", "/settings/providers", info);
  await lookAround(page, turnleaf.url, "offline", "/offline", info);
});
