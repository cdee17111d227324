// Another model answers on a new branch, and earlier replies stay.
// UX-08, UX-09 of docs/acceptance.md.
import { branchModelChip, startChat, expectStatus, waitForHydration, latestReply, messageBox, pickModel, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";

test("a chat continues with another model in a new branch, chosen from its chip", async ({ page, model }) => {
  await startChat(page, "First");
  (await model.nextReply()).finishWithText("From the first.");
  await expectStatus(latestReply(page), "complete");
  const branch = page.locator("[data-branch-id]");
  const first = await branch.getAttribute("data-branch-id");

  const form = page.getByRole("form", { name: "Message" });
  await branchModelChip(page).click();
  await pickModel(page, "tour");
  await expect(form.getByRole("button", { name: /new branch/ }).first()).toBeVisible();
  await expect(messageBox(page)).toBeFocused();
  // The chosen model is part of the draft.
  await messageBox(page).fill("Second");
  await messageBox(page).blur();
  await page.reload();
  // Before hydration Enter is a new line.
  await waitForHydration(page);
  await expect(form.getByRole("button", { name: /new branch/ }).first()).toBeVisible();
  await expect(messageBox(page)).toHaveValue("Second");

  await messageBox(page).press("Enter");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  await expect(page.getByText(/switched to .* · earlier replies are sent as plain text/)).toBeVisible();
  await expect(branch).not.toHaveAttribute("data-branch-id", first!);
  await expect(textOf(replies(page).first())).toHaveText("From the first.");
  await page.reload();
  await expect(page.getByText(/switched to .* · earlier replies are sent as plain text/)).toBeVisible();
  await expect(branchModelChip(page)).not.toContainText("new branch");
});

test("a model choice the server never received is restored with the text", async ({ page, model, watch }) => {
  watch.expectLostConnection();
  await startChat(page, "First");
  (await model.nextReply()).finishWithText("From the first.");
  await expectStatus(latestReply(page), "complete");
  await page.route("**/api/page/save_draft*", (route) => route.abort("connectionrefused"));
  const form = page.getByRole("form", { name: "Message" });
  await branchModelChip(page).click();
  await pickModel(page, "tour");
  await messageBox(page).fill("Second");
  await messageBox(page).blur();
  await page.reload();
  await expect(messageBox(page)).toHaveValue("Second");
  await expect(form.getByRole("button", { name: /new branch/ }).first()).toBeVisible();
});

test("another model can be deselected before anything is sent", async ({ page, model }) => {
  await startChat(page, "First");
  (await model.nextReply()).finishWithText("One.");
  await expectStatus(latestReply(page), "complete");
  // The model can be chosen repeatedly.
  for (const _ of ["once", "again"]) {
    await branchModelChip(page).click();
    await pickModel(page, "tour");
    await expect(branchModelChip(page)).toContainText("new branch");
    await branchModelChip(page).click();
    await pickModel(page, MODEL);
    await expect(branchModelChip(page)).not.toContainText("new branch");
  }
  await sendMessage(page, "Second");
  (await model.nextReply()).finishWithText("Two.");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  await expect(page.getByText(/switched to/)).toHaveCount(0);
});

test("a branch whose provider is gone keeps what is written and continues with another model", async ({ page, turnleaf, model }) => {
  const box = { id: "box", name: "Box", api: "openai_chat", base_url: model.environment.OPENAI_BASE_URL, key: "test", local_network: true, models: [MODEL] };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  await startChat(page, "First", `box/${MODEL}`);
  (await model.nextReply()).finishWithText("From the box.");
  await expectStatus(latestReply(page), "complete");
  await messageBox(page).fill("half a thought");
  expect((await page.request.delete(`${turnleaf.url}/api/providers/box`)).ok()).toBe(true);
  const banner = page.locator(".banner.warn").filter({ hasText: `${MODEL} is no longer available.` });
  await expect(banner).toBeVisible();
  await expect(messageBox(page)).toHaveValue("half a thought");
  await page.reload();
  await waitForHydration(page);
  await expect(banner).toBeVisible();
  await expect(textOf(latestReply(page))).toHaveText("From the box.");
  await expect(messageBox(page)).toHaveValue("half a thought");
  await banner.getByRole("button", { name: `Continue with ${MODEL}` }).click();
  await expect(banner).toBeHidden();
  await expect(messageBox(page)).toBeFocused();
  await messageBox(page).press("Enter");
  (await model.nextReply()).finishWithText("From another.");
  await expect(replies(page)).toHaveCount(2);
  await expect(textOf(latestReply(page))).toHaveText("From another.");
  await expectStatus(latestReply(page), "complete");
  await expect(page.getByText(/switched to .* · earlier replies are sent as plain text/)).toBeVisible();
});
