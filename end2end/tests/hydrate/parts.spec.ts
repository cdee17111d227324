// Parts of the code that are fetched when they are first used, and do not come.
import type { Page } from "@playwright/test";

import { hydrated, latestReply, open, textOf } from "../../support/chat.ts";
import { expect, test, type Watch } from "../../support/fixtures.ts";
import { editBox, talk, users } from "../../support/verbs.ts";

const notice = (page: Page) => page.getByText("This part of the page could not be loaded.");
const again = (page: Page) => page.getByRole("button", { name: "Try again", exact: true }).first();

/** Lets a part not come until the returned function is called. */
async function withhold(page: Page, watch: Watch, part: string): Promise<() => Promise<void>> {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  const address = `**/split_${part}.wasm`;
  await page.route(address, (route) => route.abort());
  return () => page.unroute(address);
}

test("a panel and a box that do not come say so, let be, and come with the next try", async ({ page, model, watch }) => {
  const [bringTree, bringDeeds] = [await withhold(page, watch, "tree"), await withhold(page, watch, "deeds")];
  await talk(page, model, 1);
  await page.locator("#tree-button").click();
  const panel = page.locator("#panel");
  await expect(panel).toContainText("could not be loaded");
  await bringTree();
  await panel.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("treeitem", { name: /you are here/ })).toBeVisible();
  await page.getByRole("button", { name: "Close the tree" }).click();

  const edit = users(page).first().getByRole("button", { name: "Edit your message" });
  await users(page).first().hover();
  await edit.click();
  await expect(notice(page)).toBeVisible();
  await users(page).first().getByRole("button", { name: "Cancel" }).click();
  await expect(textOf(users(page).first())).toHaveText("q1");
  await bringDeeds();
  await users(page).first().hover();
  await edit.click();
  await expect(editBox(page)).toHaveValue("q1");
});

test("a chat whose code does not come can be read, and be opened from another page later", async ({ page, model, watch }) => {
  await talk(page, model, 1);
  const chat = page.url();
  const bring = await withhold(page, watch, "chat");
  await page.goto(chat);
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await expect(page.locator("html[data-hydrated]")).toHaveCount(0);

  await open(page);
  await page.getByRole("link", { name: "q1", exact: true }).first().click();
  await expect(notice(page)).toBeVisible();
  await bring();
  await again(page).click();
  await expect(textOf(latestReply(page))).toHaveText("a1");
  await page.reload();
  await hydrated(page);
});
