// Actions on a turn with keys only.
import { expectStatus, waitForHydration, latestReply, messageBox, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { chooseByKeys, editBox, turnHeading, modelButton, visibleTexts, tabTo, holdConversation, userTurns, versionSwitcher } from "../../support/turn_actions.ts";

test("another model tries again by keys", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await turnHeading(latestReply(page)).focus();
  await tabTo(page, modelButton(latestReply(page)));
  await page.keyboard.press("Space");
  await expect(page.getByRole("dialog").getByRole("combobox", { name: "Find a model" })).toBeFocused();
  await page.keyboard.type("tour");
  await expect(page.getByRole("dialog").getByRole("option")).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(page.getByText(/^switched to [^·]+$/)).toBeVisible();
  await expectStatus(latestReply(page), "complete");
  await expect(versionSwitcher(latestReply(page))).toContainText("2/2");
});

test("Edit as new version by keys", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await chooseByKeys(page, latestReply(page), page.getByRole("button", { name: "Edit as new version" }));
  await expect(page.getByRole("textbox", { name: "Edit as new version" })).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Mine");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Save as new version" })).toBeFocused();
  await page.keyboard.press("Space");
  await expect(textOf(latestReply(page))).toHaveText("Mine");
  await expect(latestReply(page)).toContainText("Edited by you");
  await expect(turnHeading(latestReply(page))).toBeFocused();
  expect(model.requestCount).toBe(1);
});

test("Copy to new chat by keys", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  const origin = new URL(page.url()).pathname;
  await chooseByKeys(page, replies(page).first(), page.getByRole("button", { name: "Copy to new chat" }));
  await expect.poll(() => new URL(page.url()).pathname).not.toBe(origin);
  await waitForHydration(page);
  expect(await visibleTexts(page)).toEqual(["q1", "a1"]);
  await tabTo(page, page.getByRole("link", { name: "Copied from “q1”" }));
  await page.keyboard.press("Enter");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);
});

test("Branch by keys: cancelled, and continued", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  await turnHeading(replies(page).first()).focus();
  await tabTo(page, replies(page).first().getByRole("button", { name: "Branch", exact: true }));
  await page.keyboard.press("Space");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await tabTo(page, page.getByRole("button", { name: "Cancel" }));
  await page.keyboard.press("Enter");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "q2", "a2"]);

  await turnHeading(replies(page).first()).focus();
  await page.keyboard.press("b");
  await expect(messageBox(page)).toBeFocused();
  await page.keyboard.type("Another way");
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("fork");
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1", "Another way", "fork"]);
});

test("an edit is written and sent by keys", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  await turnHeading(latestReply(page)).focus();
  for (let ups = 0; ups < 3; ups++) await page.keyboard.press("Alt+ArrowUp");
  await expect(turnHeading(userTurns(page).first())).toBeFocused();
  await page.keyboard.press("e");
  await expect(editBox(page)).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("other");
  // Tab passes the files and "Cancel".
  for (let tabs = 0; tabs < 3; tabs++) await page.keyboard.press("Tab");
  await expect(page.getByRole("form", { name: "Edit your message" }).getByRole("button", { name: "Send" })).toBeFocused();
  await page.keyboard.press("Enter");
  (await model.nextReply()).finishWithText("b1");
  await expect.poll(() => visibleTexts(page)).toEqual(["other", "b1"]);
  await expect(turnHeading(userTurns(page).first())).toBeFocused();
  await expect(versionSwitcher(userTurns(page).first())).toContainText("2/2");
});

test("o opens and closes the reasoning of the turn that has the focus", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await turnHeading(latestReply(page)).focus();
  await page.keyboard.press("r");
  const reply = await model.nextReply();
  reply.sendReasoning("because");
  reply.sendText("so");
  reply.sendReasoning("moreover");
  reply.finishWithText("thus");
  await expectStatus(latestReply(page), "complete");
  const panels = latestReply(page).locator("details.reasoning");
  const open = latestReply(page).locator("details.reasoning[open]");
  await expect(panels).toHaveCount(2);
  await expect(open).toHaveCount(0);
  await turnHeading(latestReply(page)).focus();
  await page.keyboard.press("o");
  await expect(open).toHaveCount(2);
  // While one panel is closed, the key opens all.
  await panels.first().locator("summary").first().click();
  await expect(open).toHaveCount(1);
  await turnHeading(latestReply(page)).focus();
  await page.keyboard.press("o");
  await expect(open).toHaveCount(2);
  await page.keyboard.press("o");
  await expect(open).toHaveCount(0);
  // In a text box the key is a letter.
  await messageBox(page).press("o");
  await expect(messageBox(page)).toHaveValue("o");
  await expect(open).toHaveCount(0);
  await page.keyboard.press("Control+/");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText("show or hide its reasoning");
});

test("the link to a turn is copied, and the reader stays where they read", async ({ page, model, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await holdConversation(page, model, 1);
  await turnHeading(latestReply(page)).focus();
  await page.keyboard.press("r");
  (await model.nextReply()).finishWithText("line\n\n".repeat(80));
  await expectStatus(latestReply(page), "complete");
  const link = page.getByRole("link", { name: "Link to this message" });
  // Retried, because the end of the reply may have just rendered the button again.
  await latestReply(page).getByRole("button", { name: "More", exact: true }).hover();
  await latestReply(page).getByRole("button", { name: "More", exact: true }).click();
  const before = await page.evaluate(() => scrollY);
  expect(before).toBeGreaterThan(0);
  await link.click();
  await expect(link).toBeHidden();
  await expect(page.locator("#say")).toHaveText("Copied.");
  const id = await latestReply(page).getAttribute("data-turn-id");
  await expect(page).toHaveURL(new RegExp(`\\?at=${id}$`));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
  expect(Math.abs((await page.evaluate(() => scrollY)) - before)).toBeLessThanOrEqual(1);
});
