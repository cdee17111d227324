// Accessibility of overlays, as accessibility.spec.ts checks the screens: dialogs, menus, bars, notifications and
// popovers, in both themes and at each width that has them.
// UX-26, UX-28 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { branchModelChip, chooseModel, expectStatus, latestReply, messageBox, openPage, sendButton, TEST_MODEL } from "../../support/chat.ts";
import { waitForPaint } from "../../support/dom.ts";
import { expectAccessible } from "../../support/accessibility_checks.ts";
import { attachFiles, dispatchFiles, pngFile, textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";
import { askForStatus } from "../../support/live_channel.ts";
import { seedServer } from "../../support/seeded_server.ts";
import { editBox, menuButton, modelButton, userTurns } from "../../support/turn_actions.ts";

const WIDE = { width: 1440, height: 900 };

/** Opens an overlay, checks it, and closes it again. */
async function over(page: Page, name: string, within: string, openIt: () => Promise<void>, width?: number): Promise<void> {
  await page.setViewportSize({ width: width ?? 1440, height: 900 });
  await waitForPaint(page);
  await openIt();
  await expect(page.locator(within).first(), name).toBeVisible();
  await expectAccessible(page, name, { within, width });
  await page.setViewportSize(WIDE);
}

const escape = (page: Page) => page.keyboard.press("Escape");

test("dialogs of a chat", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  const { chat } = await seedServer(turnleaf, model);
  await openPage(page, `/c/${chat}`);
  const dialog = "dialog[open]";
  await over(page, "rename", dialog, () => page.locator(".chat-title button").click());
  await escape(page);
  await over(page, "shortcuts", dialog, () => page.keyboard.press("Control+/"));
  await escape(page);
  await over(page, "the palette", dialog, async () => {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("option").first().waitFor();
  });
  await page.getByRole("dialog").getByRole("combobox").fill("leaf");
  await page.getByRole("dialog").locator("mark").first().waitFor();
  await expectAccessible(page, "hits in the palette", { within: dialog });
  await escape(page);
  await escape(page);
  await over(page, "the models for another try", dialog, async () => {
    await modelButton(latestReply(page)).click();
    await page.getByRole("dialog").getByRole("option").first().waitFor();
  });
  await escape(page);
  await over(page, "the models for another branch", dialog, async () => {
    await branchModelChip(page).click();
    await page.getByRole("dialog").getByRole("option").first().waitFor();
  });
  await escape(page);
});

test("menus of a chat", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  const { chat } = await seedServer(turnleaf, model);
  await openPage(page, `/c/${chat}`);
  const popover = "[popover]:popover-open";
  await over(page, "the menu of a reply", popover, () => menuButton(latestReply(page)).click());
  await escape(page);
  await over(page, "the menu of a message", popover, () => menuButton(userTurns(page).last()).click());
  await escape(page);
  await over(page, "the menu of the chat", popover, () => page.getByRole("button", { name: "More actions for this chat" }).click());
  await escape(page);
  await over(page, "the Share menu", popover, () => page.getByRole("button", { name: "Share" }).click());
  await escape(page);
  // Overlays of the chat list, which is a drawer on narrow screens.
  const [wide, narrow] = [1440, [820, 390]];
  const chats = page.getByRole("navigation", { name: "Chats" });
  await over(page, "the menu of a chat in the list", popover, () => chats.getByRole("button", { name: /How leaves grow/ }).click(), wide);
  await escape(page);
  await over(page, "no notices", "#recent-notices", () => page.locator("#recent-notices-button").click(), wide);
  await escape(page);
  for (const width of narrow) {
    await over(page, "the drawer", "#chats", () => page.getByRole("button", { name: "Show chats" }).filter({ visible: true }).first().click(), width);
    await escape(page);
  }
});

