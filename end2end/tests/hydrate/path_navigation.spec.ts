// Addresses and paths: Back and Forward between branches, links to the newest message, and paths that could not be
// shown.
// UX-05, UX-09 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, messageBox, openPage, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";
import { expectFirstTurnChanged, RequestGate, heightOf, loadedTurnIds, scrollTo, firstVisibleTurn, waitForScrollSettled, turn } from "../../support/reader.ts";
import { plantTree } from "../../support/tree.ts";
import { startChatWithVersions, versionButton } from "../../support/turn_actions.ts";

const openTree = (page: Page) => page.locator("#tree-button").click();
const link = (page: Page, id: string) => page.locator(`#row-${id} a.tree-words`);


test("Back leads to the branch that was left, from another chat too", async ({ page, turnleaf, model }) => {
  const other = await turnleaf.plantLongChat(2);
  const planted = await plantTree(turnleaf, model, 4, 3);
  const chat = `/c/${planted.chat}`;
  await openPage(page, `${chat}?at=${planted.trunk[3]}`);
  await openPage(page, chat);
  await expect(textOf(latestReply(page))).toHaveText("Answer 3");
  await openTree(page);
  await link(page, planted.twigs[1]!).click();
  await expect(turn(page, planted.twigs[1]!)).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(new RegExp(`${chat}$`));
  await expect(textOf(latestReply(page))).toHaveText("Answer 3");

  await link(page, planted.twigs[1]!).click();
  await expect(turn(page, planted.twigs[1]!)).toBeVisible();
  await page.getByRole("link", { name: "2 turns" }).click();
  await expect(turn(page, other.turns[1]!)).toBeVisible();
  await page.goBack();
  await expect(turn(page, planted.twigs[1]!)).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(new RegExp(`${chat}$`));
  await expect(textOf(latestReply(page))).toHaveText("Answer 3");
  // A new visit shows the last viewed path instead.
  await link(page, planted.twigs[0]!).click();
  await expect(turn(page, planted.twigs[0]!)).toBeVisible();
  await page.getByRole("link", { name: "A tree" }).click();
  await expect(page).toHaveURL(new RegExp(`${chat}$`));
  await expect(turn(page, planted.twigs[0]!)).toBeVisible();
});

test("a version that cannot be shown says so, and its arrow still works", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED.*load_chat/);
  await startChatWithVersions(page, model, "first", "second");
  const address = page.url();
  await page.route("**/api/page/load_chat", (route) => route.abort());
  await versionButton(page, "Previous version").click();
  await expect(page.locator("#alert")).not.toBeEmpty();
  await expect(page).toHaveURL(address);
  await expect(textOf(latestReply(page))).toHaveText("second");
  await expect(page.locator("#say")).not.toContainText("Version 1 of 2");
  await page.unroute("**/api/page/load_chat");
  await versionButton(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(page.locator("#say")).toContainText("Version 1 of 2");
});

test("a version opened in a new tab is not announced here", async ({ page, model, context }) => {
  await startChatWithVersions(page, model, "first", "second");
  const opened = context.waitForEvent("page");
  await versionButton(page, "Previous version").click({ modifiers: ["Control"] });
  const tab = await opened;
  await expect(textOf(latestReply(tab))).toHaveText("first");
  await waitForScrollSettled(page);
  await expect(page.locator("#say")).not.toContainText("Version 1 of 2");
  await tab.close();
});

test("the newest message can be reached from far up", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(300);
  await openPage(page, `/c/${long.chat}?at=${long.turns[60]}`);
  await expect(turn(page, long.turns[60]!)).toBeInViewport();
  await openTree(page);
  await link(page, long.turns.at(-1)!).click();
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
  await page.goBack();
  await expect(turn(page, long.turns[60]!)).toBeInViewport();
});

