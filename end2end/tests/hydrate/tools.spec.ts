// Tools on the page: what asks a person, what runs, what is stopped, and how all of it is told.
// UX-12, UX-14 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { expectStatus, hydrated, latestReply, messageBox, open, send, stopButton, textOf } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { cards, chatWithTools, decide, openWithTools, question, test, toolMessages, wire } from "../../support/tools.ts";
import { settled } from "../../support/reader.ts";
import { tabTo } from "../../support/verbs.ts";

/** Sends a message that the model answers with one call. */
async function ask(page: Page, model: ModelServer, tool: string, text: string): Promise<void> {
  await send(page, "Go");
  (await model.next()).ask([wire(tool), text]);
}

/** Ends the reply: the model says this to what its tools gave. */
async function answer(page: Page, model: ModelServer, text = "Done."): Promise<any> {
  const reply = await model.next();
  reply.answer(text);
  await expect(textOf(latestReply(page)).last()).toHaveText(text);
  await expectStatus(latestReply(page), "complete");
  return reply.request;
}

/** Everything that the live regions say from now on. */
async function recorded(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const heard: string[] = [];
    (window as any).heard = heard;
    for (const id of ["say", "alert"]) {
      const region = document.getElementById(id)!;
      new MutationObserver(() => {
        if (region.textContent) heard.push(`${id}: ${region.textContent}`);
      }).observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  return () => page.evaluate(() => (window as any).heard);
}

test("arguments grow in the card, and a tool that is safe runs by itself", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  const heard = await recorded(page);
  await send(page, "Go");
  const reply = await model.next();
  reply.call(0, "c1", wire("search"));
  reply.args(0, '{"text": "rust');
  const card = cards(page).first();
  await expect(card).toHaveAttribute("data-tool-status", "writing");
  await expect(card).toContainText('{"text": "rust');
  reply.args(0, ' sse"}');
  reply.end("tool_calls");
  // Before there is newer news, for which it would not be said.
  await expect.poll(heard).toContain("say: Using Search.");
  const request = await answer(page, model);
  expect(toolMessages(request)[0]!.content).toContain("Found rust sse.");
  await expect(card).toHaveAttribute("data-tool-status", "done");
  await expect(card.getByRole("heading", { name: "Search" })).toBeVisible();
  await expect(card).toContainText("done");
  await card.locator("summary").first().click();
  await expect(card).toContainText("Found rust sse.");
  expect(tools.ran).toEqual(["search rust sse"]);
  expect((await heard()).filter((said) => said.startsWith("say: Using"))).toEqual(["say: Using Search."]);
});

test("a card shows people's words from the first moment on, whatever becomes of the call", async ({ page, model, turnleaf }) => {
  await openWithTools(page, turnleaf);
  await send(page, "Go");
  const reply = await model.next();
  reply.call(0, "c1", wire("search"));
  reply.args(0, '{"text": ');
  const heading = (at: number) => cards(page).nth(at).getByRole("heading");
  await expect(cards(page).first()).toHaveAttribute("data-tool-status", "writing");
  await expect(heading(0)).toHaveText("Search");
  reply.args(0, '"x"}');
  reply.call(1, "c2", wire("delete"));
  reply.args(1, "{not json");
  reply.call(2, "c3", wire("delete"));
  reply.args(2, "{}");
  reply.end("tool_calls");
  await answer(page, model);
  for (const _ of ["live", "after a reload"]) {
    for (const [at, name] of ["Search", "Delete a file", "Delete a file"].entries()) {
      await expect(heading(at)).toHaveText(name);
      await expect(cards(page).nth(at).locator(".tool-server")).toHaveText("Files");
    }
    await expect(page.getByText("3 tools · 2 failed")).toBeVisible();
    await page.reload();
    await hydrated(page);
  }
});

