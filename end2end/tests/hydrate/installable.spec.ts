// The application can be installed, and says so itself when there is no network. What is kept for that is nobody's.
import { hydrated, messageBox, open } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test.use({ serviceWorkers: "allow" });

test("without a network there is a page that says so, and leads back", async ({ page, context, watch }) => {
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await open(page);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) {
      await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }));
    }
  });
  await context.setOffline(true);
  await page.goto("/settings/providers");
  await expect(page.getByRole("heading", { level: 1, name: "You are offline" })).toBeVisible();
  // With its style, which is kept too.
  expect(await page.evaluate(() => getComputedStyle(document.body).fontFamily)).toContain("system-ui");
  const kept = await page.evaluate(async () => {
    const caches = await Promise.all((await window.caches.keys()).map((name) => window.caches.open(name)));
    const requests = (await Promise.all(caches.map((cache) => cache.keys()))).flat();
    return requests.map((request) => new URL(request.url).pathname).sort();
  });
  expect(kept).toEqual(["/offline", expect.stringMatching(/^\/pkg\/[0-9a-f]{16}\/plain\.css$/), expect.stringMatching(/^\/pkg\/[0-9a-f]{16}\/turnleaf\.css$/)]);
  await context.setOffline(false);
  await page.getByRole("link", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Providers" })).toBeVisible();
  await page.goto("/");
  await hydrated(page);
  await expect(messageBox(page)).toBeVisible();
});

test("what the manifest names is there", async ({ page }) => {
  await page.goto("/");
  const address = await page.locator("link[rel=manifest]").getAttribute("href");
  const manifest = await (await page.request.get(address!)).json();
  expect(manifest.name).toBe("Turnleaf");
  for (const { src, type } of manifest.icons) {
    const answer = await page.request.get(src);
    expect([answer.status(), answer.headers()["content-type"]]).toEqual([200, type]);
  }
  for (const { url } of manifest.shortcuts) expect((await page.request.get(url)).status()).toBe(200);
  expect((await page.request.get("/worker.js")).headers()["content-type"]).toContain("text/javascript");
});
