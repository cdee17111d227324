// Layout stability: during a reply with reasoning and a tool, nothing outside it moves by itself.
// UX-38 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { expectStatus, latestReply, sendMessage, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { waitForScrollSettled } from "../../support/reader.ts";
import { toolCards, openChatWithTools, test, wireName } from "../../support/tools.ts";

/** Records layout shifts that the browser reports outside the newest reply. */
async function watchShifts(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const shifts: string[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as any[]) {
        for (const { node, previousRect, currentRect } of entry.sources ?? []) {
          const element = node instanceof Element ? node : node?.parentElement;
          const article = element?.closest("article[data-role=assistant]");
          const all = document.querySelectorAll("article[data-role=assistant]");
          const newest = all[all.length - 1];
          if (article && article === newest) continue;
          // A part of the reply that was drawn anew since then has no element any more, but its place.
          const box = newest?.getBoundingClientRect();
          if (!element && box && currentRect.top >= box.top && currentRect.bottom <= box.bottom) continue;
          const label = element ? `${element.tagName}.${element.className}` : "gone";
          const place = ({ x, y, width, height }: DOMRectReadOnly) => `${x},${y} ${width}x${height}`;
          shifts.push(`${label}: ${place(previousRect)} to ${place(currentRect)}`);
        }
      }
    }).observe({ type: "layout-shift" });
  });
  return async () => {
    await waitForScrollSettled(page);
    return page.evaluate(() => (window as any).shifts);
  };
}

for (const [name, viewport] of [["on a phone", { width: 390, height: 844 }], ["on a desk", { width: 1440, height: 900 }]] as const) {
  test.describe(name, () => {
    test.use({ viewport });

    test("only the reply itself grows", async ({ page, model, turnleaf }) => {
      await openChatWithTools(page, turnleaf);
      await sendMessage(page, "First");
      (await model.nextReply()).finishWithText("A paragraph.\n\n".repeat(40));
      await expectStatus(latestReply(page), "complete");
      await sendMessage(page, "Go");
      let reply = await model.nextReply();
      reply.sendReasoning("First ");
      await expect(latestReply(page).locator("details.reasoning")).toHaveJSProperty("open", true);
      const shifts = await watchShifts(page);
      for (let n = 0; n < 30; n++) reply.sendReasoning(`thought ${n}, which goes on for a while. `);
      await expect(latestReply(page)).toContainText("thought 29");
      reply.finishWithToolCalls([wireName("search"), "leaves"], [wireName("search"), "buds"]);
      reply = await model.nextReply();
      await expect(toolCards(page)).toHaveCount(2);
      reply.sendReasoning("Second thought.");
      for (let n = 0; n < 40; n++) {
        reply.sendText(`Paragraph ${n} of what is said.\n\n`);
        if (n % 10 === 0) await expect(textOf(latestReply(page)).last()).toContainText(`Paragraph ${n} `);
      }
      reply.sendText("```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
      await expect(latestReply(page).locator("table")).toBeVisible();
      reply.finish();
      await expectStatus(latestReply(page), "complete");
      expect(await shifts()).toEqual([]);
      // A forced shift shows that shifts are recorded.
      await page.evaluate(() => window.scrollTo(0, 0));
      await waitForScrollSettled(page);
      await page.evaluate(() => document.querySelector(".transcript")!.before(Object.assign(document.createElement("p"), { textContent: "moved" })));
      await expect.poll(async () => (await shifts()).length).toBeGreaterThan(0);
    });
  });
}
