// The page without script: it can be read, written to, stopped and opened.
import { choose, expectStatus, latestReply, messageBox, send, stopButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a message is sent by a form and answered on the next page", async ({ page, model }) => {
  await page.goto("/");
  await choose(page, "openai/test-model");
  await send(page, "Hello <b>there</b>");
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  await expect(page.locator("article[data-role=user]")).toContainText("Hello <b>there</b>");
  const reply = await model.next();
  reply.say("Good ");
  // The page refreshes itself; a person need not wait for that.
  await expect(async () => {
    await page.reload();
    await expect(textOf(latestReply(page))).toHaveText("Good", { timeout: 500 });
  }).toPass();
  reply.say("day.");
  reply.end();
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 500 });
  }).toPass();
  await expect(textOf(latestReply(page))).toHaveText("Good day.");
});

test("a running reply refreshes itself and one that is over does not", async ({ page, model }) => {
  await page.goto("/");
  await choose(page, "openai/test-model");
  await send(page, "Wait");
  const reply = await model.next();
  const refresh = page.locator("meta[http-equiv=refresh]");
  await expect(refresh).toBeAttached();
  reply.say("Over.");
  reply.end();
  // Nobody reloads here but the page.
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  await expect(refresh).not.toBeAttached();
});

test("Stop is a form too", async ({ page, model }) => {
  await page.goto("/");
  await choose(page, "openai/test-model");
  await send(page, "Talk");
  const reply = await model.next();
  reply.say("half");
  await expect(async () => {
    await page.reload();
    await expect(textOf(latestReply(page))).toHaveText("half", { timeout: 500 });
  }).toPass();
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(textOf(latestReply(page))).toHaveText("half");
  await reply.closed;
});

test("reasoning is opened without script", async ({ page }) => {
  await page.goto("/");
  await choose(page, "demo/tour");
  await send(page, "Show me");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 500 });
  }).toPass({ timeout: 45_000 });
  const reasoning = latestReply(page).locator("[data-segment=reasoning]").first();
  const body = reasoning.getByText("I am a script and cannot understand it");
  await expect(body).toBeHidden();
  await reasoning.locator("summary").first().click();
  await expect(body).toBeVisible();
});

test("a form that is sent twice is one message", async ({ page, model, turnleaf }) => {
  await page.goto("/");
  await choose(page, "openai/test-model");
  await messageBox(page).fill("Once");
  const form = await page.locator("form[action='/forms/send']").first().evaluate((element) =>
    [...new FormData(element as HTMLFormElement)].map(([name, value]) => [name, String(value)]));
  const post = () => page.context().request.post("/forms/send", {
    form: Object.fromEntries(form), headers: { origin: turnleaf.url }, maxRedirects: 0,
  });
  const [first, second] = [await post(), await post()];
  expect(first.status()).toBe(303);
  expect(second.headers().location).toBe(first.headers().location);
  (await model.next()).answer("Once.");
  expect(model.asked).toBe(1);
});

test("another model is taken by a form, and what was typed stays", async ({ page, model }) => {
  await page.goto("/");
  await choose(page, "openai/test-model");
  await send(page, "First");
  (await model.next()).answer("One.");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 500 });
  }).toPass();
  const form = page.getByRole("form", { name: "Message" });
  await form.getByRole("textbox", { name: "Message" }).fill("Second <i>thought</i>");
  await form.getByRole("button", { name: /locked/ }).click();
  await form.getByRole("combobox", { name: "Another model in a new branch" }).selectOption("demo/tour");
  await form.getByRole("button", { name: "Choose a model" }).click();
  await expect(form.getByRole("textbox", { name: "Message" })).toHaveValue("Second <i>thought</i>");
  await form.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page.getByText(/switched to .* · earlier replies are sent as plain text/)).toBeVisible();
  await expect(page.locator("article[data-role=user]").last()).toContainText("Second <i>thought</i>");
});
