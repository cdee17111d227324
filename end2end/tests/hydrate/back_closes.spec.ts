// Back on a phone: it closes what lies over the page before it leaves the page, and adds no page to the history.
import { openPage, startChat, waitForHydration } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("Back closes the drawer, the palette and a dialog first, and then goes back", async ({ page, model }) => {
  await page.setViewportSize({ width: 390, height: 780 });
  await openPage(page);
  await startChat(page, "Hello");
  (await model.nextReply()).finishWithText("Hi");
  await page.waitForURL(/\/c\//);
  const chat = page.url();
  const entries = await page.evaluate(() => history.length);
  // As the browser's button does, but without waiting for a navigation that must not come.
  const back = () => page.evaluate(() => history.back());

  await page.locator(".sidebar-button").click();
  await expect(page.locator("#chats")).toBeVisible();
  await back();
  await expect(page.locator("#chats")).toBeHidden();
  expect(page.url()).toBe(chat);

  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toBeVisible();
  await back();
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(page.url()).toBe(chat);

  // It opens again: the page knows that it was closed.
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();

  // Nothing is open: Back leaves, with one press, and Forward returns.
  expect(await page.evaluate(() => history.length)).toBe(entries);
  await page.goBack();
  await expect(page).not.toHaveURL(chat);
  await page.goForward();
  await expect(page).toHaveURL(chat);
  await waitForHydration(page);
});
