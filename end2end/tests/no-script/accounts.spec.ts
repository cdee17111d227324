// Accounts without script: the setup, an invitation, signing in and out. UX-52 of docs/acceptance.md.
import type { Page } from "@playwright/test";

import { expect, test } from "../../support/fixtures.ts";

const PASSWORD = "eleven lamps at noon";

test.use({ withAccounts: true });

async function fillNameAndPassword(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Password", { exact: true }).fill(password);
}

test("a server is set up, a second person is invited, and people sign out and in", async ({ page, browser, turnleaf, javaScriptEnabled, watch }) => {
  watch.expect(/status of 422.*forms\/sign-in/);
  // Every page leads to the setup until it was done.
  await page.goto("/chats");
  await expect(page).toHaveURL("/setup");
  await page.getByLabel("Setup code").fill(await turnleaf.setupCode());
  await fillNameAndPassword(page, "Ann");
  await page.getByRole("button", { name: "Set up" }).click();
  await expect(page).toHaveURL("/");
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();

  await page.goto("/settings/users");
  await page.getByRole("button", { name: "Create invitation" }).click();
  const link = await page.getByLabel("Send this link to the person").inputValue();
  expect(link).toContain(`${turnleaf.url}/invite/`);

  const bob = await (await browser.newContext({ baseURL: turnleaf.url, javaScriptEnabled })).newPage();
  await bob.goto(link);
  await expect(bob.getByText("Your role will be: User.")).toBeVisible();
  await fillNameAndPassword(bob, "Bob");
  await bob.getByRole("button", { name: "Create account" }).click();
  await expect(bob).toHaveURL("/");
  await bob.goto("/settings/profile");
  await expect(bob.getByText("You are signed in as Bob (User).")).toBeVisible();
  await expect(bob.getByRole("link", { name: "Users" })).toHaveCount(0);
  expect((await bob.goto("/settings/users"))?.status()).toBe(403);
  expect((await bob.goto(link))?.status()).toBe(404);
  await page.goto("/settings/users");
  await expect(page.getByRole("heading", { name: "Bob" })).toBeVisible();

  // Every page has the button: in its head, and at the foot of the sidebar.
  await expect(page.getByRole("button", { name: "Sign out", exact: true })).toBeVisible();
  await page.goto("/");
  await page.locator("#sidebar").getByRole("button", { name: "Sign out", exact: true }).click();
  await expect(page).toHaveURL("/sign-in");
  await page.goto("/settings/appearance");
  await expect(page).toHaveURL("/sign-in?next=%2Fsettings%2Fappearance");
  await fillNameAndPassword(page, "ann", "eleven lamps at nine");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByText("The name or the password is wrong.")).toBeVisible();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("ann");
  await fillNameAndPassword(page, "ann");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page).toHaveURL("/settings/appearance");
});
