// Every screen as it was approved, with a chat that is always the same.
import { begin, expectStatus, hydrated, latestReply, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { lookAround, test } from "../../support/pictures.ts";

test.describe("without a provider", () => {
  test.use({ configured: false });
  test("the first run, and nothing", async ({ page, turnleaf, watch }, info) => {
    watch.expect(/404/);
    await lookAround(page, turnleaf.url, "first-run", "/", info, () => hydrated(page));
    await lookAround(page, turnleaf.url, "missing", "/nothing-here", info, () => hydrated(page));
  });
});

test("a chat and its tree", async ({ page, turnleaf }, info) => {
  const { chat } = await turnleaf.grow(6);
  await lookAround(page, turnleaf.url, "home", "/", info, () => hydrated(page));
  await lookAround(page, turnleaf.url, "chat", `/c/${chat}`, info, () => hydrated(page));
  await lookAround(page, turnleaf.url, "tree", `/c/${chat}/tree`, info, () => hydrated(page));
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
  await lookAround(page, turnleaf.url, "chat-answering", chat, info, () => hydrated(page));
  reply.drop();
  await expectStatus(latestReply(page), "error");
  await lookAround(page, turnleaf.url, "chat-failed", chat, info, () => hydrated(page));
});

test("the pages of a chat", async ({ page, turnleaf }, info) => {
  const { chat } = await turnleaf.grow(6);
  for (const name of ["settings", "tools", "branches", "export"]) {
    await lookAround(page, turnleaf.url, `chat-${name}`, `/c/${chat}/${name}`, info);
  }
});

test("what there is to find", async ({ page, turnleaf }, info) => {
  const { chat } = await turnleaf.grow(6);
  await lookAround(page, turnleaf.url, "search", "/search?q=leaf", info);
  await lookAround(page, turnleaf.url, "usage", "/usage", info);
  await lookAround(page, turnleaf.url, "documents-new", "/documents/new", info);
  await lookAround(page, turnleaf.url, "documents", "/documents", info);
  await turnleaf.delete(`/api/chats/${chat}`);
  await lookAround(page, turnleaf.url, "trash", "/trash", info);
});

test("the settings", async ({ page, turnleaf }, info) => {
  for (const name of ["general", "appearance", "tools", "shortcuts", "data", "about"]) {
    await lookAround(page, turnleaf.url, `settings-${name}`, `/settings/${name}`, info);
  }
});

test("the providers", async ({ page, turnleaf }, info) => {
  await lookAround(page, turnleaf.url, "settings-providers", "/settings/providers", info);
  await lookAround(page, turnleaf.url, "offline", "/offline", info);
});
