// A first visit: nothing is configured, and the demo model answers.
// UX-01, UX-27, UX-33 of docs/acceptance.md.
import { chooseModel, expectStatus, waitForHydration, latestReply, messageBox, openPage, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";

import type { Page } from "@playwright/test";

/** Holds the WebAssembly of the page until the returned function is called. */
async function withoutProgram(page: Page): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route("**/*.wasm", async (route) => {
    await released;
    await route.continue().catch(() => undefined);
  });
  return () => release();
}

test.use({ withProvider: false });

test("the demo is one click away and says that it is a demo", async ({ page }) => {
  await openPage(page);
  await page.getByRole("button", { name: "Try the demo" }).click();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page)).last()).not.toBeEmpty();
  await expect(latestReply(page).locator("[data-segment=reasoning]").first()).toBeVisible();
  await expect(page.locator("body")).toContainText(/demo/i);
});

test("the message box is ready to be typed in", async ({ page }) => {
  await openPage(page);
  await expect(messageBox(page)).toBeFocused();
  await chooseModel(page, "demo/plain");
  await sendMessage(page, "one two three");
  await expectStatus(latestReply(page), "complete");
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  await expect(textOf(latestReply(page))).toContainText("You wrote 3 words");
});

test("what is typed before the page is live is kept", async ({ page }) => {
  // The script is held until the text is typed.
  const release = await withoutProgram(page);
  await page.goto("/", { waitUntil: "commit" });
  await messageBox(page).fill("typed early");
  release();
  await expect(page.locator("html[data-hydrated]")).toBeAttached();
  await expect(messageBox(page)).toHaveValue("typed early");
});

test("the wasm bundle is requested after the style sheet, and each part once", async ({ page }) => {
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith(".wasm")) requests.push(request.url().split("/").at(-1)!);
  });
  let release = () => {};
  const styled = new Promise<void>((done) => (release = done));
  const style = page.waitForRequest("**/turnleaf.css");
  await page.route("**/turnleaf.css", async (route) => {
    await styled;
    await route.continue();
  });
  const gone = page.goto("/", { waitUntil: "commit" });
  await style;
  await gone;
  release();
  await waitForHydration(page);
  // Style sheets block the first paint, and the WebAssembly is requested only after them, so that it does not compete
  // for bandwidth.
  const [styledAt, begun] = await page.evaluate(() => {
    const all = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const ending = (name: string) => all.find((entry) => entry.name.endsWith(name))!;
    return [ending("/turnleaf.css").responseEnd, ending("/turnleaf.wasm").startTime];
  });
  expect(begun).toBeGreaterThanOrEqual(styledAt);
  expect(requests.filter((name) => name === "turnleaf.wasm")).toHaveLength(1);
  await page.unroute("**/turnleaf.css");
  requests.length = 0;
  await chooseModel(page, "demo/plain");
  await messageBox(page).fill("hello");
  await messageBox(page).press("Enter");
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  await expectStatus(latestReply(page), "complete");
  requests.length = 0;
  await page.goto(page.url());
  await waitForHydration(page);
  expect(requests.filter((name) => name === "turnleaf.wasm").length, requests.join()).toBeLessThanOrEqual(1);
  expect(requests.filter((name) => name === "split_chat.wasm").length, requests.join()).toBeLessThanOrEqual(1);
});

for (const [name, state, has] of [["is hidden", "hidden", "none"], ["is never painted", "visible", "silent"]] as const) {
  test(`a page that ${name} becomes live without a frame`, async ({ page }) => {
    await page.addInitScript(([state, has]) => {
      Object.defineProperty(document, "visibilityState", { get: () => state });
      Object.defineProperty(document, "hidden", { get: () => state === "hidden" });
      window.requestAnimationFrame = () => 0;
      if (has === "silent") PerformanceObserver.prototype.observe = () => {};
      else Object.assign(window, { PerformanceObserver: undefined });
    }, [state, has]);
    await page.goto("/");
    await waitForHydration(page);
  });
}

test("a page becomes live where the browser does not say that it painted", async ({ page }) => {
  await page.addInitScript(() => {
    const real = window.setTimeout;
    // The fallback timer of one second is disabled.
    const timer = (act: () => void, ms?: number) => (ms === 1000 ? 0 : real(act, ms));
    Object.assign(window, { PerformanceObserver: undefined, setTimeout: timer });
  });
  await page.goto("/");
  await waitForHydration(page);
});

test("text typed before hydration is sent with Enter during hydration", async ({ page }) => {
  const release = await withoutProgram(page);
  // Sliced hydration yields with zero timers; the second one comes after the hydration.
  await page.addInitScript(() => {
    const [real, held] = [window.setTimeout, [] as (() => void)[]];
    let count = 0;
    const timer = (act: () => void, ms?: number) => (ms === 0 && ++count === 2 ? held.push(act) : real(act, ms));
    Object.assign(window, { setTimeout: timer, held });
  });
  await page.goto("/", { waitUntil: "commit" });
  await chooseModel(page, "demo/plain");
  await messageBox(page).fill("typed early");
  release();
  await page.waitForFunction(() => (window as unknown as { held: unknown[] }).held.length > 0);
  expect(await page.locator("html").getAttribute("data-hydrated"), "it is not all live").toBeNull();
  await messageBox(page).press("Enter");
  await page.evaluate(() => (window as unknown as { held: (() => void)[] }).held.forEach((act) => act()));
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  await expect(page.locator("article[data-role=user]")).toHaveCount(1);
  await expect(page.locator("article[data-role=user]")).toContainText("typed early");
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toContainText("You wrote 2 words");
});

test("a click on Send before the page is live sends once", async ({ page }) => {
  const release = await withoutProgram(page);
  await page.goto("/", { waitUntil: "commit" });
  await chooseModel(page, "demo/plain");
  await messageBox(page).fill("clicked early");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  release();
  await expect(page.locator("article[data-role=user]")).toHaveCount(1);
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toContainText("You wrote 2 words");
});

test("a provider that is connected in another tab is there without a reload, and what is written stays", async ({ page, turnleaf, model }) => {
  await openPage(page);
  await expect(page.getByRole("button", { name: "Try the demo" })).toBeVisible();
  await messageBox(page).fill("half a thought");
  const box = { id: "box", name: "Box", api: "openai_chat", base_url: model.environment.OPENAI_BASE_URL, key: "test", local_network: true, models: [MODEL] };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  const menu = page.locator("select[name=model]");
  await expect(menu).toHaveValue(`box/${MODEL}`);
  await expect(page.getByRole("button", { name: "Try the demo" })).toHaveCount(0);
  await expect(messageBox(page)).toHaveValue("half a thought");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  (await model.nextReply()).finishWithText("whole");
  await expectStatus(latestReply(page), "complete");
});
