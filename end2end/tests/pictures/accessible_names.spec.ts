// Accessible names of the main screens and their overlays: roles, names and states in reading order, compared with
// the approved snapshots (`end2end/names`). `cargo xtask pictures` updates them.
import type { Locator, Page } from "@playwright/test";

import { waitForHydration } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { seedServer, type SeededServer } from "../../support/seeded_server.ts";
import { IS_REFRESH, test } from "../../support/pictures.ts";

const softly = expect.configure({ soft: true });

/** Replaces what differs from run to run. */
function withoutVaryingParts(names: string): string {
  return names
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
    .replaceAll(/\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z)?)?/g, "DATE")
    .replaceAll(/\b\d+ (second|minute)s? ago\b|\bjust now\b/g, "AGO")
    // The time of a reply is shown only from a twentieth of a second on.
    .replaceAll(/(\d+ tokens? received) · <?\d+(\.\d+)? m?s\b/g, "$1")
    .replaceAll(/<?\b\d+(\.\d+)? (ms|s|KB)\b/g, "N $2")
    .replaceAll(/\b\d{1,2}:\d\d(:\d\d)?( [AP]M)?(?!\d)/g, "TIME")
    .replaceAll(/\bsha256[^\s"]*|\b[0-9a-f]{16,64}\b/g, "HASH")
    .replaceAll(/version=[^\s"]+|(left|right)=DATE[^\s"&]*/g, "VERSION")
    .replaceAll(/- time: .*/g, "- time");
}

/** Waits until late content, such as a list in an open dialog, is stable, and compares the snapshot. */
async function checkAccessibleNames(region: Locator, name: string): Promise<void> {
  let last = "";
  const isStill = async () => last === (last = withoutVaryingParts(await region.ariaSnapshot()));
  // An update would approve an early state, so it waits.
  if (IS_REFRESH) await expect.poll(isStill).toBe(true);
  await softly(async () => expect(withoutVaryingParts(await region.ariaSnapshot())).toMatchSnapshot(`${name}.yml`)).toPass({ timeout: 10_000 });
}

const body = (page: Page) => page.locator("body");

test("accessible names of screens", async ({ page, turnleaf, model }) => {
  const { chat, document } = await seedServer(turnleaf, model);
  for (const [name, address] of [["home", "/"], ["chat", `/c/${chat}`], ["tree", `/c/${chat}/tree`]] as const) {
    await page.goto(address);
    await waitForHydration(page);
    await checkAccessibleNames(body(page), name);
  }
  const plain: [name: string, address: string][] = [
    ...["general", "appearance", "providers", "tools", "shortcuts", "data", "about"].map((name) => [`settings-${name}`, `/settings/${name}`] as [string, string]),
    ["usage", "/usage"], ["documents", "/documents"], ["document", `/documents/${document}`], ["search", "/search?q=leaf"], ["trash", "/trash"],
    ["branches", `/c/${chat}/branches`],
  ];
  for (const [name, address] of plain) {
    await page.goto(address);
    await waitForHydration(page);
    await checkAccessibleNames(page.getByRole("main"), name);
  }
});

test("accessible names of overlays of a chat", async ({ page, turnleaf, model }) => {
  const { chat, leaves: [, right] }: SeededServer = await seedServer(turnleaf, model);
  await page.goto(`/c/${chat}?at=${right}`);
  await waitForHydration(page);
  const opened: [name: string, shows: Locator, deed: () => Promise<void>][] = [
    ["rename", page.locator("dialog[open]"), () => page.locator(".chat-title button").click()],
    ["shortcuts", page.locator("dialog[open]").filter({ has: page.locator("kbd") }), () => page.keyboard.press("Control+/")],
    ["palette", page.locator("dialog[open]").filter({ has: page.getByRole("option") }), () => page.keyboard.press("Control+k")],
    ["menu-of-reply", page.locator(`#turn-${right}-menu`), () => page.locator(`#turn-${right}-menu-button`).click()],
    ["menu-of-share", page.locator("#chat-share-menu"), () => page.locator("#chat-share-menu-button").click()],
    ["menu-of-chat", page.locator("#chat-head-menu"), () => page.locator("#chat-head-menu-button").click()],
    ["find", page.getByRole("search"), () => page.keyboard.press("Control+Shift+F")],
  ];
  for (const [name, shows, deed] of opened) {
    await deed();
    await shows.waitFor();
    await checkAccessibleNames(shows, name);
    await page.keyboard.press("Escape");
  }
});
