// Sources without script: citation marks are links into the list, and the list is a disclosure.
import { latestReply, sendMessage, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { createChatWithTools, test } from "../../support/tools.ts";

test("a mark leads into the list of sources, and opens it", async ({ page, model, turnleaf }) => {
  await page.goto(`/c/${await createChatWithTools(turnleaf)}`);
  await sendMessage(page, "Go");
  const reply = await model.nextReply();
  reply.sendText("Water boils at 100 °C.");
  for (let n = 1; n <= 8; n++) reply.sendCitation(`https://source-${n}.example/page`, `Page ${n}`, 0, 22);
  reply.finish();
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(textOf(latestReply(page))).toHaveText(/^Water boils at 100 °C\.\[1\]\[2\]/);
  const third = latestReply(page).locator("details.sources li").nth(2);
  await expect(third).toBeHidden();
  await latestReply(page).getByRole("link", { name: "Source 3", exact: true }).click();
  await expect(third).toBeVisible();
  await expect(third).toHaveText("Page 3 source-3.example");
});
