// A branch that is shared live, without script: a second person reads it while a reply is written, and no more once the
// share has ended. UX-54 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { chooseModel, expectStatus, latestReply, sendMessage, TEST_MODEL } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test.use({ withAccounts: true });

async function fillNameAndPassword(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Password", { exact: true }).fill("eleven lamps at noon");
}

test("a branch is shared live with a second person, who reads it as it grows until the share ends", async ({ page, browser, model, turnleaf, javaScriptEnabled }) => {
  await page.goto("/chats");
  await page.getByLabel("Setup code").fill(await turnleaf.setupCode());
  await fillNameAndPassword(page, "Ann");
  await page.getByRole("button", { name: "Set up" }).click();
  await expect(page).toHaveURL("/");
  await page.goto("/settings/users");
  await page.getByRole("button", { name: "Create invitation" }).click();
  const invitation = await page.getByLabel("Send this link to the person").inputValue();
  const bob = await (await browser.newContext({ baseURL: turnleaf.url, javaScriptEnabled })).newPage();
  await bob.goto(invitation);
  await fillNameAndPassword(bob, "Bob");
  await bob.getByRole("button", { name: "Create account" }).click();
  await expect(bob).toHaveURL("/");

  await page.goto("/");
  await chooseModel(page, TEST_MODEL);
  await sendMessage(page, "Which trees grow here?");
  (await model.nextReply()).finishWithText("Oaks and lindens.");
  await expectStatus(latestReply(page), "complete");
  const chat = page.url();
  await page.locator("#chat-share-menu-button").click();
  await page.getByRole("link", { name: "Share this path…" }).click();
  await page.getByLabel("People").fill("bob");
  await page.getByRole("button", { name: "Share live" }).click();
  await expect(page.getByText("The branch is shared live.")).toBeVisible();

  await bob.goto("/settings/shared-links");
  await bob.getByRole("list", { name: "Shared with me" }).getByRole("link").click();
  await expect(bob).toHaveURL(/\/shared\/branches\/[0-9a-f-]{36}$/);
  const address = bob.url();
  await expect(bob.getByText("Oaks and lindens.")).toBeVisible();
  await expect(bob.locator("script, form, button")).toHaveCount(0);

  // While a reply is written, the page reads it again by itself.
  await page.goto(chat);
  await sendMessage(page, "And in the park?");
  const second = await model.nextReply();
  second.sendText("Planes and ");
  await bob.getByRole("link", { name: "Refresh" }).click();
  await expect(bob.getByText("And in the park?")).toBeVisible();
  await expect(bob.getByText("A reply is being generated.")).toBeVisible();
  second.finishWithText("chestnuts.");
  await expect(bob.getByText("Planes and chestnuts.")).toBeVisible();
  await expect(bob.getByText("A reply is being generated.")).toHaveCount(0);

  await page.goto("/settings/shared-links");
  await page.getByRole("list", { name: "Live shares" }).getByRole("button", { name: /^End/ }).click();
  await expect(page.getByText("Live share ended.")).toBeVisible();
  expect((await bob.goto(address))?.status()).toBe(404);
  await expect(bob.getByRole("heading", { level: 1 })).toHaveText("Link not available");
  await bob.context().close();
});