test("the end of another branch is shown to a reader who scrolled up", async ({ page, turnleaf, model }) => {
  await page.setViewportSize({ width: 1440, height: 420 });
  const planted = await plantTree(turnleaf, model, 8, 7);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[7]}`);
  await expect(turn(page, planted.trunk[7]!)).toBeInViewport();
  await openTree(page);
  await scrollTo(page, 0);
  await expect(turn(page, planted.trunk[7]!)).not.toBeInViewport();
  await link(page, planted.twigs[6]!).click();
  await expect(turn(page, planted.twigs[6]!)).toBeInViewport();
});

test("a link to the newest message opens it, and a reload keeps the line", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(300);
  await openPage(page, `/c/${long.chat}`);
  const last = turn(page, long.turns.at(-1)!);
  const up = async () => {
    await expect(last).toBeInViewport();
    const first = (await loadedTurnIds(page))[0]!;
    await scrollTo(page, 350);
    await expectFirstTurnChanged(page, first);
    await scrollTo(page, 2_000);
    const before = await firstVisibleTurn(page);
    await expect.poll(() => page.evaluate(() => Object.values({ ...sessionStorage }).join())).toContain(before.id);
    return before;
  };
  await up();
  await openPage(page, `/c/${long.chat}?at=${long.turns.at(-1)}`);
  const before = await up();
  await page.reload();
  await waitForHydration(page);
  await expect.poll(async () => Math.abs((await heightOf(page, before.id)) - before.y)).toBeLessThanOrEqual(2);
});

test("a late response to Latest does not restore the path that was left", async ({ page, turnleaf, model }) => {
  const long = await turnleaf.plantLongChat(300);
  const at = long.turns[101]!;
  await openPage(page, `/c/${long.chat}?at=${long.turns[100]}`);
  await expect(turn(page, at)).toBeInViewport();
  await turn(page, at).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("Another.");
  await expect(textOf(latestReply(page))).toHaveText("Another.");
  await expectStatus(latestReply(page), "complete");
  await versionButton(page, "Previous version").click();
  await expect(turn(page, long.turns[102]!)).toBeAttached();
  await waitForScrollSettled(page);
  const gate = await RequestGate.install(page);
  gate.close();
  const latest = page.getByRole("button", { name: "Go to latest" });
  // The bar above the message box does not cover the button.
  const bar = page.locator(".beside-bar");
  await expect(bar).toBeVisible();
  await expect.poll(async () => {
    const [button, below] = [await latest.boundingBox(), await bar.boundingBox()];
    return button!.y + button!.height - below!.y;
  }).toBeLessThanOrEqual(0);
  await latest.click();
  await gate.request;
  await turn(page, at).getByRole("button", { name: "Next version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("Another.");
  const answered = page.waitForResponse("**/api/page/load_turns");
  gate.release();
  await (await answered).finished();
  await waitForScrollSettled(page);
  await waitForScrollSettled(page);
  await expect(textOf(latestReply(page))).toHaveText("Another.");
  await expect(turn(page, long.turns.at(-1)!)).not.toBeAttached();
});

test("the link to the newest message stays where it is, closes its menu and is copied", async ({ page, context, turnleaf }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const long = await turnleaf.plantLongChat(20);
  await openPage(page, `/c/${long.chat}`);
  const last = turn(page, long.turns.at(-1)!);
  await expect(last).toBeInViewport();
  await last.getByRole("button", { name: "More", exact: true }).click();
  const row = last.getByRole("link", { name: "Link to this message" });
  await row.click();
  await expect(row).toBeHidden();
  await expect(page.locator("#say")).toContainText("Copied.");
  const address = `${turnleaf.url}/c/${long.chat}?at=${long.turns.at(-1)}`;
  await expect(page).toHaveURL(address);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address);
  await waitForScrollSettled(page);
  await expect(last).toBeInViewport();
  await expect(replies(page).last().getByRole("heading", { level: 3 }).first()).toBeFocused();
});

test("the search is repeated on another path", async ({ page, model }) => {
  await startChat(page, "q1");
  (await model.nextReply()).finishWithText("a needle");
  await expectStatus(latestReply(page), "complete");
  await versionButton(page, "Retry").click();
  (await model.nextReply()).finishWithText("hay");
  await expect(textOf(latestReply(page))).toHaveText("hay");
  await expectStatus(latestReply(page), "complete");
  await page.keyboard.press("Control+Shift+F");
  const bar = page.getByRole("search", { name: "Find in chat" });
  const box = page.getByRole("searchbox", { name: "Text to find" });
  await box.fill("needle");
  await page.keyboard.press("Enter");
  await expect(bar).toContainText("No matches");
  await versionButton(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("a needle");
  await box.press("Enter");
  await expect(bar).toContainText("1 of 1");
});

test("a branch whose model is gone says so when it is switched to", async ({ page, turnleaf, model }) => {
  const box = { id: "box", name: "Box", api: "openai_chat", base_url: model.environment.OPENAI_BASE_URL, key: "test", local_network: true, models: [MODEL] };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  await startChat(page, "q1", `box/${MODEL}`);
  (await model.nextReply()).finishWithText("first");
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("button", { name: "Retry with another model" }).click();
  // The model of this name that another provider offers.
  await page.getByRole("dialog").getByRole("group", { name: /^127/ }).getByRole("option", { name: MODEL }).click();
  (await model.nextReply()).finishWithText("second");
  await expect(textOf(latestReply(page))).toHaveText("second");
  await expectStatus(latestReply(page), "complete");
  expect((await page.request.delete(`${turnleaf.url}/api/providers/box`)).status()).toBe(204);
  const gone = page.getByText(`${MODEL} is no longer available.`);
  await expect(gone).toBeHidden();
  await versionButton(page, "Previous version").click();
  await expect(textOf(latestReply(page))).toHaveText("first");
  await expect(gone).toBeVisible();
  await versionButton(page, "Next version").click();
  await expect(textOf(latestReply(page))).toHaveText("second");
  await expect(gone).toBeHidden();
});

test("a chat whose provider is removed in another tab says so at once, keeps the draft, and continues in a new branch", async ({ page, turnleaf, model }) => {
  const box = { id: "box", name: "Box", api: "openai_chat", base_url: model.environment.OPENAI_BASE_URL, key: "test", local_network: true, models: [MODEL] };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  await startChat(page, "q1", `box/${MODEL}`);
  (await model.nextReply()).finishWithText("first");
  await expectStatus(latestReply(page), "complete");
  await messageBox(page).fill("what I meant to ask");
  const gone = page.getByText(`${MODEL} is no longer available.`);
  await expect(gone).toHaveCount(0);
  expect((await page.request.delete(`${turnleaf.url}/api/providers/box`)).status()).toBe(204);
  await expect(gone).toBeVisible();
  await expect(messageBox(page)).toHaveValue("what I meant to ask");
  await page.reload();
  await waitForHydration(page);
  await expect(gone).toBeVisible();
  await expect(messageBox(page)).toHaveValue("what I meant to ask");
  const branch = page.locator("[data-branch-id]");
  const left = await branch.getAttribute("data-branch-id");
  await page.locator(".banner.warn").getByRole("button", { name: new RegExp(`Continue with.*${MODEL}`) }).click();
  await expect(messageBox(page)).toBeFocused();
  await messageBox(page).press("Enter");
  (await model.nextReply()).finishWithText("on a branch");
  await expectStatus(latestReply(page), "complete");
  await expect(gone).toBeHidden();
  // The new branch goes on where the other one ends: it is the only path, and the header names none.
  await expect(branch).not.toHaveAttribute("data-branch-id", left!);
  await expect(textOf(replies(page))).toHaveText(["first", "on a branch"]);
  await expect(page.getByText(`switched to ${MODEL}`)).toBeVisible();
  await expect(page.locator(".branch-chip")).toHaveCount(0);
});
