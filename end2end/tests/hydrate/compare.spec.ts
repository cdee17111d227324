// A path is rerun with another model beside the open chat, and both branches are compared: with the keyboard only,
// and without axe violations.
// UX-47 of docs/acceptance.md.
import { TEST_MODEL, startChat, expectStatus, waitForHydration, latestReply, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expectAccessible } from "../../support/accessibility_checks.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a path is asked again, grows in the open chat, and is compared with the old one", async ({ page, context, model }) => {
  test.setTimeout(120_000);
  await startChat(page, "What is a tree?", TEST_MODEL);
  (await model.nextReply()).finishWithText("A tall green plant.");
  await expectStatus(latestReply(page), "complete");
  await sendMessage(page, "And a leaf?");
  (await model.nextReply()).finishWithText("A green thing.");
  await expectStatus(latestReply(page), "complete");

  // Keyboard only, from the chat's menu to the form.
  await page.getByRole("button", { name: "More actions for this chat" }).focus();
  await page.keyboard.press("Enter");
  const link = page.getByRole("link", { name: "Compare branches" });
  await link.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Compare branches", level: 2 })).toBeFocused();
  const again = page.getByRole("region", { name: "Rerun this branch with another model" });
  await again.getByLabel("Model").selectOption(TEST_MODEL);
  await again.getByRole("button", { name: "Rerun" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Rerunning message 1 of 2" })).toBeVisible();

  // A second page reads the new branch meanwhile.
  const reader = await context.newPage();
  await reader.goto((await page.getByRole("link", { name: "Open new branch" }).getAttribute("href"))!);
  await waitForHydration(reader);
  (await model.nextReply()).finishWithText("A tall woody plant.");
  const second = await model.nextReply();
  await expect(replies(reader)).toHaveCount(2);
  await expect(textOf(replies(reader).first())).toHaveText("A tall woody plant.");
  second.finishWithText("A flat green thing.");
  await expectStatus(latestReply(reader), "complete");
  await expect(textOf(latestReply(reader))).toHaveText("A flat green thing.");
  await reader.close();

  await expect(page.getByRole("heading", { name: "All 2 messages were rerun" })).toBeVisible();
  await page.getByRole("link", { name: "Compare original and rerun" }).click();
  const first = page.getByRole("article", { name: "Message 1" });
  await expect(first.getByRole("heading", { name: "The same message on both sides" })).toBeVisible();
  await expect(first.getByRole("group", { name: "Left" }).locator("del")).toContainText("green");
  await expect(first.getByRole("group", { name: "Right" }).locator("ins")).toContainText("woody");
  await expectAccessible(page, "a comparison");
  await page.getByRole("link", { name: "Swap sides" }).click();
  await expect(first.getByRole("group", { name: "Left" }).locator("del")).toContainText("woody");
  await first.getByRole("link", { name: /Open in chat ?: message 1, right side/ }).click();
  await expect(textOf(replies(page).first())).toHaveText("A tall green plant.");
  // All of it happened beside the chat.
  await expect(page).toHaveURL(/\/c\/[^/]+$/);
});
