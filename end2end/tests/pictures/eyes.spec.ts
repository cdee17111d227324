// How the main screens look to whoever has the colours of the system, or everything twice as large.
// UX-44 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { hydrated } from "../../support/chat.ts";
import { drawn } from "../../support/dom.ts";
import { live } from "../../support/lived.ts";
import { look, setInBoxes, test } from "../../support/pictures.ts";

async function screens(page: Page, chat: string, see: (name: string) => Promise<void>): Promise<void> {
  for (const [name, address] of [["home", "/"], ["chat", `/c/${chat}`], ["settings", "/settings/appearance"]] as const) {
    await page.goto(address);
    if (name !== "settings") await hydrated(page);
    await setInBoxes(page);
    await drawn(page);
    await see(name);
  }
}

test("in the colours of the system", async ({ page, turnleaf, model }, info) => {
  const { chat } = await live(turnleaf, model);
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 820, height: 900 });
  await screens(page, chat, (name) => look(page, `${name}.forced`, info));
});

// A window of 1440 × 900 at 200 % has room for as much as this one.
test("twice as large", async ({ page, turnleaf, model }, info) => {
  const { chat } = await live(turnleaf, model);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 720, height: 450 });
  await screens(page, chat, (name) => look(page, `${name}.twice`, info));
});
