// The same chat in two tabs: changes in one appear in the other.
// UX-20, UX-42 of docs/acceptance.md.
import {
  startChat, expectStatus, waitForHydration, latestReply, messageBox, openPage, replies, sendMessage, stopButton, textOf,
} from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { heightOf, firstVisibleTurn, turn } from "../../support/reader.ts";
import { editBox, userTurns, versionSwitcher } from "../../support/turn_actions.ts";

test("a reply started in one tab is written in the other, which can stop it", async ({ page, context, model }) => {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  const other = await context.newPage();
  await openPage(other, page.url());
  await expect(textOf(latestReply(other))).toHaveText("First.");

  await sendMessage(page, "Two");
  const reply = await model.nextReply();
  reply.sendText("half ");
  await expect(replies(other)).toHaveCount(2);
  await expect(textOf(latestReply(other))).toHaveText("half");
  reply.sendText("a sentence");
  await expect(textOf(latestReply(other))).toHaveText("half a sentence");

  await stopButton(other).click();
  await expectStatus(latestReply(other), "cancelled");
  await expectStatus(latestReply(page), "cancelled");
  await reply.closed;
});

test("another version made in one tab leaves the other on its own", async ({ page, context, model }) => {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  const other = await context.newPage();
  await openPage(other, page.url());

  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("Second.");
  await expect(textOf(latestReply(page))).toHaveText("Second.");
  await expect(latestReply(other).getByRole("button", { name: "1/2" })).toBeVisible();
  await expect(textOf(latestReply(other))).toHaveText("First.");
});

