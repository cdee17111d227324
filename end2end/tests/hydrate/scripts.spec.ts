// Texts in other scripts than the interface: their language, their direction, and the parts that must not change
// direction.
// UX-29 of docs/acceptance.md.
import { violations } from "../../support/axe.ts";
import { startChat, expectStatus, latestReply, messageBox, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { userTurns } from "../../support/turn_actions.ts";

test("a reply in Arabic reads from the right, its code from the left, and nothing sticks out", async ({ page, model }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await startChat(page, "مرحبا، كيف أكتب برنامجا؟");
  const code = "fn main() { println!(\"a line that is long enough to need a box of its own that scrolls\"); }";
  (await model.nextReply()).finishWithText(`هذا برنامج قصير مع \`cargo run\`:\n\n\`\`\`rust\n${code}\n\`\`\`\n\n- أولا\n- ثانيا\n`);
  await expectStatus(latestReply(page), "complete");
  const text = textOf(latestReply(page));
  await expect(text).toHaveAttribute("lang", "ar");
  await expect(userTurns(page).first().locator(".said")).toHaveAttribute("lang", "ar");
  await messageBox(page).fill("شكرا `x = 1`");
  const direction = (selector: string) => page.locator(selector).last().evaluate((element) => getComputedStyle(element).direction);
  for (const selector of [".said", "[data-block-type=text] .md p", "[data-block-type=text] .md li", "#message"]) {
    expect.soft(await direction(selector), selector).toBe("rtl");
  }
  for (const selector of [".md p code", ".md pre"]) expect.soft(await direction(selector), selector).toBe("ltr");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect.soft(overflow, "sideways scrolling").toBeLessThanOrEqual(0);
  expect.soft(await violations(page)).toEqual([]);
});

test("Chinese in an English interface has its language, its lines and no slant", async ({ page, model }) => {
  await startChat(page, "Explain");
  const reply = await model.nextReply();
  reply.sendText("The answer");
  await expect(textOf(latestReply(page))).not.toHaveAttribute("lang");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await messageBox(page).fill("请用中文");
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("树会保留*每一个*版本，你可以随时**返回**。");
  await expect(textOf(latestReply(page))).toHaveAttribute("lang", "zh");
  await expectStatus(latestReply(page), "complete");
  const em = textOf(latestReply(page)).locator("em");
  await expect(em).toHaveCSS("font-style", "normal");
  expect(Number(await em.evaluate((element) => getComputedStyle(element).fontWeight))).toBeGreaterThan(400);
  await page.reload();
  await expect(textOf(latestReply(page))).toHaveAttribute("lang", "zh");
});

test("arrows of versions point the other way where lines begin on the right", async ({ page, model }) => {
  await startChat(page, "Choose");
  (await model.nextReply()).finishWithText("one");
  await expectStatus(latestReply(page), "complete");
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  (await model.nextReply()).finishWithText("two");
  await expect(textOf(latestReply(page))).toHaveText("two");
  const scale = () => latestReply(page).locator("[data-version=next] .icon").evaluate((icon) => getComputedStyle(icon).scale);
  expect(await scale()).toBe("none");
  await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
  expect(await scale()).toBe("-1 1");
});
