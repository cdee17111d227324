// Lists of server pages follow what is typed into their filter: chats, documents, the search, the models of a provider.
// UX-19, UX-26, UX-32 of docs/acceptance.md.
import { violations } from "../../support/axe.ts";
import { openPage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

import type { Page } from "@playwright/test";

const filter = (page: Page) => page.getByRole("searchbox", { name: "Title contains" });
const rows = (page: Page) => page.locator("#filtered li");
const status = (page: Page) => page.locator("#filtered > [role=status]");

test("chats are filtered while their title is typed, and the address and the focus stay", async ({ page }) => {
  for (const title of ["Oak trees", "Ash trees", "Stones"]) {
    expect((await page.request.post("/api/chats", { data: { title, provider: "demo" } })).status()).toBe(201);
  }
  await openPage(page, "/chats");
  await expect(page.getByRole("button", { name: "Show", exact: true })).toBeHidden();
  await expect(status(page)).toHaveText("3 chats");
  await page.getByRole("checkbox", { name: "Select “Stones”" }).check();
  await filter(page).click();
  await page.keyboard.type("TREE");
  await expect(rows(page)).toHaveText([/Ash trees/, /Oak trees/]);
  await expect(status(page)).toHaveText("2 chats");
  await expect(filter(page)).toBeFocused();
  await expect(page).toHaveURL(/\/chats\?q=TREE$/);
  // Chats that are out of sight are not selected.
  await expect(page.locator(".chats-count")).toBeHidden();
  // Times are those of the reader here, too.
  await expect(rows(page).first().locator("time")).not.toHaveText(/^\d{4}-\d\d-\d\d$/);
  await filter(page).fill("xyz");
  await expect(status(page)).toHaveText("No chat titles contain “xyz”.");
  await expect(rows(page)).toHaveCount(0);
  expect(await violations(page)).toEqual([]);
  await filter(page).fill("");
  await expect(rows(page)).toHaveCount(3);
  await expect(page).toHaveURL(/\/chats$/);
  await filter(page).fill("ash");
  await expect(rows(page)).toHaveCount(1);
  await page.reload();
  await expect(filter(page)).toHaveValue("ash");
  await expect(rows(page)).toHaveText([/Ash trees/]);
  await rows(page).first().click();
  await expect(page).toHaveURL(/\/c\//);
});

test("the letters of an input method filter when they are chosen", async ({ page }) => {
  for (const title of ["你好", "leaf"]) {
    expect((await page.request.post("/api/documents", { data: { title, content: "x" } })).status()).toBe(201);
  }
  await openPage(page, "/documents");
  await expect(rows(page)).toHaveCount(2);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  const compose = (letters: string, isOver: boolean) => filter(page).evaluate((input: HTMLInputElement, [letters, isOver]) => {
    input.value = letters;
    input.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
    if (isOver) input.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: letters }));
  }, [letters, isOver] as const);
  await compose("ni", false);
  const typed = await page.evaluate(() => performance.now());
  await page.waitForFunction((typed) => performance.now() > typed + 600, typed);
  expect(requested).toEqual([]);
  await compose("你", true);
  await expect(rows(page)).toHaveText([/你好/]);
  await expect(status(page)).toHaveText("1 document");
});

test("search and the models of a provider follow what is typed", async ({ page, turnleaf }) => {
  expect((await page.request.post("/api/documents", { data: { title: "Plan of a leaf", content: "Look up." } })).status()).toBe(201);
  await expect.poll(async () => (await turnleaf.get("/api/search?q=leaf")).hits.length).toBe(1);
  await openPage(page, "/search");
  await expect(page.getByRole("button", { name: "Search", exact: true })).toBeHidden();
  await page.getByRole("searchbox", { name: "Search for" }).fill("leaf");
  await expect(page.locator("#filtered mark")).toHaveText(["leaf"]);
  await expect(status(page)).toHaveText("1 result.");
  await expect(page).toHaveURL(/\/search\?q=leaf$/);
  await page.getByText("Filters").click();
  await page.getByRole("combobox", { name: "Search in" }).selectOption({ label: "Chat titles" });
  await expect(status(page)).toHaveText("No results for “leaf”.");
  await expect(page).toHaveURL(/in=chats/);

  const models = Array.from({ length: 14 }, (_, at) => `m-${at + 10}`);
  const box = { id: "box", name: "Box", api: "openai_chat", base_url: "https://box.example/v1", key: "k", models };
  expect((await page.request.post("/api/providers", { data: box })).status()).toBe(201);
  await openPage(page, "/settings/providers");
  const list = page.locator("#models-box");
  await list.locator("summary").click();
  await list.getByRole("searchbox").fill("m-1");
  await expect(list.getByRole("checkbox")).toHaveCount(10);
  await list.getByRole("checkbox", { name: "m-12" }).uncheck();
  await expect(list.locator("summary")).toContainText("Models (14, 1 hidden)");
  await expect(list.getByRole("checkbox")).toHaveCount(10);
});