test("bars and panels of a chat", async ({ page, turnleaf, model, context, watch }) => {
  test.setTimeout(120_000);
  watch.expectLostConnection();
  watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  const { chat } = await seedServer(turnleaf, model);
  await openPage(page, `/c/${chat}`);
  await over(page, "the bar that finds", "[role=search]", async () => {
    await page.keyboard.press("Control+Shift+F");
    await page.getByRole("searchbox", { name: "Text to find" }).fill("leaf");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("search", { name: "Find in chat" })).toContainText(/\d of \d/);
  });
  await escape(page);
  await over(page, "the tree beside", "#panel", async () => {
    await page.keyboard.press("Control+.");
    await expect(page.getByRole("tree")).toBeVisible();
  }, 1440);
  for (const width of [1000, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    expect.soft(await violations(page, "#panel", "structure"), `the tree beside, ${width}`).toEqual([]);
  }
  await page.getByRole("button", { name: "Close" }).and(page.locator("#panel button")).click();
  await page.route("**/api/page/glance_at_all", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), build: "another" } });
  });
  await over(page, "a new version", ".banner", async () => {
    await askForStatus(page);
    await expect(page.getByRole("button", { name: "Reload" })).toBeVisible();
  });
  await page.unroute("**/api/page/glance_at_all");
  await over(page, "offline", ".banner.offline", () => context.setOffline(true));
  await context.setOffline(false);
});

test("inline editors", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  const { chat } = await seedServer(turnleaf, model);
  await openPage(page, `/c/${chat}`);
  await over(page, "a message that is edited", "article[data-role=user] form.editor", async () => {
    await userTurns(page).last().hover();
    await userTurns(page).last().getByRole("button", { name: "Edit your message" }).click();
    await expect(editBox(page)).toBeFocused();
  });
  await page.getByRole("form", { name: "Edit your message" }).getByRole("button", { name: "Cancel" }).click();
  await over(page, "a reply that is edited", "article[data-role=assistant] form.editor", async () => {
    await menuButton(latestReply(page)).click();
    await page.getByRole("button", { name: "Edit as new version" }).click();
  });
  await page.getByRole("button", { name: "Cancel" }).filter({ visible: true }).first().click();
  const form = "form[aria-label=Message]";
  await over(page, "the menu behind @", form, async () => {
    await messageBox(page).pressSequentially("See @pl");
    await expect(page.getByRole("listbox", { name: "Documents" }).getByRole("option")).not.toHaveCount(0);
  });
  await messageBox(page).fill("");
  await over(page, "the menu behind /", form, async () => {
    await messageBox(page).pressSequentially("/");
    await expect(page.getByRole("listbox", { name: "Commands" }).getByRole("option")).not.toHaveCount(0);
  });
});

test("files, pictures and notes", async ({ page, model }) => {
  test.setTimeout(120_000);
  await openPage(page);
  await chooseModel(page, TEST_MODEL);
  await over(page, "files that are dragged over the page", ".drop-target", () => dispatchFiles(page, "main", "dragover", [textFile("more.md", "# More")]));
  await dispatchFiles(page, ".drop-target", "drop", [textFile("more.md", "# More")]);
  await attachFiles(page, pngFile("leaf.png"), textFile("notes.txt", "one\ntwo\n"));
  await expect(page.locator(".attached-item[data-state=ready]")).toHaveCount(3);
  await expectAccessible(page, "files beside a message", { within: "form[aria-label=Message]" });
  await sendButton(page).click();
  (await model.nextReply()).finishWithText("Seen.");
  await expectStatus(latestReply(page), "complete");
  await over(page, "a picture in full", "dialog[open]", () => userTurns(page).first().locator("a.picture").click());
  await escape(page);
  await over(page, "a note with Undo", ".toasts", async () => {
    await menuButton(userTurns(page).last()).click();
    await page.getByRole("button", { name: /^Delete this version/ }).click();
    await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
    // A toast stays while the pointer is over it.
    await page.locator(".toasts").getByRole("button", { name: "Undo" }).hover();
  });
});
