// Accessibility of every screen: axe in both themes and at three widths, idle, during a reply, with an error, and
// while a tool waits for approval; no scrolling in two directions on the narrowest screen and at 200 % zoom; and
// sticky elements never cover the focus. Overlays are in accessible_states.spec.ts.
// UX-26, UX-28, UX-40, UX-44 of docs/acceptance.md.
import { violations } from "../../support/axe.ts";
import { startChat, expectStatus, waitForHydration, idOf, latestReply, openPage, sendMessage, textOf } from "../../support/chat.ts";
import { expectAccessibleInChinese, expectAccessible, NARROW } from "../../support/accessibility_checks.ts";
import { expect, test } from "../../support/fixtures.ts";
import { seedServer } from "../../support/seeded_server.ts";
import { openChatWithTools, approvalPrompt, test as withTools, wireName } from "../../support/tools.ts";

const SCREENS: [group: string, addresses: string[]][] = [
  ["the settings", ["general", "appearance", "providers", "tools"].map((name) => `/settings/${name}`)],
  ["more settings", ["/settings/shortcuts", "/settings/shared-links", "/settings/about", "/documents/new", "/offline"]],
];

for (const [group, addresses] of SCREENS) {
  test(`accessibility: ${group}`, async ({ page, turnleaf }) => {
    test.setTimeout(120_000);
    for (const address of addresses) {
      await page.goto(address);
      await expectAccessible(page, address);
    }
    await expectAccessibleInChinese(page, turnleaf.url, addresses);
  });
}

test("accessibility: the API reference", async ({ page }) => {
  // The page repeats the same parts hundreds of times, and a run of axe over all of them takes a minute.
  test.setTimeout(120_000);
  await page.goto("/api/docs");
  const parts = "header, nav, h1, .api-operation:nth-of-type(17n + 2)";
  await expectAccessible(page, "/api/docs", { width: 390, within: parts, patience: 30_000 });
});

for (const third of [0, 1, 2]) {
  test(`accessibility: the gallery, part ${third + 1} of 3`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.goto("/settings/about/gallery");
    const sheets = await page.locator(".gallery-sheets a").evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).pathname));
    expect(sheets.length).toBeGreaterThan(12);
    for (const address of sheets.filter((_, at) => at % 3 === third)) {
      await page.goto(address);
      // Until then the composer shows the buttons of pages without script, too.
      await waitForHydration(page);
      await expectAccessible(page, address, { within: ".gallery", onlyStructure: true });
    }
  });
}

test("accessibility: pages with content", async ({ page, turnleaf, model }) => {
  test.setTimeout(150_000);
  const { document, versions: [older, newer], importId: taken } = await seedServer(turnleaf, model);
  const addresses = [
    "/documents", `/documents/${document}`, `/documents/${document}/edit`, `/documents/${document}/compare?left=${older}&right=${newer}`,
    "/usage", "/search?q=leaf", "/chats", "/trash", "/notifications", "/settings", "/settings/data", `/settings/data/imports/${taken}`,
  ];
  for (const address of addresses) {
    await page.goto(address);
    await expectAccessible(page, address);
  }
  await expectAccessibleInChinese(page, turnleaf.url, addresses);
});

test("accessibility: chat pages", async ({ page, turnleaf, model }) => {
  test.setTimeout(150_000);
  const { chat, message, reply, leaves: [left, right], graft } = await seedServer(turnleaf, model);
  const addresses = [
    `/c/${chat}/compare?left=${left}&right=${right}`, `/c/${chat}/grafts/${graft}`, `/c/${chat}/drawing`, `/c/${chat}/find?q=leaf`,
    `/c/${chat}/export`, `/turns/${message}/edit`, `/turns/${reply}/again`, `/turns/${reply}/sent`,
    `/c/${chat}/settings`, `/c/${chat}/branches`, `/c/${chat}/tools`,
  ];
  for (const address of addresses) {
    await page.goto(address);
    await expectAccessible(page, address);
  }
  await expectAccessibleInChinese(page, turnleaf.url, addresses);
  await expectAccessibleInChinese(page, turnleaf.url, ["/", `/c/${chat}`, `/c/${chat}/tree`, `/c/${chat}?from=${reply}`], () => waitForHydration(page));
});

test("accessibility: a new chat, a reply, a new branch, its tree", async ({ page }) => {
  test.setTimeout(120_000);
  await openPage(page);
  await expectAccessible(page, "a new chat");
  await startChat(page, "Show me", "demo/tour");
  await expectStatus(latestReply(page), "complete");
  await expectAccessible(page, "a reply");
  const chat = new URL(page.url()).pathname;
  const reply = await idOf(latestReply(page));
  await openPage(page, `${chat}?from=${reply}`);
  await expectAccessible(page, "going on from here");
  await openPage(page, `${chat}/tree`);
  await expectAccessible(page, "the tree");
});

