// The application can be installed, and has an offline page. Its cache holds nothing personal.
import { startChat, waitForHydration, messageBox, openPage } from "../../support/chat.ts";
import { wholeBrowser } from "../../playwright.config.ts";
import { expect, test } from "../../support/fixtures.ts";
import { firstStatus } from "../../support/live_channel.ts";

test.use({ serviceWorkers: "allow", launchOptions: wholeBrowser });

test("without a network there is a page that says so, and leads back", async ({ page, context, watch }) => {
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await openPage(page);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) {
      await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }));
    }
  });
  await context.setOffline(true);
  await page.goto("/settings/providers");
  await expect(page.getByRole("heading", { level: 1, name: "You are offline" })).toBeVisible();
  // The style sheet is cached, too.
  expect(await page.evaluate(() => getComputedStyle(document.body).fontFamily)).toContain("system-ui");
  const kept = await page.evaluate(async () => {
    const caches = await Promise.all((await window.caches.keys()).map((name) => window.caches.open(name)));
    const requests = (await Promise.all(caches.map((cache) => cache.keys()))).flat();
    return requests.map((request) => new URL(request.url).pathname).sort();
  });
  expect(kept).toEqual(["/offline", expect.stringMatching(/^\/pkg\/[0-9a-f]{16}\/plain\.css$/), expect.stringMatching(/^\/pkg\/[0-9a-f]{16}\/turnleaf\.css$/)]);
  await context.setOffline(false);
  await page.getByRole("link", { name: "Retry", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Providers" })).toBeVisible();
  await page.goto("/");
  await waitForHydration(page);
  await expect(messageBox(page)).toBeVisible();
});

test("every file in the manifest exists", async ({ page }) => {
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

test("a notification is shown by the service worker, as phones require, and leads to its chat", async ({ page, context, model }) => {
  await context.grantPermissions(["notifications"]);
  await openPage(page, "/settings/general");
  await page.locator("#notify").getByRole("button", { name: "On", exact: true }).click();
  await expect(page.locator("#notify").getByRole("button", { name: "On", exact: true })).toHaveAttribute("aria-pressed", "true");
  await startChat(page, "A question");
  const call = await model.nextReply();
  await page.waitForURL("**/c/*");
  const chat = new URL(page.url()).pathname;
  const status = firstStatus(page);
  await openPage(page, "/");
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await expect(page.locator(`.chat-link[href="${chat}"]`).getByText("replying")).toBeAttached();
  await status;
  await page.evaluate(() => Object.defineProperty(document, "visibilityState", { get: () => "hidden" }));
  call.finishWithText("A secret answer.");
  const notes = () =>
    page.evaluate(async () => {
      const shown = await (await navigator.serviceWorker.ready).getNotifications();
      return shown.map(({ title, body, data }) => ({ title, body, data }));
    });
  await expect.poll(notes).toEqual([{ title: "A question", body: "Reply complete.", data: chat.slice("/c/".length) }]);
  // A test cannot click a system notification, so the worker gets the same event.
  await context.serviceWorkers()[0].evaluate(async () => {
    // These globals of a worker are missing from the types of pages.
    const worker = self as unknown as EventTarget & { registration: ServiceWorkerRegistration };
    const { NotificationEvent } = self as unknown as { NotificationEvent: new (type: string, init: object) => Event };
    const [notification] = await worker.registration.getNotifications();
    const event = new NotificationEvent("notificationclick", { notification });
    Object.defineProperty(event, "waitUntil", { value: (done: Promise<unknown>) => void done.catch(() => {}) });
    worker.dispatchEvent(event);
  });
  await expect(page).toHaveURL(chat);
  expect(await notes()).toEqual([]);
});

test("a refused permission is reported beside the notification setting", async ({ page, context }) => {
  const refused = page.getByText("Your browser blocks notifications from this site.");
  await context.grantPermissions(["notifications"]);
  await openPage(page, "/settings/general");
  await page.locator("#notify").getByRole("button", { name: "On", exact: true }).click();
  await expect(page.locator("#notify").getByRole("button", { name: "On", exact: true })).toHaveAttribute("aria-pressed", "true");
  await waitForHydration(page);
  await expect(refused).toBeHidden();
  await context.clearPermissions();
  await openPage(page, "/settings/general");
  await expect(refused).toBeVisible();
});
