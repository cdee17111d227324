// The model of a branch is no longer offered by its provider: the page says so before a message is sent
// (docs/reference/ux.md 5.4).
import { startChat, expectStatus, waitForHydration, latestReply, messageBox, pickModel, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";
import { holdResponses, visibleTexts, holdConversation } from "../../support/turn_actions.ts";

const BOX = { id: "box", name: "Box", api: "openai_chat", key: "test", local_network: true };

test("a model that its provider lists no more has a banner, and the chat continues with another", async ({ page, turnleaf, model, watch }) => {
  watch.expectLostConnection();
  await startChat(page, "q1");
  (await model.nextReply()).finishWithText("a1");
  await expectStatus(latestReply(page), "complete");
  await messageBox(page).fill("half a thought");
  const banner = page.locator(".banner.warn").filter({ hasText: `${MODEL} is no longer available.` });
  await expect(banner).toHaveCount(0);
  model.models = ["newer-model"];
  await turnleaf.stop();
  await turnleaf.restart();
  // The model list is requested while the server starts.
  await expect(async () => {
    await page.reload();
    await waitForHydration(page);
    await expect(banner).toBeVisible({ timeout: 500 });
  }).toPass();
  // One line with one action.
  await expect(banner.getByRole("button")).toHaveCount(1);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect((await banner.boundingBox())!.height).toBeLessThan(60);
  }
  await banner.getByRole("button", { name: /Continue with.*newer-model/ }).click();
  await messageBox(page).press("Enter");
  const reply = await model.nextReply();
  expect(reply.request.model).toBe("newer-model");
  reply.finishWithText("a2");
  await expect(replies(page)).toHaveCount(2);
  await expect(textOf(latestReply(page))).toHaveText("a2");
  await expect(banner).toBeHidden();
});

test("a refused retry is reported at the reply until the next message, with a link to another model", async ({ page, turnleaf, model, watch }) => {
  watch.expect(/status of 500.*retry_reply/);
  const box = { ...BOX, base_url: model.environment.OPENAI_BASE_URL, models: [MODEL] };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  await startChat(page, "q1", `box/${MODEL}`);
  (await model.nextReply()).finishWithText("a1");
  await expectStatus(latestReply(page), "complete");
  expect((await page.request.delete(`${turnleaf.url}/api/providers/box`)).ok()).toBe(true);
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  const refused = latestReply(page).locator(".refused");
  await expect(refused).toContainText(`${MODEL} is not available; choose another model`);
  await expect(page.locator(".toast").filter({ hasText: "not available" })).toHaveCount(0);
  // Once the page knows that the model is gone, the dialog offers the one of this name that another provider has.
  await expect(page.locator(".banner.warn").filter({ hasText: `${MODEL} is no longer available.` })).toBeVisible();
  await refused.getByRole("link", { name: "Retry with…" }).click();
  const dialog = page.getByRole("dialog", { name: "Retry with…" });
  await expect(dialog).toBeVisible();
  await expect(dialog.getByRole("option", { name: MODEL })).toHaveCount(1);
  await pickModel(page, MODEL);
  (await model.nextReply()).finishWithText("a2");
  await expect(textOf(latestReply(page))).toHaveText("a2");
  await expect(page.locator(".refused")).toHaveCount(0);
});

test("a refusal that arrives after leaving its chat is reported once, and in no other chat", async ({ page, turnleaf, model, watch }) => {
  watch.expect(/status of 500.*retry_reply/);
  await holdConversation(page, model, 1, "other ");
  const box = { ...BOX, base_url: model.environment.OPENAI_BASE_URL, models: [MODEL] };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  await startChat(page, "q1", `box/${MODEL}`);
  (await model.nextReply()).finishWithText("a1");
  await expectStatus(latestReply(page), "complete");
  expect((await page.request.delete(`${turnleaf.url}/api/providers/box`)).ok()).toBe(true);
  const held = await holdResponses(page, "retry_reply");
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  await held.requested;
  await page.getByRole("link", { name: "other q1" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["other q1", "other a1"]);
  held.release();
  await expect(page.locator(".toast")).toHaveText(/is not available/);
  await expect(page.locator(".refused")).toHaveCount(0);
  await expect(page.locator("#message-problem")).toBeEmpty();
  await page.getByRole("link", { name: "q1", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await expect(page.locator(".refused")).toHaveCount(0);
});
