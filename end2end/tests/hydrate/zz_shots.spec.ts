import { open } from "../../support/chat.ts";
import { test } from "../../support/fixtures.ts";
import { plant } from "../../support/tree.ts";

test("shots", async ({ page, turnleaf, model, watch }) => {
  test.setTimeout(200_000);
  watch.expect(/.*/);
  const planted = await plant(turnleaf, model, 8, 7);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [390, 820, 1440]) {
      if (colorScheme === "dark" && width === 820) continue;
      await page.setViewportSize({ width, height: 900 });
      const shot = (name: string) => page.screenshot({ path: `/tmp/shots/${name}-${width}-${colorScheme}.png` });
      await open(page, `/c/${planted.chat}?at=${planted.trunk[7]}`);
      if (width > 640) {
        await page.keyboard.press("Control+.");
        await page.waitForTimeout(800);
        await shot("panel");
      } else await shot("chat");
      await open(page, `/c/${planted.chat}/tree?on=${planted.trunk[1]}`);
      await page.waitForTimeout(300);
      await shot("page");
      await page.goto(`/c/${planted.chat}/branches`);
      await shot("branches");
      await page.goto(`/c/${planted.chat}/drawing`);
      await shot("drawing");
    }
  }
});
