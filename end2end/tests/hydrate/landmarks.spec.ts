// Landmarks: every page has one banner, one main region, and no two landmarks of a kind without distinct names
// (docs/reference/ux.md 3.1).
// UX-26 of docs/acceptance.md.
import { violations } from "../../support/axe.ts";
import { startChat, expectStatus, latestReply, openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a header, the list of chats and one main part are landmarks of every page", async ({ page, watch }) => {
  watch.expect(/status of 404/);
  await startChat(page, "Hello", "demo/plain");
  await expectStatus(latestReply(page), "complete");
  const chat = new URL(page.url()).pathname;
  const pages = [chat, `${chat}/tree`, "/", "/nowhere", "/settings/general", "/settings/data", `${chat}/branches`, "/documents"];
  for (const path of pages) {
    await openPage(page, path);
    await expect.soft(page.getByRole("banner"), path).toHaveCount(1);
    await expect.soft(page.getByRole("main"), path).toHaveCount(1);
    await expect.soft(page.getByRole("main"), path).not.toBeEmpty();
    expect.soft((await violations(page)).filter((found) => /landmark|region|main/.test(found)), path).toEqual([]);
  }
  await openPage(page, chat);
  await page.keyboard.press("Control+/");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  expect(await page.locator("header").evaluateAll((all) => all.filter((one) => !one.closest("article, aside, main, nav, section")).length)).toBe(1);
});