test("accessibility: not-found pages", async ({ page, watch }) => {
  watch.expect(/status of 404/);
  for (const address of ["/c/00000000-0000-7000-8000-000000000000", "/documents/none", "/nowhere"]) {
    await page.goto(address);
    await expectAccessible(page, address);
  }
});

test.describe("without a provider", () => {
  test.use({ withProvider: false });
  test("accessibility: the first run", async ({ page }) => {
    await openPage(page);
    await expectAccessible(page, "the first run");
  });
});

withTools("nothing is in the way of anybody while a reply is written, asks, and breaks", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Write it down");
  const reply = await model.nextReply();
  reply.sendReasoning("Let me see. ");
  reply.sendText("Half an **answer** with `code`");
  await expect(textOf(latestReply(page))).toHaveText(/Half an answer/);
  await expectAccessible(page, "streaming");
  await latestReply(page).locator("details.reasoning summary").click();
  expect.soft(await violations(page), "streaming, reasoning open or closed by hand").toEqual([]);
  reply.finishWithToolCalls([wireName("delete"), "a note"]);
  await expect(approvalPrompt(page)).toBeVisible();
  await expectAccessible(page, "approval");
  await approvalPrompt(page).getByRole("button", { name: "Allow once", exact: true }).click();
  const next = await model.nextReply();
  next.sendText("Written");
  next.dropConnection();
  await expectStatus(latestReply(page), "error");
  await latestReply(page).getByRole("button", { name: "Details", exact: true }).click();
  await expectAccessible(page, "error");
});

test("print is light, full width, and without controls", async ({ page, turnleaf }) => {
  const { chat } = await turnleaf.plantLongChat(6);
  for (const width of [600, 820, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    await openPage(page, `/c/${chat}`);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const reply = await latestReply(page).boundingBox();
    expect.soft(reply?.width, `the text at ${width}`).toBeGreaterThan(0.85 * width);
    await expect.soft(page.getByRole("navigation")).toBeHidden();
    await expect.soft(page.getByRole("form", { name: "Message" })).toBeHidden();
    await expect.soft(page.locator("button:not(h1 *)").filter({ visible: true })).toHaveCount(0);
    const ink = await textOf(latestReply(page)).evaluate((text) => getComputedStyle(text).color);
    const [red = 255] = (ink.match(/[\d.]+/g) ?? []).map(Number);
    expect.soft(red, `${ink} on paper`).toBeLessThan(100);
    // Everything is laid out, including distant rows.
    const hidden = await page.locator(".turn-row").evaluateAll((rows) => rows.filter((row) => getComputedStyle(row).contentVisibility !== "visible").length);
    expect.soft(hidden).toBe(0);
  }
  await page.goto("/settings/about/gallery/tools");
  const main = await page.locator("main").boundingBox();
  expect.soft(main?.width, "a plain page").toBeGreaterThan(0.9 * 1440);
});

test("forced colors keep selected, pressed and outlined states visible", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto("/settings/about/gallery/parts");
  const edges = (name: string) => page.getByRole("button", { name, exact: true }).first().evaluate((button) => getComputedStyle(button).borderTopStyle);
  for (const name of ["Primary", "Plain", "Bare", "Danger"]) expect.soft(await edges(name), name).toBe("solid");
  await page.goto("/settings/about/gallery/writing");
  expect.soft(await page.locator(".bubble").first().evaluate((bubble) => getComputedStyle(bubble).borderTopWidth)).toBe("1px");
  await page.goto("/settings/about/gallery/basics");
  // Swatches keep their colours, because these are content.
  expect.soft(await page.locator(".swatch").first().evaluate((swatch) => getComputedStyle(swatch).forcedColorAdjust)).toBe("none");
});

for (const viewport of NARROW) {
  test(`sticky elements never cover the focus, ${viewport.width} × ${viewport.height}`, async ({ page, turnleaf }) => {
    await page.setViewportSize(viewport);
    const { chat } = await turnleaf.plantLongChat(8);
    await page.goto(`/c/${chat}`);
    await waitForHydration(page);
    await page.locator("body").press("Home");
    const covered: string[] = [];
    for (let step = 0; step < 60; step += 1) {
      await page.keyboard.press("Tab");
      const covering = await page.evaluate(async () => {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const focused = document.activeElement;
        if (!focused || focused === document.body) return null;
        const box = focused.getBoundingClientRect();
        // Visually hidden elements for screen readers cannot be covered.
        if (box.width < 8 || box.height < 8) return null;
        const points = [[0.5, 0.5], [0.1, 0.2], [0.9, 0.8]].map(([x, y]) => [box.left + x! * box.width, box.top + y! * box.height] as const);
        const isSeen = ([x, y]: readonly [number, number]) => {
          const hit = document.elementFromPoint(x, y);
          return hit !== null && (focused.contains(hit) || hit.contains(focused));
        };
        return points.some(isSeen) ? null : `${focused.outerHTML.slice(0, 120)} at ${Math.round(box.left)}, ${Math.round(box.top)}`;
      });
      if (covering) covered.push(covering);
    }
    expect(covered).toEqual([]);
  });
}
