// A first visit: nothing is configured, and still somebody answers.
import { choose, expectStatus, latestReply, messageBox, open, send, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";

test.use({ configured: false });

test("the demo is one click away and says that it is a demo", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Try the demo" }).click();
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page)).last()).not.toBeEmpty();
  await expect(latestReply(page).locator("[data-segment=reasoning]").first()).toBeVisible();
  await expect(page.locator("body")).toContainText(/demo/i);
});

test("the message box is ready to be typed in", async ({ page }) => {
  await open(page);
  await expect(messageBox(page)).toBeFocused();
  await choose(page, "demo/plain");
  await send(page, "one two three");
  await expectStatus(latestReply(page), "complete");
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  await expect(textOf(latestReply(page))).toContainText("You wrote 3 words");
});

test("what is typed before the page is live is kept", async ({ page }) => {
  // The script waits until the text is there.
  let release = () => {};
  const typed = new Promise<void>((done) => (release = done));
  await page.route("**/*.wasm", async (route) => {
    await typed;
    await route.continue();
  });
  await page.goto("/", { waitUntil: "commit" });
  await messageBox(page).fill("typed early");
  release();
  await expect(page.locator("html[data-hydrated]")).toBeAttached();
  await expect(messageBox(page)).toHaveValue("typed early");
});

test("a click on Send before the page is live sends once", async ({ page }) => {
  let release = () => {};
  const clicked = new Promise<void>((done) => (release = done));
  await page.route("**/*.wasm", async (route) => {
    await clicked;
    await route.continue().catch(() => undefined);
  });
  await page.goto("/", { waitUntil: "commit" });
  await choose(page, "demo/plain");
  await messageBox(page).fill("clicked early");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  release();
  await expect(page.locator("article[data-role=user]")).toHaveCount(1);
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toContainText("You wrote 2 words");
});

test("a provider that is connected in another tab is there without a reload, and what is written stays", async ({ page, turnleaf, model }) => {
  await open(page);
  await expect(page.getByRole("button", { name: "Try the demo" })).toBeVisible();
  await messageBox(page).fill("half a thought");
  const box = { id: "box", name: "Box", api: "openai_chat", base_url: model.environment.OPENAI_BASE_URL, key: "test", local_network: true, models: [MODEL] };
  expect((await page.request.post(`${turnleaf.url}/api/providers`, { data: box })).status()).toBe(201);
  const menu = page.getByRole("combobox", { name: "Model", exact: true });
  await expect(menu).toHaveValue(`box/${MODEL}`);
  await expect(page.getByRole("button", { name: "Try the demo" })).toHaveCount(0);
  await expect(messageBox(page)).toHaveValue("half a thought");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  (await model.next()).answer("whole");
  await expectStatus(latestReply(page), "complete");
});
