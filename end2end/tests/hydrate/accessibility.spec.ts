// What axe can see: no violation in either theme, at three widths, on an empty page and with a reply in it.
import { violations } from "../../support/axe.ts";
import { begin, expectStatus, latestReply, open, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

const WIDTHS = [390, 820, 1440];

for (const colorScheme of ["light", "dark"] as const) {
  test(`nothing is in the way of anybody, ${colorScheme}`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open(page);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect.soft(await violations(page), `empty page, ${width}`).toEqual([]);
    }
    await begin(page, "Show me", "demo/tour");
    await expectStatus(latestReply(page), "complete");
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect.soft(await violations(page), `a reply, ${width}`).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect.soft(overflow, `sideways scrolling at ${width}`).toBeLessThanOrEqual(0);
    }
  });
}

test("nothing is in the way of anybody while a reply is written, open, broken, or on the narrowest screen", async ({ page, model }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.setViewportSize({ width: 320, height: 640 });
  await begin(page, "Show me");
  const reply = await model.next();
  reply.think("Let me see. ");
  reply.say("Half an **answer** with `code`");
  await expect(textOf(latestReply(page))).toHaveText(/Half an answer/);
  expect.soft(await violations(page), "streaming").toEqual([]);
  await latestReply(page).locator("details.reasoning summary").click();
  expect.soft(await violations(page), "streaming, reasoning open or closed by hand").toEqual([]);
  reply.drop();
  await expectStatus(latestReply(page), "error");
  await latestReply(page).getByRole("button", { name: "Details", exact: true }).click();
  expect.soft(await violations(page), "an error reply with its details").toEqual([]);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect.soft(overflow, "sideways scrolling at 320").toBeLessThanOrEqual(0);
});
