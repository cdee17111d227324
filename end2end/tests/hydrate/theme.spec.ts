// The theme is part of the first HTML, so no change is visible.
import { openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a chosen theme is there before the first paint of the next page", async ({ page }) => {
  await openPage(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("dark theme");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  const html = await page.context().request.get("/").then((answer) => answer.text());
  expect(html).toContain('data-theme="dark"');
  // The browser's own frame has the theme colour, too, at once and on the next page, whatever the system theme is.
  const frame = () => page.locator("meta[name=theme-color]").evaluateAll((all) => all.map((meta) => meta.getAttribute("content")));
  expect(await frame()).toEqual(["#0a0c10", "#0a0c10"]);
  expect(html.match(/theme-color" content="#0a0c10"/g)).toHaveLength(2);
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
