// The web search in Settings without script: choosing an engine, the test, and removing it are forms.
import { expect, test } from "../../support/fixtures.ts";
import { SearchServer } from "../../support/search_server.ts";

test("an engine is chosen, tested and removed with forms", async ({ page, watch }) => {
  watch.expect(/status of 422.*forms\/tools\/search/);
  const search = await SearchServer.start([{ url: "https://found.example/", title: "Found", content: "Text." }]);
  await page.goto("/settings/tools");
  const panel = page.getByRole("region", { name: "Web search" });
  await expect(panel.locator(".state")).toHaveText("Not set up");
  await panel.getByRole("textbox", { name: /Address/ }).fill(search.url);
  await panel.getByRole("button", { name: "Test and save" }).click();
  // An address on this machine needs a switch; what was typed is kept.
  await expect(panel.locator(".problem")).toContainText("on this machine or the local network");
  await expect(panel.getByRole("textbox", { name: /Address/ })).toHaveValue(search.url);
  await panel.getByRole("checkbox", { name: "Local network" }).check();
  await panel.getByRole("button", { name: "Test and save" }).click();
  await expect(panel.locator(".state")).toHaveText("Working");
  await expect(panel.locator(".status-line")).toContainText("Results of the test: 1.");
  search.allowsJson = false;
  await panel.getByRole("button", { name: "Try it" }).click();
  await expect(panel.locator(".state")).toHaveText("Failing");
  await expect(panel.locator(".status-line")).toContainText("Add `json` to `search.formats`");
  expect(search.queries).toHaveLength(2);
  await panel.getByRole("button", { name: "Remove SearXNG" }).click();
  await expect(panel.locator(".state")).toHaveText("Not set up");
  await search.stop();
});

test("a key is asked for and never shown again", async ({ page, watch }) => {
  watch.expect(/status of 422.*forms\/tools\/search/);
  await page.goto("/settings/tools");
  const panel = page.getByRole("region", { name: "Web search" });
  await panel.getByRole("combobox", { name: "Search engine" }).selectOption("tavily");
  await panel.getByLabel(/API key/).fill("two words");
  await panel.getByRole("button", { name: "Test and save" }).click();
  await expect(panel.locator(".problem")).toContainText("without spaces");
  await expect(panel).toContainText("Enter the API key again.");
  await expect(panel.getByLabel(/API key/)).toHaveValue("");
  await expect(panel.getByRole("combobox", { name: "Search engine" })).toHaveValue("tavily");
  expect(await page.content()).not.toContain("two words");
});
