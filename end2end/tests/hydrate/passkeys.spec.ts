// Passkeys, with an authenticator that Chromium plays: one is added, signs in, and is removed. Without script there are
// none. UX-55 of docs/acceptance.md.
import type { CDPSession, Page } from "@playwright/test";

import { expect, test } from "../../support/fixtures.ts";

const PASSWORD = "eleven lamps at noon";

test.use({ withAccounts: true, onLocalhost: true });

/** Gives the browser an authenticator that knows its person without asking. */
async function addAuthenticator(page: Page): Promise<{ devtools: CDPSession; authenticatorId: string }> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { devtools, authenticatorId };
}

async function setUp(page: Page, code: string): Promise<void> {
  await page.goto("/setup");
  await page.getByLabel("Setup code").fill(code);
  await page.getByLabel("Name", { exact: true }).fill("Ann");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Set up" }).click();
  await expect(page).toHaveURL("/");
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto("/settings/profile");
  const panel = page.locator("#passkeys");
  await panel.getByLabel("Name").fill(name);
  await panel.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Create passkey" }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.goto("/settings/profile");
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await expect(page).toHaveURL("/sign-in");
}

test("a passkey is added, signs in, and is removed", async ({ page, turnleaf, watch }) => {
  watch.expect(/status of 409.*forms\/sign-in\/passkey/);
  const { devtools, authenticatorId } = await addAuthenticator(page);
  await setUp(page, await turnleaf.setupCode());
  await addPasskey(page, "My laptop");
  await expect(page.getByText("The passkey was added. You can sign in with it now.")).toBeVisible();
  const row = page.locator("#passkeys li");
  await expect(row).toContainText("My laptop");
  await expect(row).toContainText("Never used");
  const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId });
  expect(credentials.map((credential) => [credential.rpId, credential.isResidentCredential])).toEqual([["localhost", true]]);

  // The same authenticator makes no second one.
  await addPasskey(page, "Again");
  await expect(page.getByRole("alert")).toHaveText("No passkey was created. There may be one for your account here already.");

  await signOut(page);
  await page.goto("/sign-in?next=%2Fsettings%2Fprofile");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(page).toHaveURL("/settings/profile");
  await expect(page.getByText("You are signed in as Ann (Owner).")).toBeVisible();
  await expect(row).not.toContainText("Never used");

  await row.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("The passkey was removed here.")).toBeVisible();
  await expect(row).toHaveCount(0);
  // The authenticator has it still, and it signs nobody in.
  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(page.getByText("This passkey cannot be used here.")).toBeVisible();
  await devtools.send("WebAuthn.clearCredentials", { authenticatorId });
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("pages say nothing about passkeys that cannot be used", async ({ page, turnleaf }) => {
    await setUp(page, await turnleaf.setupCode());
    await page.goto("/settings/profile");
    await expect(page.getByText("passkey").filter({ visible: true })).toHaveCount(0);
    await signOut(page);
    await expect(page.getByRole("button")).toHaveText(["Sign in"]);
  });
});
