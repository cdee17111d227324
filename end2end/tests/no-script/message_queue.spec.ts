// Queued messages without script: forms. UX-45 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { chooseModel, latestReply, messageBox, replies, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

const rows = (page: Page) => page.getByRole("region", { name: "Queued messages" }).getByRole("listitem");

test("messages are queued, moved and cancelled with forms, and sent when the reply is complete", async ({ page, model, withoutWasm }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "one");
  const reply = await model.nextReply();
  await expect(page).toHaveURL(/\/c\//);
  for (const [n, text] of ["two", "three"].entries()) {
    if (!withoutWasm) {
      // The page would refresh itself while something is typed.
      await page.getByRole("link", { name: "Pause refreshing to write a message" }).click();
      await expect(page).toHaveURL(/hold=1/);
    }
    await messageBox(page).fill(text);
    await page.getByRole("button", { name: "Queue message" }).click();
    await expect(rows(page)).toHaveCount(n + 1);
  }
  await rows(page).nth(1).getByRole("button", { name: "Move up" }).click();
  await expect(rows(page).nth(0)).toContainText("three");
  await rows(page).nth(1).getByRole("button", { name: "Cancel" }).click();
  await expect(rows(page)).toHaveCount(1);
  reply.finishWithText("first");
  (await model.nextReply()).finishWithText("second");
  await expect(async () => {
    await page.reload();
    await expect(replies(page)).toHaveCount(2, { timeout: 200 });
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(textOf(latestReply(page))).toHaveText("second");
  await expect(rows(page)).toHaveCount(0);
});
