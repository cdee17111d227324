// The page of all chats without script: selecting, changing many at once, and the results.
import { expect, test } from "../../support/fixtures.ts";

test("many chats are archived, unarchived and deleted at once", async ({ page, turnleaf }) => {
  const headers = { "content-type": "application/json" };
  for (const title of ["Oak trees", "Ash trees", "Stones"]) {
    await fetch(`${turnleaf.url}/api/chats`, { method: "POST", headers, body: JSON.stringify({ title, provider: "demo" }) });
  }
  await page.goto("/");
  const box = (title: string) => page.getByRole("checkbox", { name: `Select “${title}”` });
  await page.goto("/chats");
  await expect(page.getByRole("checkbox")).toHaveCount(3);
  await page.getByRole("searchbox", { name: /Title contains/ }).fill("TREES");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect(page.getByRole("checkbox")).toHaveCount(2);
  await page.getByRole("link", { name: "Select all on this page" }).click();
  await expect(box("Oak trees")).toBeChecked();
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await expect(page.getByText("Archived 2 chats.")).toBeVisible();
  await page.getByRole("link", { name: "Go to Archive" }).click();
  await expect(page.getByRole("checkbox")).toHaveCount(2);
  await box("Ash trees").check();
  await page.getByRole("button", { name: "Unarchive" }).click();
  await expect(page.getByText("Unarchived 1 chat.")).toBeVisible();
  await expect(page.getByRole("checkbox")).toHaveCount(1);
  await page.goto("/chats");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("No chats selected.")).toBeVisible();
  await box("Ash trees").check();
  await box("Stones").check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("Moved 2 chats to Trash.")).toBeVisible();
  await page.getByRole("link", { name: "Go to Trash" }).click();
  await page.getByRole("button", { name: "Restore Stones" }).click();
  await page.goto("/chats");
  await expect(box("Stones")).toBeVisible();
  await expect(page.getByRole("checkbox")).toHaveCount(1);
});

test("a chat is pinned and archived on the page of its settings", async ({ page, turnleaf }) => {
  const headers = { "content-type": "application/json" };
  const made = await fetch(`${turnleaf.url}/api/chats`, { method: "POST", headers, body: JSON.stringify({ title: "Stones", provider: "demo" }) });
  const { id } = (await made.json()) as { id: string };
  await page.goto(`/c/${id}/settings`);
  await page.getByRole("button", { name: "Pin", exact: true }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Unpin", exact: true })).toBeVisible();
  await page.goto("/");
  await expect(page.locator("#chats").getByRole("list", { name: "Pinned" })).toContainText("Stones");
  await page.goto(`/c/${id}/settings`);
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await expect(page.getByRole("button", { name: "Unarchive" })).toBeVisible();
  await page.goto("/");
  await expect(page.locator("#chats")).not.toContainText("Stones");
});
