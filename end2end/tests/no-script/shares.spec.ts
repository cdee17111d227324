// Sharing a path without script: previewed, shared by a form, read in a browser that knows nothing of the owner, revoked.
// UX-53 of docs/acceptance.md.
import { chooseModel, expectStatus, latestReply, sendMessage, TEST_MODEL } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a path is previewed and shared, read by its link in another browser, and closed by revoking it", async ({ page, browser, model, turnleaf }) => {
  await page.goto("/");
  await chooseModel(page, TEST_MODEL);
  await sendMessage(page, "Which trees grow here?");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me think of trees.");
  reply.finishWithText("Oaks and lindens. ![a tree](https://tracker.example/tree.png)");
  await expectStatus(latestReply(page), "complete");
  const chat = page.url();

  await page.locator("#chat-share-menu-button").click();
  await page.getByRole("link", { name: "Share this path…" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Share this path");
  const preview = page.frameLocator("iframe.share-preview");
  await expect(preview.getByText("Oaks and lindens.")).toBeVisible();
  await expect(preview.locator("[data-segment=reasoning]")).toHaveCount(0);
  // Ticked parts are shown before anything goes out.
  await page.getByRole("checkbox", { name: "Reasoning" }).press("Space");
  await page.getByLabel("Link expires after").selectOption("7");
  await page.getByRole("button", { name: "Update preview" }).press("Enter");
  await expect(preview.locator("[data-segment=reasoning]")).toHaveCount(1);
  await expect(page.getByRole("checkbox", { name: "Reasoning" })).toBeChecked();
  await page.getByRole("button", { name: "Create link" }).press("Enter");
  const address = await page.getByLabel("Link", { exact: true }).inputValue();
  expect(address).toMatch(new RegExp(`^${turnleaf.url}/share/[0-9a-f]{64}$`));

  // Later messages are not in it.
  await page.goto(chat);
  await sendMessage(page, "Only between us");
  (await model.nextReply()).finishWithText("Of course.");
  await expectStatus(latestReply(page), "complete");

  const stranger = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  const requests: string[] = [];
  stranger.on("request", (request) => requests.push(request.url()));
  expect((await stranger.goto(address))?.status()).toBe(200);
  await expect(stranger.getByText("Which trees grow here?").last()).toBeVisible();
  await expect(stranger.getByText("Oaks and lindens.")).toBeVisible();
  await expect(stranger.getByText("Only between us")).toHaveCount(0);
  await expect(stranger.locator("script, form, button, img")).toHaveCount(0);
  expect(requests).toEqual([address]);

  await page.goto("/settings/shared-links");
  const shared = page.getByRole("list", { name: "Shared links" }).getByRole("listitem");
  await expect(shared).toContainText("Messages and replies, Reasoning");
  await expect(shared).toContainText("Last opened");
  await shared.getByRole("button", { name: /^Revoke/ }).press("Enter");
  await expect(page.getByText("Link revoked.")).toBeVisible();
  await expect(shared).toContainText("Revoked");
  await expect(shared.getByRole("button")).toHaveCount(0);
  expect((await stranger.goto(address))?.status()).toBe(404);
  await expect(stranger.getByRole("heading", { level: 1 })).toHaveText("Link not available");
  await stranger.context().close();
});
