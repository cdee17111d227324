// Confirmation of external links without script: a page asks before it opens a host that the person never named.
// Hidden characters in messages are counted.
import { latestReply, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a link to a host that was not named leads to a page that asks", async ({ page, model }) => {
  await page.goto("/");
  await sendMessage(page, "What is on docs.example.org?\u{e0061}\u{e0062}");
  (await model.nextReply()).finishWithText("Read [this](https://docs.example.org/a) or [that](https://evil.example/x?q=secret).\u200b");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  await expect(page.getByText("2 hidden characters")).toBeVisible();
  await expect(latestReply(page).getByText("1 hidden character", { exact: true })).toBeVisible();
  await expect(page.getByText("U+E0061 U+E0062")).toBeHidden();
  await page.getByText("2 hidden characters").click();
  await expect(page.getByText("U+E0061 U+E0062")).toBeVisible();
  const links = textOf(latestReply(page));
  await expect(links.getByRole("link", { name: "this" })).toHaveAttribute("href", "https://docs.example.org/a");
  const opened = page.context().waitForEvent("page");
  await links.getByRole("link", { name: "that" }).click();
  const asking = await opened;
  await expect(asking.getByRole("heading", { name: "Open this link?" })).toBeVisible();
  await expect(asking).toHaveURL(/\/leave\?turn=/);
  await expect(asking.getByText("https://evil.example/x?q=secret")).toBeVisible();
  const leads = asking.getByRole("link", { name: "Open link" });
  await expect(leads).toHaveAttribute("href", "https://evil.example/x?q=secret");
  await expect(leads).toHaveAttribute("rel", /noreferrer/);
  await asking.getByRole("link", { name: "Back to chat" }).click();
  await expect(latestReply(asking)).toBeVisible();
});
