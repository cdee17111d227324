// The page without script: it can be read, written to, stopped and opened.
// UX-04, UX-32 of docs/acceptance.md.
import { branchModelChip, chooseModel, expectStatus, latestReply, messageBox, sendMessage, stopButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a message is sent by a form and answered on the next page", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Hello <b>there</b>");
  await expect(page).toHaveURL(/\/c\/[0-9a-f-]{36}/);
  await expect(page.locator("article[data-role=user]")).toContainText("Hello <b>there</b>");
  const reply = await model.nextReply();
  reply.sendText("Good ");
  // The page refreshes itself; a person does not have to wait for that.
  await expect(async () => {
    await page.reload();
    await expect(textOf(latestReply(page))).toHaveText("Good", { timeout: 200 });
  }).toPass();
  reply.sendText("day.");
  reply.finish();
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(textOf(latestReply(page))).toHaveText("Good day.");
});

test("a starter is a link that fills the box", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("link", { name: "Help me write…" }).click();
  await expect(messageBox(page)).toHaveValue("Help me write ");
});

test("a running reply refreshes itself and one that is over does not", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Wait");
  const reply = await model.nextReply();
  // With scripting enabled the content of noscript is text, which the fallback script reads.
  const isRefreshed = async () => (await page.content()).includes('http-equiv="refresh"');
  await expect(page).toHaveURL(/\/c\//);
  await expect.poll(isRefreshed).toBe(true);
  reply.sendText("Over.");
  reply.finish();
  // The page reloads itself; the test does not.
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  await expect.poll(isRefreshed).toBe(false);
});

test("what is typed while a reply runs is not lost to a page that follows it", async ({ page, model, withoutWasm }) => {
  test.skip(!withoutWasm, "without any script nobody can look at what is typed");
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await page.clock.install();
  await sendMessage(page, "Wait");
  const reply = await model.nextReply();
  await expect(page).toHaveURL(/\/c\//);
  await messageBox(page).fill("While I wait");
  const requests: string[] = [];
  // The WebAssembly is requested after the first paint, which may be now.
  page.on("request", (request) => new URL(request.url()).pathname.startsWith("/pkg/") || requests.push(request.url()));
  reply.finishWithText("Over.");
  await page.clock.runFor(20_000);
  // No other page load was started.
  expect(requests).toEqual([]);
  await expect(messageBox(page)).toHaveValue("While I wait");
  await messageBox(page).fill("");
  await page.clock.runFor(5_000);
  await expect(latestReply(page)).toHaveAttribute("data-status", "complete");
});

test("Stop is a form too", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Talk");
  const reply = await model.nextReply();
  reply.sendText("half");
  await expect(async () => {
    await page.reload();
    await expect(textOf(latestReply(page))).toHaveText("half", { timeout: 200 });
  }).toPass();
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(textOf(latestReply(page))).toHaveText("half");
  await reply.closed;
  await latestReply(page).getByRole("button", { name: "Continue" }).click();
  (await model.nextReply()).finishWithText("whole");
  await expect(page.locator("article[data-role=user]").last()).toContainText("Continue");
});

test("reasoning is opened without script", async ({ page }) => {
  await page.goto("/");
  await chooseModel(page, "demo/tour");
  await sendMessage(page, "Show me");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass({ timeout: 45_000 });
  const reasoning = latestReply(page).locator("[data-segment=reasoning]").first();
  const body = reasoning.getByText("I am a script and cannot understand it");
  await expect(body).toBeHidden();
  await reasoning.locator("summary").first().click();
  await expect(body).toBeVisible();
});

test("a form that is sent twice is one message", async ({ page, model, turnleaf }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await messageBox(page).fill("Once");
  const form = await page.locator("form[action='/forms/send']").first().evaluate((element) =>
    [...new FormData(element as HTMLFormElement)].map(([name, value]) => [name, String(value)]));
  const post = () => page.context().request.post("/forms/send", {
    form: Object.fromEntries(form), headers: { origin: turnleaf.url }, maxRedirects: 0,
  });
  const [first, second] = [await post(), await post()];
  expect(first.status()).toBe(303);
  expect(second.headers().location).toBe(first.headers().location);
  (await model.nextReply()).finishWithText("Once.");
  expect(model.requestCount).toBe(1);
});

test("another model is taken by a form, and what was typed stays", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "First");
  (await model.nextReply()).finishWithText("One.");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  const form = page.getByRole("form", { name: "Message" });
  await form.getByRole("textbox", { name: "Message" }).fill("Second <i>thought</i>");
  await branchModelChip(page).click();
  await form.getByRole("combobox", { name: "Switch model in a new branch" }).selectOption("demo/tour");
  await form.getByRole("button", { name: "Choose a model" }).click();
  await expect(form.getByRole("textbox", { name: "Message" })).toHaveValue("Second <i>thought</i>");
  await form.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page.getByText(/switched to .* · earlier replies are sent as plain text/)).toBeVisible();
  await expect(page.locator("article[data-role=user]").last()).toContainText("Second <i>thought</i>");
});

test("buttons that need script are absent, and the notice about it covers nothing", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Code");
  (await model.nextReply()).finishWithText("```rust\nfn main() {}\n```");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(latestReply(page).locator("pre")).toBeVisible();
  await expect(latestReply(page).locator(".md-copy")).toBeHidden();
  const line = page.locator(".basic-mode");
  await line.evaluate((line) => line.getAnimations().forEach((animation) => animation.finish()));
  await expect(line).toBeVisible();
  const [over, head] = [await line.boundingBox(), await page.locator(".chat-head").boundingBox()];
  expect((over?.y ?? 0) + (over?.height ?? 0)).toBeLessThanOrEqual((head?.y ?? 0) + 1);
  // The skip link to the latest reply comes before the chat list.
  await expect(page.locator('body > .skip[href="#latest"]')).toHaveCount(1);
});