test("a new title shows in both tabs", async ({ page, context, model }) => {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  const other = await context.newPage();
  await openPage(other, page.url());
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const changed = await page.request.patch(`/api/chats/${id}`, { data: { title: "Weather" } });
  expect(changed.status()).toBe(200);
  await expect(other.getByRole("heading", { name: "Weather" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Weather" })).toBeVisible();
});

test("a draft written in one tab comes to the other, and never over what was typed there", async ({ page, context, model, watch }) => {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  const other = await context.newPage();
  await openPage(other, page.url());

  await messageBox(page).fill("from the first tab");
  await expect(messageBox(other)).toHaveValue("from the first tab");

  // The second tab cannot save its unsaved text, so the first tab's draft is newer.
  watch.expect(/ERR_FAILED.*save_draft/);
  await other.route("**/api/page/save_draft*", (route) => route.abort());
  await messageBox(other).fill("typed in the second");
  await messageBox(page).fill("from the first tab again");
  const offer = other.getByRole("button", { name: "Use newer draft" });
  await expect(offer).toBeVisible();
  await expect(other.getByRole("status").first()).toHaveText("Draft changed in another tab");
  await expect(messageBox(other)).toHaveValue("typed in the second");
  await offer.click();
  await expect(messageBox(other)).toHaveValue("from the first tab again");
  await expect(offer).toBeHidden();

  await other.unroute("**/api/page/save_draft*");
  await page.reload();
  await waitForHydration(page);
  await expect(messageBox(page)).toHaveValue("from the first tab again");
});

test("two tabs with a new chat share its draft, and undo restores what one of them discarded", async ({ page, context, watch }) => {
  await openPage(page);
  const other = await context.newPage();
  await openPage(other);
  await messageBox(page).fill("from the first tab");
  await expect(messageBox(other)).toHaveValue("from the first tab");

  // Unsaved text of the second tab meets a newer draft of the first.
  watch.expect(/ERR_FAILED.*save_draft/);
  await other.route("**/api/page/save_draft*", (route) => route.abort());
  await messageBox(other).pressSequentially(" and more");
  await messageBox(page).fill("from the first tab again");
  const offer = other.getByRole("button", { name: "Use newer draft" });
  await expect(offer).toBeVisible();
  await expect(messageBox(other)).toHaveValue("from the first tab and more");
  await offer.click();
  await expect(messageBox(other)).toHaveValue("from the first tab again");
  await expect(messageBox(other)).toBeFocused();
  await other.keyboard.press("Control+z");
  await expect(messageBox(other)).toHaveValue("from the first tab and more");
  await other.keyboard.press("Control+Shift+z");
  await expect(messageBox(other)).toHaveValue("from the first tab again");
});

test("a chat that is deleted in one tab says so in the other, and that it is back", async ({ page, context, model, watch }) => {
  watch.expect(/glance_at_chat|save_draft/);
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  const other = await context.newPage();
  await openPage(other, page.url());
  await messageBox(other).fill("not lost");
  const id = new URL(page.url()).pathname.split("/").at(-1);
  expect((await page.request.delete(`/api/chats/${id}`)).ok()).toBe(true);
  await expect(other.getByText("This chat was deleted.")).toBeVisible();
  await expect(messageBox(other)).toHaveValue("not lost");
  await expect(textOf(latestReply(other))).toHaveText("First.");
  expect((await page.request.post(`/api/chats/${id}/restore`)).ok()).toBe(true);
  await expect(other.getByText("This chat was deleted.")).toHaveCount(0);
});

test("another tab's changes are shown late rather than never", async ({ page, context, model, watch }) => {
  watch.expect(/ERR_FAILED.*reload_chat/);
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  const other = await context.newPage();
  await openPage(other, page.url());
  const failed = other.waitForEvent("requestfailed");
  await other.route("**/api/page/reload_chat", (route) => route.abort());
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("Second.");
  await expect(textOf(latestReply(page))).toHaveText("Second.");
  await failed;
  await other.unroute("**/api/page/reload_chat");
  await expect(latestReply(other).getByRole("button", { name: "1/2" })).toBeVisible();
});

test("a page with a pending branch still receives changes of the chat", async ({ page, context, model }) => {
  await startChat(page, "One");
  (await model.nextReply()).finishWithText("First.");
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "Two");
  (await model.nextReply()).finishWithText("Second.");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  await replies(page).first().hover();
  await replies(page).first().getByRole("button", { name: "Branch", exact: true }).click();
  await expect(replies(page)).toHaveCount(1);
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const other = await context.newPage();
  await openPage(other, `/c/${id}`);
  await messageBox(other).fill("from the other tab");
  await expect(messageBox(page)).toHaveValue("from the other tab");
  expect((await page.request.patch(`/api/chats/${id}`, { data: { title: "Weather" } })).status()).toBe(200);
  await expect(page.getByRole("heading", { name: "Weather" })).toBeVisible();
  // The shown path is not extended.
  await expect(replies(page)).toHaveCount(1);
});

test("a leaf deleted elsewhere does not move a reader far up", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(300);
  await openPage(page, `/c/${long.chat}?at=${long.turns[60]}`);
  await expect(turn(page, long.turns[60]!)).toBeInViewport();
  const before = await firstVisibleTurn(page);
  expect((await page.request.delete(`/api/turns/${long.turns[298]}`)).ok()).toBe(true);
  await expect(page.getByRole("link", { name: "Skip to the latest reply" })).toHaveAttribute("href", new RegExp(long.turns[297]!));
  expect(Math.abs((await heightOf(page, before.id)) - before.y)).toBeLessThanOrEqual(1);
  await page.getByRole("button", { name: "Go to latest" }).click();
  await expect(turn(page, long.turns[297]!)).toBeInViewport();
});

test("a reply that is being written on another path is named, and stopped from here", async ({ page, model }) => {
  await startChat(page, "First question");
  const other = await model.nextReply();
  other.sendText("One");
  await expect(textOf(latestReply(page))).toHaveText("One");
  await userTurns(page).first().getByRole("button", { name: "Edit your message" }).click();
  await editBox(page).fill("Another question");
  await editBox(page).press("Enter");
  const ownReply = await model.nextReply();
  ownReply.finishWithText("Two");
  await expect(textOf(latestReply(page))).toHaveText("Two");
  const also = page.getByRole("group", { name: "Other replies in progress" });
  await expect(also).toContainText("First question");
  await also.getByRole("link", { name: /^Show the reply to First question/ }).click();
  await expect(textOf(latestReply(page))).toHaveText("One");
  await expect(also).toHaveCount(0);
  await versionSwitcher(userTurns(page).first()).getByRole("button", { name: "Next version" }).click();
  await expect(textOf(latestReply(page))).toHaveText("Two");
  await also.getByRole("button", { name: /^Stop the reply to First question/ }).click();
  await other.closed;
  await expect(also).toHaveCount(0);
});
