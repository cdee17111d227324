// While a reply with reasoning and a tool is written, nothing outside of it moves by itself (UX-38: the last row of the speed
// budget).
import type { Page } from "@playwright/test";

import { expectStatus, latestReply, send, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { settled } from "../../support/reader.ts";
import { cards, openWithTools, test, wire } from "../../support/tools.ts";

/** Notes what the browser calls a shift of the layout, unless it is within the newest reply. */
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
          if (article && article === all[all.length - 1]) continue;
          const what = element ? `${element.tagName}.${element.className}` : "gone";
          shifts.push(`${what}: ${previousRect.top} to ${currentRect.top}`);
        }
      }
    }).observe({ type: "layout-shift" });
  });
  return async () => {
    await settled(page);
    return page.evaluate(() => (window as any).shifts);
  };
}

for (const [name, viewport] of [["on a phone", { width: 390, height: 844 }], ["on a desk", { width: 1440, height: 900 }]] as const) {
  test.describe(name, () => {
    test.use({ viewport });

    test("only the reply itself grows", async ({ page, model, turnleaf }) => {
      await openWithTools(page, turnleaf);
      await send(page, "First");
      (await model.next()).answer("A paragraph.\n\n".repeat(40));
      await expectStatus(latestReply(page), "complete");
      await send(page, "Go");
      let reply = await model.next();
      reply.think("First ");
      await expect(latestReply(page).locator("details.reasoning")).toHaveJSProperty("open", true);
      const shifts = await watchShifts(page);
      for (let n = 0; n < 30; n++) reply.think(`thought ${n}, which goes on for a while. `);
      await expect(latestReply(page)).toContainText("thought 29");
      reply.ask([wire("search"), "leaves"], [wire("search"), "buds"]);
      reply = await model.next();
      await expect(cards(page)).toHaveCount(2);
      reply.think("Second thought.");
      for (let n = 0; n < 40; n++) {
        reply.say(`Paragraph ${n} of what is said.\n\n`);
        if (n % 10 === 0) await expect(textOf(latestReply(page)).last()).toContainText(`Paragraph ${n} `);
      }
      reply.say("```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
      await expect(latestReply(page).locator("table")).toBeVisible();
      reply.end();
      await expectStatus(latestReply(page), "complete");
      expect(await shifts()).toEqual([]);
      // And a move would be seen.
      await page.evaluate(() => window.scrollTo(0, 0));
      await settled(page);
      await page.evaluate(() => document.querySelector(".transcript")!.before(Object.assign(document.createElement("p"), { textContent: "moved" })));
      await expect.poll(async () => (await shifts()).length).toBeGreaterThan(0);
    });
  });
}
