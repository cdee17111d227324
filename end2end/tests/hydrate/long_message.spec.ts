// A user's long message shows its beginning. Its box shows the rest, and so do searching and printing.
import { expectStatus, latestReply, openPage, startChat } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

const LINES = Array.from({ length: 4_000 }, (_, at) => (at === 3_000 ? "the needle is here" : `Line ${at}`));

test("a message of 4,000 lines collapses, opens where a word is found in it, and is printed whole", async ({ page, model, turnleaf }) => {
  await openPage(page);
  await startChat(page, "Hello");
  (await model.nextReply()).finishWithText("Hi");
  await expectStatus(latestReply(page), "complete");
  const chat = new URL(page.url()).pathname;
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ text: LINES.join("\n") });
  const answer = await fetch(`${turnleaf.url}/api${chat.replace("/c/", "/chats/")}/turns`, { method: "POST", headers, body });
  expect(answer.status).toBe(201);
  (await model.nextReply()).finishWithText("That was long.");
  await openPage(page, chat);
  const message = page.locator("article[data-role=user]").last();
  const said = message.locator(".said");
  const height = async () => (await said.boundingBox())!.height;
  const all = message.getByRole("checkbox", { name: "Show all (4,000 lines)" });

  await expect(all).not.toBeChecked();
  expect(await height()).toBeLessThan(700);
  expect(await said.textContent(), "the whole text is there to be copied and read").toContain("Line 3999");
  await all.check();
  expect(await height()).toBeGreaterThan(50_000);
  await all.uncheck();
  expect(await height()).toBeLessThan(700);

  await page.emulateMedia({ media: "print" });
  expect(await height()).toBeGreaterThan(50_000);
  await expect(all).toBeHidden();
  await page.emulateMedia({ media: null });
  expect(await height()).toBeLessThan(700);

  await page.keyboard.press("Control+Shift+F");
  const box = page.getByRole("searchbox", { name: "Text to find" });
  await box.fill("needle");
  await box.press("Enter");
  await expect(all).toBeChecked();
  await expect.poll(() => page.evaluate(() => {
    const [range] = [...((CSS as any).highlights.get("found") ?? [])] as Range[];
    const y = range?.getBoundingClientRect().top ?? -1;
    return y > 0 && y < innerHeight;
  })).toBe(true);
});

test("a short message has nothing to open", async ({ page }) => {
  await openPage(page);
  await startChat(page, "One\nTwo");
  await expect(page.locator("article[data-role=user] .said")).toHaveText("One\nTwo");
  await expect(page.locator(".said-more")).toHaveCount(0);
});
