// The page of all chats without script: selecting, changing many at once, and the results; unread chats and the page of
// notifications. UX-49 of docs/acceptance.md.
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
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Unpin", exact: true })).toBeVisible();
  await page.goto("/");
  await expect(page.locator("#chats").getByRole("list", { name: "Pinned" })).toContainText("Stones");
  await page.goto(`/c/${id}/settings`);
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await expect(page.getByRole("button", { name: "Unarchive" })).toBeVisible();
  await page.goto("/");
  await expect(page.locator("#chats")).not.toContainText("Stones");
});

test("selected chats are counted in a bar that stays in sight, also in the middle of a long list", async ({ page, turnleaf }) => {
  const headers = { "content-type": "application/json" };
  for (let at = 0; at < 60; at++) {
    await fetch(`${turnleaf.url}/api/chats`, { method: "POST", headers, body: JSON.stringify({ title: `Chat ${at}`, provider: "demo" }) });
  }
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto("/chats");
  const archive = page.getByRole("button", { name: "Archive", exact: true });
  await expect(page.locator(".chats-count")).toBeHidden();
  await expect(archive).not.toBeInViewport();
  const boxes = page.getByRole("checkbox");
  await boxes.nth(0).check();
  await boxes.nth(2).check();
  await expect(page.locator(".chats-count")).toBeInViewport();
  await expect(archive).toBeInViewport({ ratio: 1 });
  // The style sheet counts: the number is in no document, but in what the browser tells a screen reader.
  const devtools = await page.context().newCDPSession(page);
  const told = async () => {
    const { nodes } = await devtools.send("Accessibility.getFullAXTree");
    const texts = nodes.filter((node) => node.role?.value === "StaticText").map((node) => String(node.name?.value));
    const at = texts.findIndex((text) => text.trim() === "selected");
    return texts.slice(Math.max(at - 1, 0), at + 1).join("").trim();
  };
  expect(await told()).toBe("2 selected");
  await boxes.nth(2).uncheck();
  await boxes.nth(0).uncheck();
  await expect(page.locator(".chats-count")).toBeHidden();
  // A checkbox that gets the focus is not below the bar.
  await boxes.nth(0).check();
  for (let at = 0; at < 24; at++) await page.keyboard.press("Tab");
  const [bar, focused] = await page.evaluate(() => [
    document.querySelector(".chats-bar")!.getBoundingClientRect().top,
    document.activeElement!.getBoundingClientRect().bottom,
  ]);
  expect(focused).toBeLessThanOrEqual(bar + 1);
});

test("a reply that ended unseen is marked, listed and read without script", async ({ page, turnleaf, model }) => {
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const made = await fetch(`${turnleaf.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return (await made.json()) as { id: string };
  };
  const { id } = await post("/api/chats", { title: "Oak trees", provider: "openai", model: "test-model" });
  await post(`/api/chats/${id}/turns`, { text: "Go" });
  (await model.nextReply()).finishWithText("So.");
  const isUnread = async () => ((await (await fetch(`${turnleaf.url}/api/chats/${id}`)).json()) as { unread: boolean }).unread;
  await expect.poll(isUnread).toBe(true);
  const row = page.locator(`.chat-link[href="/c/${id}"]`);
  await page.goto("/");
  await expect(row).toContainText("new reply");
  await page.goto("/notifications");
  await page.getByRole("link", { name: "Oak trees" }).click();
  await expect(page.locator("article[data-role=assistant]")).toContainText("So.");
  expect(await isUnread()).toBe(false);
  await page.goto("/chats");
  await page.getByRole("checkbox", { name: "Select “Oak trees”" }).check();
  await page.getByRole("button", { name: "Mark as unread" }).click();
  await expect(page.getByText("Marked 1 chat as unread.")).toBeVisible();
  await page.goto("/notifications");
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(page.getByText("Everything is marked as read.")).toBeVisible();
  expect(await isUnread()).toBe(false);
  await page.goto("/");
  await expect(row).not.toContainText("new reply");
});
