// Providers without script: connected, tested, edited and removed by forms only.
// UX-01, UX-32 of docs/acceptance.md.
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";

const KEY = "canary-key-of-this-test-4f2a";

test.use({ withProvider: false });

test("a provider is connected from the first run on, and removed", async ({ page, model, watch }) => {
  watch.expect(/status of 422/);
  await page.goto("/");
  await page.getByRole("link", { name: "Other server" }).click();
  const add = page.getByRole("region", { name: "Add provider" });
  await add.getByLabel("Name").fill("Test box");
  await add.getByLabel("Address").fill(model.environment.OPENAI_BASE_URL ?? "");
  await add.getByLabel("API key").fill(KEY);
  await add.getByRole("button", { name: "Test and save" }).click();

  // A server on this machine needs an explicit permission. The typed values are kept, except the key.
  await expect(add).toContainText("Must be on for an address on this machine or the local network");
  await expect(add.getByLabel("Name")).toHaveValue("Test box");
  await expect(add.getByLabel("API key")).toHaveValue("");
  await add.getByLabel("API key").fill(KEY);
  await add.getByLabel("Local network").check();
  await add.getByRole("button", { name: "Test and save" }).click();

  // The provider works, so the start page is shown again, with its models.
  await expect(page).toHaveURL(/\/$/);
  const card = page.getByRole("article", { name: "Test box" });
  await page.goto("/settings/providers");
  await expect(card).toContainText("Working");
  await expect(card).toContainText("1 model · Checked");
  await expect(card).toContainText("API key set · ends in 4f2a");
  expect(await page.content()).not.toContain(KEY);

  const menu = page.getByRole("combobox", { name: "Model", exact: true });
  const option = menu.locator(`option[value="test-box/${MODEL}"]`);
  await page.goto("/");
  await expect(option).toBeAttached();

  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Providers" }).click();
  await card.getByText("Models (1)").click();
  await card.getByRole("checkbox", { name: MODEL }).uncheck();
  await card.getByRole("button", { name: "Save models" }).click();
  await expect(card).toContainText("Models (1, 1 hidden)");
  await page.goto("/");
  await expect(option).not.toBeAttached();

  await page.goto("/settings/providers");
  await card.getByText("Remove…").click();
  await card.getByRole("button", { name: "Remove Test box" }).click();
  await expect(page.getByRole("status")).toHaveText("Removed.");
  await expect(card).not.toBeAttached();
});

test("the page fits into every width", async ({ page }) => {
  for (const path of ["/settings/providers", "/settings/providers?add=openrouter#add"]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1, name: "Providers" })).toBeVisible();
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const [content, window] = await page.locator("html").evaluate((html) => [html.scrollWidth, html.clientWidth]);
      expect(content, `${path} at ${width}`).toBeLessThanOrEqual(window ?? 0);
    }
  }
});
