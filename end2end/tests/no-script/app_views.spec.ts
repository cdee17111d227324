// Pages of tool servers without script: the text of the result, and a link to the page.
import { latestReply, sendMessage } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { approvalPrompt, createChatWithTools, decisionButton, test, toolCards, wireName } from "../../support/tools.ts";

test.use({ withPages: true });

test("a result with a page is shown as text with a link to the page", async ({ page, model, turnleaf, tools, watch }, info) => {
  // Documents in frames have no script either, or report what they are kept from.
  watch.expect(/script execution|sandbox|content policy: |Content Security Policy|SecurityError|Unsafe attempt|ERR_BLOCKED|Blocked |Refused to/i);
  await page.goto(`/c/${await createChatWithTools(turnleaf)}`);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("board"), "x"]);
  await expect(async () => {
    await page.reload();
    await expect(approvalPrompt(page)).toBeVisible({ timeout: 200 });
  }).toPass();
  await decisionButton(page, "Allow once").click();
  (await model.nextReply()).finishWithText("Done.");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  const card = toolCards(page).first();
  // The frame needs scripts, but not the compiled code.
  await expect(card.locator("iframe")).toBeVisible({ visible: info.project.name === "basic" });
  await card.locator(".tool-details > summary").click();
  await expect(card).toContainText("A board.");
  await card.getByRole("link", { name: "Open on its own page" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Board" })).toBeVisible();
  await expect(page.locator("iframe.sandboxed-frame")).toHaveAttribute("sandbox", "allow-scripts");
  await expect(page.getByText("The tool server “Files” provided this view.")).toBeVisible();
  await page.getByRole("link", { name: "Back to chat" }).click();
  await expect(latestReply(page)).toBeVisible();
  expect(tools.ran).toEqual(["board x", "page"]);
});
