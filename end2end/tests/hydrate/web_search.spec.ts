// The web search of Turnleaf in a chat: it asks before a query leaves, and what it finds are sources of the reply.
import { violations } from "../../support/axe.ts";
import { expectStatus, latestReply, openPage, sendMessage, textOf, waitForHydration } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";
import { SearchServer } from "../../support/search_server.ts";
import { approvalPrompt, decisionButton, toolCards } from "../../support/tools.ts";

test("a search asks first, and its results are listed below the reply", async ({ page, model, turnleaf }) => {
  const found = [1, 2].map((n) => ({ url: `https://found-${n}.example/page`, title: `Page ${n}`, content: `About leaves ${n}.` }));
  const search = await SearchServer.start(found);
  const engine = { engine: "searxng", url: search.url, local_network: true };
  expect((await page.request.put(`${turnleaf.url}/api/web-search`, { data: engine })).ok()).toBe(true);
  const data = { provider: "openai", model: MODEL, tools: { on: ["search_web"] } };
  const chat = (await (await page.request.post(`${turnleaf.url}/api/chats`, { data })).json()) as { id: string };
  await openPage(page, `/c/${chat.id}`);
  await sendMessage(page, "What is a leaf?");
  const call = await model.nextReply();
  call.startToolCall(0, "call-1", "search_web");
  call.sendToolArguments(0, JSON.stringify({ query: "leaf" }));
  call.finish("tool_calls");
  await expect(approvalPrompt(page)).toContainText("Web search");
  expect(search.queries).toEqual([]);
  await decisionButton(page, "Allow once").click();
  const reply = await model.nextReply();
  expect(search.queries).toEqual(["leaf"]);
  expect(JSON.stringify(reply.request.messages)).toContain("About leaves 2.");
  reply.finishWithText("A leaf is green.");
  await expectStatus(latestReply(page), "complete");
  for (const _ of ["live", "after a reload"]) {
    await expect(textOf(latestReply(page)).last()).toHaveText("A leaf is green.");
    await expect(toolCards(page).first()).toHaveAttribute("data-tool-status", "done");
    const sources = latestReply(page).locator("details.sources");
    await expect(sources.locator("summary")).toHaveText("2 sources");
    await expect(sources.getByRole("link", { name: "Page 1" })).toHaveAttribute("href", "https://found-1.example/page");
    await expect(sources.locator("blockquote").last()).toHaveText("About leaves 2.");
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await waitForHydration(page);
  }
  await search.stop();
});

test("the part of Settings is accessible and says what the test found", async ({ page }) => {
  const search = await SearchServer.start([]);
  await openPage(page, "/settings/tools");
  const panel = page.getByRole("region", { name: "Web search" });
  await panel.getByRole("textbox", { name: /Address/ }).fill(search.url);
  await panel.getByRole("checkbox", { name: "Local network" }).check();
  await panel.getByRole("button", { name: "Test and save" }).click();
  await expect(page.locator("main > [role=status]")).toContainText("the test found nothing");
  expect(await violations(page)).toEqual([]);
  await search.stop();
});