test("a question survives a reload and another tab, and is answered once", async ({ page, context, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await ask(page, model, "delete", "a.txt");
  await expect(question(page)).toContainText("Delete a file wants to run · files/delete");
  await expect(question(page)).toContainText('"text": "a.txt"');
  await expect(page).toHaveTitle(/^● needs you · /);
  await page.reload();
  await hydrated(page);
  const other = await context.newPage();
  await open(other, page.url());
  await expect(question(other)).toBeVisible();
  expect(tools.ran).toEqual([]);
  await decide(page, "Allow once").click();
  await answer(page, model);
  await expect(question(page)).toHaveCount(0);
  await expect(question(other)).toHaveCount(0);
  expect(tools.ran).toEqual(["delete a.txt"]);
  await expect(page).not.toHaveTitle(/needs you/);
  // Once is once.
  await ask(page, model, "delete", "b.txt");
  await expect(question(page)).toBeVisible();
  expect(tools.ran).toEqual(["delete a.txt"]);
});

test("a question survives a restart of the server", async ({ page, context, model, turnleaf, tools, watch }) => {
  watch.expectLostConnection();
  await openWithTools(page, turnleaf);
  await ask(page, model, "delete", "a.txt");
  await expect(question(page)).toBeVisible();
  await turnleaf.kill();
  await turnleaf.restart();
  const other = await context.newPage();
  await open(other, page.url());
  await decide(other, "Allow once").click();
  await answer(other, model);
  // The page that was open all the time finds out by itself.
  await expect(textOf(latestReply(page)).last()).toHaveText("Done.");
  expect(tools.ran).toEqual(["delete a.txt"]);
});

test("Enter in the message box or in the reason answers nothing, and nothing takes the focus", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await messageBox(page).focus();
  await ask(page, model, "delete", "a.txt");
  await expect(question(page)).toBeVisible();
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await messageBox(page).fill("typed meanwhile");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Enter");
  const reason = question(page).getByRole("textbox", { name: /Reason/ });
  await reason.fill("because");
  await reason.press("Enter");
  await expect(question(page)).toBeVisible();
  await expect(reason).toHaveValue(/^because/);
  await expect(messageBox(page)).toHaveValue("typed meanwhile");
  expect(tools.ran).toEqual([]);
  expect(model.asked).toBe(1);
});

test("a refusal reaches the model with its reason", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await ask(page, model, "delete", "a.txt");
  await question(page).getByRole("textbox", { name: /Reason/ }).fill("Keep that one, please.");
  await decide(page, "Deny").click();
  const request = await answer(page, model, "I kept it.");
  expect(toolMessages(request)[0]!.content).toContain("Keep that one, please.");
  await expect(cards(page).first()).toHaveAttribute("data-tool-status", "denied");
  await expect(cards(page).first()).toContainText("you declined");
  await expect(cards(page).first()).toContainText("Keep that one, please.");
  expect(tools.ran).toEqual([]);
});

test("what is allowed in a chat is not asked again there, and is in another", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await ask(page, model, "delete", "a.txt");
  await decide(page, "Allow in this chat").click();
  await answer(page, model);
  await ask(page, model, "delete", "b.txt");
  await answer(page, model, "Both.");
  expect(tools.ran).toEqual(["delete a.txt", "delete b.txt"]);
  await openWithTools(page, turnleaf, "Other");
  await ask(page, model, "delete", "c.txt");
  await expect(question(page)).toBeVisible();
  expect(tools.ran).toHaveLength(2);
});

test("with keys alone: F6 leads to the question, Tab to its buttons", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  const heard = await recorded(page);
  await messageBox(page).fill("Go");
  await page.keyboard.press("Enter");
  (await model.next()).ask([wire("delete"), "a.txt"]);
  await expect.poll(async () => (await heard()).filter((said) => said.startsWith("alert:"))).toEqual([
    "alert: Delete a file asks for permission. Press F6 to review.",
  ]);
  await page.keyboard.press("F6");
  await expect(question(page)).toBeFocused();
  await page.keyboard.press("Tab");
  await tabTo(page, decide(page, "Allow once"));
  await page.keyboard.press("Enter");
  await answer(page, model);
  expect(tools.ran).toEqual(["delete a.txt"]);
  // Nobody is left without a place.
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BODY");
  expect((await heard()).filter((said) => said.startsWith("alert:"))).toHaveLength(1);
});

test("two chats wait and work apart from each other, and the list says which needs somebody", async ({ page, model, turnleaf, tools }) => {
  const first = await openWithTools(page, turnleaf, "First");
  await ask(page, model, "delete", "one");
  await expect(question(page)).toBeVisible();
  await openWithTools(page, turnleaf, "Second");
  const link = page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /First/ });
  await expect(link).toContainText("needs you");
  await send(page, "Hello");
  (await model.next()).answer("Hi.");
  await expect(textOf(latestReply(page))).toHaveText("Hi.");
  await link.click();
  await expect(page).toHaveURL(new RegExp(first));
  await decide(page, "Allow once").click();
  await answer(page, model);
  await expect(link).not.toContainText("needs you");
  expect(tools.ran).toEqual(["delete one"]);
});

