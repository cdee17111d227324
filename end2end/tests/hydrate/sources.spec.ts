// Sources of a reply: numbered citation marks in its text, and the list below it that they link to.
import type { Locator, Page } from "@playwright/test";

import { violations } from "../../support/axe.ts";
import { startChat, expectStatus, waitForHydration, latestReply, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import type { ModelServer } from "../../support/model_server.ts";
import { tabTo } from "../../support/turn_actions.ts";

const TEXT = "Water boils at 100 °C. Ice melts at 0 °C.";
const list = (page: Page): Locator => latestReply(page).locator("details.sources");
const mark = (page: Page, number: number): Locator => latestReply(page).getByRole("link", { name: `Source ${number}`, exact: true });
const source = (page: Page, number: number): Locator => list(page).getByRole("listitem").nth(number - 1);

/** Receives a reply with this many sources; its two sentences cite the first two. */
async function receiveCitedReply(page: Page, model: ModelServer, sources: number): Promise<void> {
  await startChat(page, "What about water?");
  const reply = await model.nextReply();
  reply.sendText(TEXT);
  await expect(textOf(latestReply(page))).toHaveText(TEXT);
  const ends = [22, TEXT.length];
  for (let n = 1; n <= sources; n++) {
    reply.sendCitation(`https://source-${n}.example/page`, `Page ${n}`, 0, ends[Math.min(n, 2) - 1]!);
  }
  reply.finish();
  await expectStatus(latestReply(page), "complete");
}

/** Asserts that the source is the target of the address and visible. */
async function expectAt(page: Page, number: number): Promise<void> {
  await expect(source(page, number)).toBeInViewport();
  expect(await source(page, number).evaluate((element) => element.matches(":target"))).toBe(true);
}

test("a reply lists its sources and marks them in its text, live and after a reload", async ({ page, model }) => {
  await receiveCitedReply(page, model, 2);
  for (const _ of ["live", "after a reload"]) {
    await expect(textOf(latestReply(page))).toHaveText("Water boils at 100 °C.[1] Ice melts at 0 °C.[2]");
    await expect(list(page).locator("summary")).toHaveText("2 sources");
    await expect(source(page, 1)).toHaveText("Page 1 source-1.example");
    const link = source(page, 1).getByRole("link");
    await expect(link).toHaveAttribute("href", "https://source-1.example/page");
    await expect(link).toHaveAttribute("rel", /noopener noreferrer/);
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await waitForHydration(page);
  }
});

test("a mark leads to its source with a click", async ({ page, model }) => {
  await receiveCitedReply(page, model, 2);
  await page.setViewportSize({ width: 900, height: 420 });
  const reply = await latestReply(page).getAttribute("data-turn-id");
  await mark(page, 2).click();
  await expect(page).toHaveURL(new RegExp(`#source-${reply}-2$`));
  await expectAt(page, 2);
  // The page was not loaded again.
  await expect(page.locator("html[data-hydrated]")).toBeAttached();
  await page.goBack();
  await expect(page).not.toHaveURL(/#source/);
  await expect(mark(page, 2)).toBeVisible();
});

test("with keys alone: Enter on a mark leads to its source, Tab continues from there", async ({ page, model }) => {
  await receiveCitedReply(page, model, 2);
  await latestReply(page).getByRole("heading", { level: 3 }).first().focus();
  await tabTo(page, mark(page, 1));
  await page.keyboard.press("Enter");
  await expectAt(page, 1);
  await page.keyboard.press("Tab");
  await expect(source(page, 1).getByRole("link")).toBeFocused();
});

test("a mark opens a long list that is closed", async ({ page, model }) => {
  await receiveCitedReply(page, model, 8);
  await expect(list(page).locator("summary")).toHaveText("8 sources");
  await expect(source(page, 1)).toBeHidden();
  await mark(page, 1).click();
  await expect(list(page)).toHaveAttribute("open");
  await expectAt(page, 1);
  // A list that the reader closed stays closed when more arrives.
  await list(page).locator("summary").press("Enter");
  await expect(source(page, 1)).toBeHidden();
});
