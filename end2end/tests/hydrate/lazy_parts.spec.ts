// Code parts that are fetched on first use, and fail to load.
// UX-34 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, waitForHydration, latestReply, messageBox, openPage, sendButton, textOf } from "../../support/chat.ts";
import { expect, test, type ProblemWatch } from "../../support/fixtures.ts";
import { editBox, holdConversation, userTurns } from "../../support/turn_actions.ts";

const notice = (page: Page) => page.locator("p", { hasText: "Could not load this part of the page." });
const retryButton = (page: Page) => page.getByRole("button", { name: "Retry", exact: true }).first();

/** Blocks a code part until the returned function is called. */
async function blockPart(page: Page, watch: ProblemWatch, part: string): Promise<() => Promise<void>> {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  const address = `**/split_${part}.wasm`;
  await page.route(address, (route) => route.abort());
  return () => page.unroute(address);
}

test("a panel and a dialog that fail to load say so, block nothing, and load on retry", async ({ page, model, watch }) => {
  const [bringTree, bringDeeds] = [await blockPart(page, watch, "tree"), await blockPart(page, watch, "deeds")];
  await holdConversation(page, model, 1);
  await page.locator("#tree-button").click();
  const panel = page.locator("#panel");
  await expect(panel).toContainText("Could not load this part of the page.");
  await bringTree();
  await panel.getByRole("button", { name: "Retry", exact: true }).click();
  await expect(page.getByRole("treeitem", { name: /you are here/ })).toBeVisible();
  await page.getByRole("button", { name: "Close tree" }).click();

  const edit = userTurns(page).first().getByRole("button", { name: "Edit your message" });
  await userTurns(page).first().hover();
  await edit.click();
  await expect(notice(page)).toBeVisible();
  await userTurns(page).first().getByRole("button", { name: "Cancel" }).click();
  await expect(textOf(userTurns(page).first())).toHaveText("q1");
  await bringDeeds();
  await userTurns(page).first().hover();
  await edit.click();
  await expect(editBox(page)).toHaveValue("q1");
});

test("a page whose wasm fails to load says so in its own line, covering nothing", async ({ page, model, watch }) => {
  await page.setViewportSize({ width: 390, height: 700 });
  await holdConversation(page, model, 1);
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await page.route("**/turnleaf.wasm", (route) => route.abort());
  await page.goto(page.url());
  const line = page.locator(".basic-mode");
  await expect(line).toBeVisible();
  const box = await line.boundingBox();
  expect(box?.height).toBeGreaterThan(20);
  for (const part of [".chat-head", "[data-role=user]", "form.composer"]) {
    const isCovered = await page.locator(part).first().evaluate((part, line) => {
      const [a, b] = [part.getBoundingClientRect(), document.querySelector(line)!.getBoundingClientRect()];
      return a.top < b.bottom - 1 && b.top < a.bottom - 1 && a.left < b.right && b.left < a.right;
    }, ".basic-mode");
    expect.soft(isCovered, part).toBe(false);
  }
  // Buttons that need the program are hidden; forms work.
  await expect(page.locator(".needs-script").first()).toBeHidden();
  await messageBox(page).fill("By form");
  await sendButton(page).click();
  (await model.nextReply()).finishWithText("Answered.");
  await expect(page).toHaveURL(/#latest$/);
});

test("a chat whose code fails to load follows its reply like a page without script", async ({ page, model, watch }) => {
  await startChat(page, "Talk");
  const reply = await model.nextReply();
  reply.sendText("Half");
  await expect(textOf(latestReply(page))).toHaveText("Half");
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await page.route("**/split_chat.wasm", (route) => route.abort());
  await page.goto(new URL(page.url()).pathname);
  await expect(textOf(latestReply(page))).toHaveText("Half");
  reply.finishWithText(" and whole.");
  // The page reloads itself; the test does not.
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
});

test("a chat whose code fails to load can be read, and be opened from another page later", async ({ page, model, watch }) => {
  await holdConversation(page, model, 1);
  const chat = page.url();
  const bring = await blockPart(page, watch, "chat");
  await page.goto(chat);
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await expect(page.locator("html[data-hydrated]")).toHaveCount(0);

  await openPage(page);
  await page.getByRole("link", { name: "q1", exact: true }).first().click();
  await expect(notice(page)).toBeVisible();
  await bring();
  await retryButton(page).click();
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await page.reload();
  await waitForHydration(page);
});

test("a server page whose code fails to load works as without script", async ({ page, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  const tried = page.waitForRequest("**/split_plain.wasm");
  await page.route("**/split_plain.wasm", (route) => route.abort());
  await page.goto("/settings/general");
  await tried;
  await page.waitForLoadState("networkidle");
  await expect(page.locator("html[data-hydrated]")).toHaveCount(0);
  await page.locator("#language").getByRole("button", { name: "中文" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", /^zh/);
});
