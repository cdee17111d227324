// The network goes, and what was on the page stays: UX-31.
import { begin, expectStatus, hydrated, latestReply, messageBox, open, send, sendButton } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("offline is said, what is written is kept, and goes to the server when the network is back", async ({ page, model, turnleaf, watch, context }) => {
  watch.expectLostConnection();
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await begin(page, "Before");
  (await model.next()).answer("Said.");
  await expectStatus(latestReply(page), "complete");
  const chat = new URL(page.url()).pathname.split("/").at(-1);
  const banner = page.getByText("Offline. What you write is kept.");
  await context.setOffline(true);
  await expect(banner).toBeVisible({ timeout: 2_000 });
  await messageBox(page).fill("Written offline");
  const note = page.getByText("Not saved on the server yet; kept in this browser.");
  await expect(note).toBeVisible();
  // Pictures of what is drawn only now are there too.
  await latestReply(page).getByRole("button", { name: "More" }).click();
  const picture = latestReply(page).locator(".menu-row use").first();
  await expect(picture).toBeVisible();
  expect(await picture.evaluate((use: SVGUseElement) => use.getBBox().width)).toBeGreaterThan(0);
  await page.keyboard.press("Escape");
  expect((await turnleaf.get(`/api/chats/${chat}`)).draft?.text ?? "").toBe("");

  await context.setOffline(false);
  await expect(banner).toBeHidden();
  await expect(note).toBeHidden();
  await expect(messageBox(page)).toHaveValue("Written offline");
  await expect(page.getByRole("navigation", { name: "Chats" }).getByText("Draft")).toBeVisible();
  await page.reload();
  await hydrated(page);
  await expect(messageBox(page)).toHaveValue("Written offline");
  await sendButton(page).click();
  (await model.next()).answer("Heard.");
  await expectStatus(latestReply(page), "complete");
});

test("what another device wrote meanwhile is offered, and not written over", async ({ page, browser, turnleaf, model, watch, context }) => {
  watch.expectLostConnection();
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await begin(page, "Before");
  (await model.next()).answer("Said.");
  await expectStatus(latestReply(page), "complete");
  await context.setOffline(true);
  await messageBox(page).fill("Written offline");
  const note = page.getByText("Not saved on the server yet; kept in this browser.");
  await expect(note).toBeVisible();
  const other = await (await browser.newContext({ baseURL: turnleaf.url })).newPage();
  await open(other, new URL(page.url()).pathname);
  const saved = other.waitForResponse((answer) => answer.url().includes("save_draft"));
  await messageBox(other).fill("A long draft from the phone");
  await saved;
  await context.setOffline(false);
  await expect(page.getByRole("button", { name: "Use it" })).toBeVisible();
  await expect(messageBox(page)).toHaveValue("Written offline");
  await other.reload();
  await hydrated(other);
  await expect(messageBox(other)).toHaveValue("A long draft from the phone");
  await page.getByRole("button", { name: "Use it" }).click();
  await expect(messageBox(page)).toHaveValue("A long draft from the phone");
  await other.context().close();
});

test("a draft that the server did not take is offered again without a word typed", async ({ page, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await open(page);
  await page.route("**/save_draft*", (route) => route.abort());
  await messageBox(page).fill("Once");
  const note = page.getByText("Not saved on the server yet; kept in this browser.");
  await expect(note).toBeVisible();
  await page.unroute("**/save_draft*");
  await expect(note).toBeHidden();
});

test("a draft that is typed and taken back while the server is away leaves no word of it", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await begin(page, "Before");
  (await model.next()).answer("Said.");
  await expectStatus(latestReply(page), "complete");
  await page.route("**/save_draft*", (route) => route.abort());
  await messageBox(page).fill("x");
  const note = page.getByText("Not saved on the server yet; kept in this browser.");
  await expect(note).toBeVisible();
  await messageBox(page).fill("");
  await expect(note).toBeHidden();
});

test("the chats stay where their list cannot be brought up to date, and it is tried again", async ({ page, model, watch }) => {
  watch.expect(/ERR_FAILED|Failed to fetch/);
  await begin(page, "First chat");
  (await model.next()).answer("Said.");
  await expectStatus(latestReply(page), "complete");
  const chats = page.getByRole("navigation", { name: "Chats" });
  await expect(chats.getByRole("link", { name: "First chat" })).toBeVisible();
  let refused = 0;
  await page.route("**/list_chats*", async (route) => {
    refused += 1;
    await route.abort();
  });
  await messageBox(page).fill("A draft brings the list up to date");
  await expect.poll(() => refused).toBeGreaterThan(0);
  await expect(chats.getByRole("link", { name: "First chat" })).toBeVisible();
  await expect(page.getByText("Could not load your chats.")).toHaveCount(0);
  await page.unroute("**/list_chats*");
  await expect(chats.getByText("Draft")).toBeVisible();
  await send(page, "On");
  (await model.next()).answer("Well.");
  await expectStatus(latestReply(page), "complete");
});
