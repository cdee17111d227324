// The main screens with the system's colours (forced colours), and at 200 % zoom.
// UX-44 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { waitForHydration } from "../../support/chat.ts";
import { waitForPaint } from "../../support/dom.ts";
import { seedServer } from "../../support/seeded_server.ts";
import { checkPicture, useBoxFont, test } from "../../support/pictures.ts";

async function visitScreens(page: Page, chat: string, see: (name: string) => Promise<void>): Promise<void> {
  for (const [name, address] of [["home", "/"], ["chat", `/c/${chat}`], ["settings", "/settings/appearance"]] as const) {
    await page.goto(address);
    if (name !== "settings") await waitForHydration(page);
    await useBoxFont(page);
    await waitForPaint(page);
    await see(name);
  }
}

test("in forced colors", async ({ page, turnleaf, model }, info) => {
  const { chat } = await seedServer(turnleaf, model);
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 820, height: 900 });
  await visitScreens(page, chat, (name) => checkPicture(page, `${name}.forced`, info));
});

// A window of 1440 × 900 at 200 % zoom has the viewport of this one.
test("at 200 percent zoom", async ({ page, turnleaf, model }, info) => {
  const { chat } = await seedServer(turnleaf, model);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 720, height: 450 });
  await visitScreens(page, chat, (name) => checkPicture(page, `${name}.twice`, info));
});
