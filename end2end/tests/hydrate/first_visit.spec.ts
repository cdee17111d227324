// A first visit: nothing is configured, and still somebody answers.
import { choose, expectStatus, latestReply, messageBox, open, send, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

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
