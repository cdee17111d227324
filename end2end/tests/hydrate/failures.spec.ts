// Recovery actions of a failed reply by its cause, and a delayed retry.
// UX-15 of docs/acceptance.md.
import { violations } from "../../support/axe.ts";
import { startChat, expectStatus, waitForHydration, latestReply, pickModel, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { editBox, turnHeading, holdConversation, userTurns, versionSwitcher } from "../../support/turn_actions.ts";

test("a refused key leads to its provider's card, and another model answers in its place", async ({ page, model }) => {
  model.refuseNext(401);
  await startChat(page, "Knock");
  await expectStatus(latestReply(page), "error");
  const panel = latestReply(page).locator("[data-error=provider_auth]");
  await expect(panel).toContainText("Replace the API key in the provider settings");
  await panel.getByRole("link", { name: "Replace API key" }).click();
  await expect(page).toHaveURL(/\/settings\/providers#provider-openai$/);
  await expect(page.locator("#provider-openai")).toBeInViewport();
  await page.goBack();
  await waitForHydration(page);
  await panel.getByRole("link", { name: "Retry with…" }).click();
  const dialog = page.getByRole("dialog", { name: "Retry with…" });
  await expect(dialog).toBeVisible();
  expect(await violations(page, "dialog")).toEqual([]);
  await pickModel(page, "tour");
  await expectStatus(latestReply(page), "complete");
  await expect(versionSwitcher(latestReply(page))).toContainText("2/2");
});

test("what helps after a failure is seen where it is not the last reply, too", async ({ page, model }) => {
  model.refuseNext(401);
  await startChat(page, "Knock");
  await expectStatus(latestReply(page), "error");
  await sendMessage(page, "Again");
  (await model.nextReply()).finishWithText("Who is there?");
  await expectStatus(latestReply(page), "complete");
  await page.mouse.move(0, 0);
  const failed = page.locator("article[data-status=error]");
  const opacities = () =>
    failed.locator("[data-error] :is(a, button)").evaluateAll((all) =>
      all.filter((action) => action.checkVisibility()).map((action) => {
        let seen = 1;
        for (let at: Element | null = action; at; at = at.parentElement) seen *= Number(getComputedStyle(at).opacity);
        return seen;
      }),
    );
  expect((await opacities()).length).toBeGreaterThan(1);
  await expect.poll(async () => Math.min(...(await opacities()))).toBe(1);
});

test("a reply that the provider stopped leads to its message, in its place and with keys alone", async ({ page, model }) => {
  await startChat(page, "Say it");
  const reply = await model.nextReply();
  reply.finish("content_filter");
  await expectStatus(latestReply(page), "error");
  const edit = latestReply(page).locator("[data-error=content_filtered]").getByRole("button", { name: "Edit your message" });
  await edit.focus();
  await page.keyboard.press("Space");
  await expect(editBox(page)).toBeFocused();
  await expect(editBox(page)).toHaveValue("Say it");
  await page.keyboard.press("Escape");
  await expect(userTurns(page).first().getByRole("button", { name: "Edit your message" })).toBeFocused();
  // On the reply, the edit key does not apply to the message before it.
  await turnHeading(latestReply(page)).focus();
  await page.keyboard.press("e");
  await expect(userTurns(page).first().getByRole("textbox")).toHaveCount(0);
});

test("a pending retry is counted down, and announced once to a screen reader", async ({ page, model }) => {
  model.refuseNext(429, { "retry-after": "4" });
  await startChat(page, "Wait");
  const line = latestReply(page).locator(".status-line");
  await expect(line).toContainText("Attempt 2 of");
  const [shown, announcement] = [line.locator(".countdown"), line.locator(".quiet")];
  const first = await announcement.textContent();
  expect(first).toMatch(/^Retrying in \d+ s\.$/);
  await expect(shown).toHaveAttribute("aria-hidden", "true");
  await expect(shown).not.toHaveText(first ?? "");
  await expect(shown).toHaveText(/^Retrying in [123] s\.$/);
  await expect(announcement).toHaveText(first ?? "");
  (await model.nextReply()).finishWithText("Here.");
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("Here.");
});

test("a pending retry can be started at once", async ({ page, model }) => {
  model.refuseNext(429, { "retry-after": "20" });
  await startChat(page, "Wait");
  await latestReply(page).locator(".status-line").getByRole("button", { name: "Stop waiting" }).click();
  await expectStatus(latestReply(page), "cancelled");
  expect(model.requestCount).toBe(1);
});

test("a conversation that is too long says by how much, what in it is big, and where to branch from", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  model.refuseNext(400, {}, "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.");
  await sendMessage(page, "word ".repeat(2_000));
  await expectStatus(latestReply(page), "error");
  const panel = latestReply(page).locator("[data-error=context_too_long]");
  await expect(panel).toContainText("Too long for this model (210k tokens, the limit is 200k).");
  await expect(page.locator("#alert")).toContainText("Reply failed: Too long for this model (210k tokens, the limit is 200k).");
  await expect(panel.getByRole("link", { name: "Branch from an earlier reply" })).toBeVisible();
  await panel.getByRole("link", { name: "Show context usage" }).click();
  await expect(page.getByRole("heading", { name: "Context usage" })).toBeInViewport();
  const big = page.getByRole("region", { name: "Context usage" });
  await expect(big.locator("dt").first()).toHaveText("Your messages");
  await expect(big.locator("dd").first()).toHaveText(/^≈ 2\.5k tokens · \d+ %$/);
  await expect(big.getByRole("listitem").first()).toContainText("word word");
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await panel.getByRole("link", { name: "Branch from an earlier reply" }).click();
  await expect(page).toHaveURL(/\?from=/);
  await expect(page.getByText("messages below are hidden")).toBeVisible();
});
