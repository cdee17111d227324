// Deletion and restore without script.
import { chooseModel, expectStatus, latestReply, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a version is deleted by a form, undone, deleted again, restored from Trash and purged", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Hello");
  (await model.nextReply()).finishWithText("Good day.");
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  const remove = async () => {
    await latestReply(page).getByRole("button", { name: "More", exact: true }).click();
    await latestReply(page).getByRole("button", { name: "Delete this version and everything below" }).click();
    await expect(page.getByText("Deleted 1 message.")).toBeVisible();
    await expect(replies(page)).toHaveCount(0);
  };
  await remove();
  await page.getByRole("button", { name: "Undo" }).click();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("Good day.");

  await remove();
  await page.goto("/trash");
  await expect(page.getByRole("listitem").filter({ hasText: "Good day." })).toContainText("1 message");
  await page.getByRole("button", { name: /^Restore/ }).click();
  await expect(textOf(latestReply(page))).toHaveText("Good day.");

  await remove();
  await page.goto("/trash");
  await page.getByRole("button", { name: /^Delete permanently…/ }).click();
  await expect(page.getByRole("alertdialog", { name: /^Delete “.*” permanently\?$/ })).toBeVisible();
  await page.getByRole("button", { name: "Delete permanently", exact: true }).click();
  await expect(page.getByText("Deleted permanently.")).toBeVisible();
  await expect(page.getByText("Trash is empty. Deleted items are kept here for 30 days.")).toBeVisible();
});

test("a form asks how much to delete, and offers Undo only for what can be restored", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Hello");
  (await model.nextReply()).finishWithText("Good day.");
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  const message = page.locator("article[data-role=user]");
  const ask = async () => {
    await message.getByRole("button", { name: "More", exact: true }).click();
    await message.getByRole("button", { name: "Delete this version and everything below" }).click();
    const question = page.getByRole("alertdialog", { name: "Delete 2 messages?" });
    await expect(question).toHaveAccessibleDescription(/^Moves “Hello” and 1 message below it to Trash/);
    return question;
  };
  await (await ask()).getByRole("link", { name: "Cancel" }).click();
  await expect(textOf(latestReply(page))).toHaveText("Good day.");
  await (await ask()).getByRole("button", { name: "Delete this version and 1 message below" }).click();
  await expect(page.getByText("Deleted 2 messages.")).toBeVisible();
  await expect(message).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(textOf(latestReply(page))).toHaveText("Good day.");
  await page.goBack();
  await expect(page).toHaveURL(/deleted=/);
  await expect(textOf(latestReply(page))).toHaveText("Good day.");
  await expect(page.getByRole("button", { name: "Undo" })).toHaveCount(0);
});
