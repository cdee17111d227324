// Connecting the first provider on the start page: its form opens in place, shows the result of the test, and enables
// the composer without a reload, in other tabs too.
// UX-01 of docs/acceptance.md.
import { violations } from "../../support/axe.ts";
import { expectStatus, latestReply, messageBox, openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";

test.use({ withProvider: false });

test("an unreachable address is reported in place, and correcting it keeps the connection", async ({ page, context, model, turnleaf }) => {
  await openPage(page);
  const other = await context.newPage();
  await openPage(other);
  const option = page.getByRole("link", { name: "Ollama" });
  await option.click();
  await expect(option).toHaveAttribute("aria-expanded", "true");
  await expect(page).toHaveURL(/\/$/);
  const form = page.getByRole("form", { name: "Ollama" });
  const address = form.getByLabel("Address");
  await expect(address).toBeFocused();
  expect(await violations(page)).toEqual([]);
  // No server listens at this address.
  await address.fill("http://127.0.0.1:9/v1");
  await address.press("Enter");
  await expect(form.locator(".problem")).toContainText(/^Ollama: /);
  await expect(form.locator(".problem")).toContainText("127.0.0.1");
  await expect(address).toHaveAttribute("aria-invalid", "true");
  await expect(address).toHaveValue("http://127.0.0.1:9/v1");
  await address.fill(model.environment.OPENAI_BASE_URL ?? "");
  await form.getByRole("button", { name: "Test and save" }).click();
  await expect(page.locator("#main").getByText("Connected to Ollama · 1 model found")).toBeVisible();
  await expect(form).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Try the demo" })).toHaveCount(0);
  await expect(messageBox(page)).toBeFocused();
  const stored = (await turnleaf.get("/api/providers")).filter((provider: { locked: boolean }) => !provider.locked);
  expect(stored.map((provider: { id: string }) => provider.id)).toEqual(["ollama"]);
  await page.keyboard.type("Hello");
  await page.keyboard.press("Enter");
  const reply = await model.nextReply();
  expect(reply.request.model).toBe(MODEL);
  reply.finishWithText("Hi.");
  await expectStatus(latestReply(page), "complete");
  await expect(other.locator("select[name=model]")).toHaveValue(`ollama/${MODEL}`);
});

test("a key can be looked at while it is typed, and must be there", async ({ page }) => {
  await openPage(page);
  await page.getByRole("link", { name: "Anthropic" }).click();
  const form = page.getByRole("form", { name: "Anthropic" });
  const key = form.getByLabel("API key");
  await expect(key).toBeFocused();
  await expect(key).toHaveAttribute("type", "password");
  await expect(key).toHaveAttribute("autocomplete", "new-password");
  await form.getByRole("button", { name: "Test and save" }).click();
  await expect(form.locator(".problem")).toHaveText("Enter an API key first.");
  await expect(key).toBeFocused();
  await key.fill("sk-secret");
  await form.getByRole("button", { name: "Show API key" }).click();
  await expect(key).toHaveAttribute("type", "text");
  await expect(form.getByRole("link", { name: /Get an API key/ })).toHaveAttribute("href", /^https:\/\/console\.anthropic\.com/);
  await expect(form).toContainText("Encrypted on this server and never shown again.");
  await form.getByRole("button", { name: "Cancel" }).click();
  await expect(form).toHaveCount(0);
  await page.getByRole("link", { name: "OpenAI" }).click();
  await expect(page.getByRole("form", { name: "OpenAI" }).getByLabel("API key")).toHaveValue("");
});
