// Confirmation of external links: a page asks before it opens a host that the person never named, during the reply
// and after a reload, and for every way to follow a link. Hidden characters in messages are counted as they arrive.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { startChat, expectStatus, waitForHydration, latestReply, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

const link = (page: Page, name: string) => textOf(latestReply(page)).getByRole("link", { name });

test("a link to a host that was not named asks, live and after a reload", async ({ page, model }) => {
  const requests: string[] = [];
  page.context().on("request", (request) => requests.push(request.url()));
  await startChat(page, "What is on docs.example.org?\u{e0061}\u{e0062}");
  const reply = await model.nextReply();
  reply.sendText("Read [this](https://docs.example.org/a) or [that](https://evil.example/x?q=secret).\u200b\n\n");
  await expect(link(page, "this")).toHaveAttribute("href", "https://docs.example.org/a");
  await expect(link(page, "that")).toHaveAttribute("href", /^\/leave\?turn=.*evil\.example%2Fx%3Fq%3Dsecret$/);
  await expect(latestReply(page).getByText("1 hidden character", { exact: true })).toBeVisible();
  await expect(page.getByText("2 hidden characters")).toBeVisible();
  reply.sendText("```js\nlet a = 1;\n```\n");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  let leave = "";
  // Live, and after a reload.
  for (const follows of [["click", "middle"], ["control", "keyboard"]]) {
    await expect(link(page, "this")).toHaveAttribute("href", "https://docs.example.org/a");
    await expect(latestReply(page).getByText("1 hidden character", { exact: true })).toBeVisible();
    for (const follow of follows) {
      // Its content is read from the response: the driver may attach to a new tab after its page has come, and would then
      // wait for that page for ever.
      const opened = page.context().waitForEvent("page");
      const asked = page.context().waitForEvent("response", (response) => response.url().includes("/leave?"));
      if (follow === "keyboard") await link(page, "that").press("Enter");
      else if (follow === "middle") await link(page, "that").click({ button: "middle" });
      else await link(page, "that").click({ modifiers: follow === "control" ? ["Control"] : [] });
      const question = await asked;
      expect(question.status(), follow).toBe(200);
      leave = question.url();
      await (await opened).close();
    }
    const asking = await page.context().newPage();
    await asking.goto(leave);
    await expect(asking.getByRole("heading", { name: "Open this link?" })).toBeVisible();
    expect(await violations(asking)).toEqual([]);
    await asking.close();
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await waitForHydration(page);
  }
  // The browser contacted only the server.
  expect(requests.filter((url) => url.includes("//evil.example"))).toEqual([]);
  // A host that a later message names is known from then on.
  await startChat(page, "Tell me about evil.example");
  (await model.nextReply()).finishWithText("It is [there](https://evil.example/).");
  await expectStatus(latestReply(page), "complete");
  await expect(link(page, "there")).toHaveAttribute("href", "https://evil.example/");
});