test("a chat that begins to wait elsewhere is marked without a reload", async ({ page, context, model, turnleaf }) => {
  const waiting = await chatWithTools(turnleaf, "Waits");
  await open(page);
  const link = page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: /Waits/ });
  await expect(link).toBeVisible();
  const other = await context.newPage();
  await open(other, `/c/${waiting}`);
  await ask(other, model, "delete", "x");
  await expect(question(other)).toBeVisible();
  await page.bringToFront();
  await expect(link).toContainText("needs you");
});

test("one of several running tools is stopped alone", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await send(page, "Go");
  (await model.next()).ask([wire("slow"), "one"], [wire("search"), "two"]);
  await decide(page, "Allow in this chat").click();
  const slow = cards(page).first();
  await expect(slow).toHaveAttribute("data-tool-status", "running");
  await expect(slow).toContainText("copying");
  const bar = slow.getByRole("progressbar", { name: "Progress" });
  await expect.poll(() => bar.evaluate((bar: HTMLProgressElement) => bar.max === 100 && bar.value > 0)).toBe(true);
  await expect(page.getByText("2 tools · 1 running")).toBeVisible();
  await slow.getByRole("button", { name: "Stop this tool" }).press("Enter");
  const request = await answer(page, model, "One was stopped.");
  expect(toolMessages(request)).toHaveLength(2);
  await expect(slow).toHaveAttribute("data-tool-status", "cancelled");
  // Whoever stopped it with keys stays at its card.
  await expect(slow.locator("summary").first()).toBeFocused();
  await expect(cards(page).nth(1)).toHaveAttribute("data-tool-status", "done");
  expect(tools.ran.sort()).toEqual(["search two", "slow one"]);
});

test("Stop ends a reply that waits for an answer", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await ask(page, model, "delete", "a.txt");
  await expect(question(page)).toBeVisible();
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(question(page)).toHaveCount(0);
  expect(tools.ran).toEqual([]);
  // The next message is one that every provider takes.
  await send(page, "And now?");
  const next = await model.next();
  expect(toolMessages(next.request)).toHaveLength(1);
  next.answer("Fine.");
  await expect(textOf(latestReply(page))).toHaveText("Fine.");
});

test("the same call again and again pauses, and Continue goes on", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await send(page, "Go");
  for (let n = 0; n < 4; n++) (await model.next()).ask([wire("search"), "same"]);
  const go = question(page).getByRole("button", { name: "Continue (25 more)" });
  await expect(go).toBeVisible();
  await page.reload();
  await hydrated(page);
  expect(tools.ran).toHaveLength(3);
  await go.click();
  await answer(page, model);
  await expect(question(page)).toHaveCount(0);
  expect(tools.ran).toHaveLength(4);
});

test("a pause is ended by Stop here", async ({ page, model, turnleaf }) => {
  await openWithTools(page, turnleaf);
  await send(page, "Go");
  for (let n = 0; n < 4; n++) (await model.next()).ask([wire("search"), "same"]);
  await question(page).getByRole("button", { name: "Stop here" }).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(question(page)).toHaveCount(0);
});

