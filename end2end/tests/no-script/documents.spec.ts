// A document without script: its lines, and the form that quotes them. Controls that need script are absent.
import { expect, test } from "../../support/fixtures.ts";

test("lines are quoted by a form, and the bar for selections is not there", async ({ page, turnleaf }) => {
  const answer = await fetch(`${turnleaf.url}/api/documents`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ title: "Plan", content: "one\ntwo\nthree" }),
  });
  const made = await answer.json() as { id: string };
  await page.goto(`/documents/${made.id}`);
  await expect(page.locator("#L2")).toHaveText("two");
  await expect(page.locator("#quote-bar")).toBeHidden();
  await page.getByRole("textbox", { name: "From line" }).fill("2");
  await page.getByRole("textbox", { name: "To line" }).fill("3");
  await page.getByRole("button", { name: "Quote in chat" }).click();
  await expect(page).toHaveURL(/\/$/);
});
