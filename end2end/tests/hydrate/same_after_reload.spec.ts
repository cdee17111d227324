// A streamed reply has the same elements as after a reload and without script: for every script of the demo, apart
// from open state and times.
// UX-10 of docs/acceptance.md.
import { startChat, expectStatus, waitForHydration, latestReply, openPage, textOf } from "../../support/chat.ts";
import { outline } from "../../support/dom.ts";
import { expect, test } from "../../support/fixtures.ts";

for (const [script, ending] of [
  ["tour", "complete"], ["reasoning", "complete"], ["plain", "complete"], ["parallel-tools", "complete"],
  ["markdown", "complete"], ["error", "error"],
] as const) {
  test(`the demo's ${script}`, async ({ page, browser, turnleaf }) => {
    test.setTimeout(120_000);
    await startChat(page, "Show me", `demo/${script}`);
    await expectStatus(latestReply(page), ending);
    const plain = await browser.newContext({ javaScriptEnabled: false, viewport: page.viewportSize() });
    const still = await plain.newPage();
    await still.goto(turnleaf.url + new URL(page.url()).pathname);
    const withoutScript = await outline(latestReply(still));
    await plain.close();
    // Syntax highlighting of the last code arrives after the last word.
    await expect.poll(() => outline(latestReply(page))).toBe(withoutScript);
    await page.reload();
    await waitForHydration(page);
    await expect.poll(() => outline(latestReply(page))).toBe(withoutScript);
  });
}

test("a reply in the middle is the same after a reload", async ({ page, context, model }) => {
  await startChat(page, "Middle");
  const reply = await model.nextReply();
  reply.sendReasoning("First a thought.");
  reply.sendText("# A title\n\nA paragraph with `code`.\n\n```rust\nfn main() {}\n```\n\nAnd an unfinished *sen");
  await expect(textOf(latestReply(page))).toContainText("unfinished");
  await page.reload();
  await waitForHydration(page);
  await expect(textOf(latestReply(page))).toContainText("unfinished");
  reply.sendText("tence*.");
  await expect(textOf(latestReply(page)).locator("em")).toHaveText("sentence");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  const again = await context.newPage();
  await openPage(again, new URL(page.url()).pathname);
  // Syntax highlighting of the last code arrives after the last word.
  await expect.poll(() => outline(latestReply(page))).toBe(await outline(latestReply(again)));
});
