// A long chat without script: its pages are links, and search is a form.
import { expect, test } from "../../support/fixtures.ts";
import { loadedTurnIds, turn } from "../../support/reader.ts";

test("older and newer turns are links, and all of the chat is reached", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(200);
  await page.goto(`/c/${long.chat}`);
  await expect.poll(() => loadedTurnIds(page)).toEqual(long.turns.slice(170));
  await page.getByRole("button", { name: "Load older messages" }).click();
  // The turn that was first is now last, and still there for continuity.
  await expect.poll(() => loadedTurnIds(page)).toEqual(long.turns.slice(141, 171));
  await expect(turn(page, long.turns[170]!)).toBeInViewport();
  await page.getByRole("button", { name: "Load newer messages" }).click();
  await expect.poll(() => loadedTurnIds(page)).toEqual(long.turns.slice(171));
  await page.goto(`/c/${long.chat}?at=${long.turns[0]}`);
  await expect.poll(async () => (await loadedTurnIds(page))[0]).toBe(long.turns[0]);
  await expect(page.getByRole("button", { name: "Load older messages" })).not.toBeAttached();
  await page.getByRole("link", { name: "Skip to the latest reply" }).press("Enter");
  await expect(turn(page, long.turns.at(-1)!)).toBeInViewport();
});

test("words are found by a form and lead to their turn", async ({ page, turnleaf }) => {
  const long = await turnleaf.plantLongChat(200);
  await page.goto(`/c/${long.chat}`);
  await page.getByRole("button", { name: "More actions for this chat" }).click();
  await page.getByRole("link", { name: "Find in chat" }).click();
  await page.getByRole("searchbox", { name: "Text to find" }).fill("QUESTION 3:");
  await page.getByRole("button", { name: "Find" }).click();
  await expect(page.getByText("1 message found.")).toBeVisible();
  await page.getByRole("list", { name: "Results" }).getByRole("link").click();
  await expect(turn(page, long.turns[6]!)).toBeInViewport();
});
