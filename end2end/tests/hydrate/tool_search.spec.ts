// More tools than a model accepts: it searches for them, and the page says so.
import { expectStatus, latestReply, sendMessage, textOf, waitForHydration } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { approvalPrompt, decisionButton, openChatWithTools, test, toolCards, wireName } from "../../support/tools.ts";

test.use({ extraTools: 140 });

const names = (request: any): string[] => request.tools.map((tool: any) => tool.function.name);

test("a model finds a tool by a search, calls it, and the page says so", async ({ page, model, turnleaf, tools }) => {
  const chat = await openChatWithTools(page, turnleaf);
  // The server may still be starting.
  await expect(async () => {
    await page.goto(`/c/${chat}/tools`);
    await expect(page.getByText(/finds \d+ of them with a tool search/)).toBeVisible({ timeout: 500 });
  }).toPass();
  await page.goto(`/c/${chat}`);
  await waitForHydration(page);
  await sendMessage(page, "Go");
  const first = await model.nextReply();
  expect(names(first.request)).toEqual(["tool_search"]);
  first.startToolCall(0, "c1", "tool_search");
  first.sendToolArguments(0, '{"query": "delete file"}');
  first.finish("tool_calls");
  const second = await model.nextReply();
  expect(names(second.request)).toContain(wireName("delete"));
  second.finishWithToolCalls([wireName("delete"), "a.txt"]);
  await expect(approvalPrompt(page)).toContainText("Delete a file wants to run");
  await decisionButton(page, "Allow once").click();
  (await model.nextReply()).finishWithText("Deleted.");
  await expect(textOf(latestReply(page)).last()).toHaveText("Deleted.");
  await expectStatus(latestReply(page), "complete");
  await expect(latestReply(page)).toContainText("the model searches for those it needs");
  await expect(toolCards(page).first().getByRole("heading")).toHaveText("Tool search");
  expect(tools.ran).toEqual(["delete a.txt"]);
});