test("an answer that cannot be sent is said beside the question, and what was typed stays", async ({ page, model, turnleaf, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await openWithTools(page, turnleaf);
  await ask(page, model, "delete", "a.txt");
  const reason = question(page).getByRole("textbox", { name: /Reason/ });
  await reason.fill("no");
  await page.route("**/forms/call", (route) => route.abort());
  await decide(page, "Deny").click();
  await expect(question(page)).toContainText("This could not be sent. Try again.");
  await expect(reason).toHaveValue("no");
  await page.unroute("**/forms/call");
  await decide(page, "Deny").click();
  await answer(page, model);
});

test("results are a tree, an image, and what they are without script", async ({ page, model, turnleaf }) => {
  await openWithTools(page, turnleaf);
  await send(page, "Go");
  (await model.next()).ask([wire("tree"), "leaf"], [wire("picture"), "x"]);
  for (const left of [2, 1]) {
    await expect(question(page)).toHaveCount(left);
    await decide(page, "Allow once").first().click();
  }
  await answer(page, model);
  const [tree, picture] = [cards(page).first(), cards(page).nth(1)];
  await tree.locator("summary").first().click();
  await tree.locator(".json summary", { hasText: "items" }).press("Enter");
  await expect(tree.locator(".json")).toContainText("items: [1]");
  await picture.locator("summary").first().click();
  const image = picture.locator(".tool-result .picture img");
  await image.scrollIntoViewIfNeeded();
  await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
});

test("a result that is longer than a page shows is kept whole", async ({ page, model, turnleaf }) => {
  await openWithTools(page, turnleaf);
  await ask(page, model, "long", "x");
  await answer(page, model);
  const card = cards(page).first();
  await card.locator("summary").first().click();
  await expect(card).toContainText("Cut at 64 KB of 126 KB.");
  const address = await card.getByRole("link", { name: "Open in full" }).getAttribute("href");
  const whole = await (await page.request.get(address!)).text();
  expect(whole.endsWith("The end.") && whole.length).toBe(16 * 8_000 + 8);
});

test("a question inside closed reasoning is in view all the same", async ({ page, model, turnleaf }) => {
  await openWithTools(page, turnleaf);
  await send(page, "Go");
  const reply = await model.next();
  reply.think("Let me see.");
  await page.locator("details.reasoning > summary").click();
  await expect(page.locator("details.reasoning")).not.toHaveAttribute("open");
  reply.ask([wire("delete"), "a.txt"]);
  await expect(question(page)).toBeVisible();
  await expect(decide(page, "Allow once")).toBeVisible();
  await expect(page.locator("details.reasoning")).not.toHaveAttribute("open");
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`a question is in nobody's way, ${colorScheme}`, async ({ page, model, turnleaf }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await openWithTools(page, turnleaf);
    await send(page, "Go");
    const reply = await model.next();
    reply.think("Let me see.");
    reply.ask([wire("delete"), "report\u202egnp.exe"], [wire("search"), "x"]);
    await expect(question(page)).toContainText("1 hidden character");
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      expect.soft(await violations(page), `a question, ${width}`).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect.soft(overflow, `sideways scrolling at ${width}`).toBeLessThanOrEqual(0);
    }
    await decide(page, "Deny").click();
    await answer(page, model);
    for (const card of await cards(page).all()) await card.locator("summary").first().evaluate((summary: HTMLElement) => summary.click());
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      expect.soft(await violations(page), `cards, ${width}`).toEqual([]);
    }
  });
}

test("an answer behind a call in the reasoning closes it and moves nothing that is read", async ({ page, model, turnleaf, tools }) => {
  await openWithTools(page, turnleaf);
  await send(page, "First");
  (await model.next()).answer("A line of a long answer.\n\n".repeat(40));
  await expectStatus(latestReply(page), "complete");
  await send(page, "Go");
  const thinks = await model.next();
  thinks.think("Let me look it up.");
  thinks.ask([wire("search"), "rust"]);
  const answers = await model.next();
  const inside = latestReply(page).locator("details.reasoning [data-segment=tool]");
  await expect(inside).toHaveAttribute("data-tool-status", "done");
  const user = page.locator("article[data-role=user]").last();
  // What follows the end comes to rest first.
  let before = Number.NaN;
  await expect.poll(async () => {
    const last = before;
    await settled(page);
    before = (await user.boundingBox())!.y;
    return Math.abs(before - last);
  }).toBeLessThan(0.5);
  const moved = async () => Math.abs((await user.boundingBox())!.y - before);
  answers.say("Found it.");
  await expect(textOf(latestReply(page)).last()).toHaveText("Found it.");
  await expect(latestReply(page).locator("details.reasoning")).toHaveJSProperty("open", false);
  // Where a call stands depends on what came before it alone, so it stays where it was shown.
  await expect(inside).toHaveCount(1);
  await expect.poll(moved).toBeLessThanOrEqual(1);
  answers.end();
  await expectStatus(latestReply(page), "complete");
  await expect.poll(moved).toBeLessThanOrEqual(1);
  expect(tools.ran).toEqual(["search rust"]);
});
