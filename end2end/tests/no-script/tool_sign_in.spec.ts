// Signing in to a tool server without script: a form, a page that names the host, a link, and the way back.
import { expect, test } from "../../support/fixtures.ts";
import { SignInServer } from "../../support/sign_in_server.ts";

test("a person signs in to a tool server and out again", async ({ page, watch }) => {
  const server = await SignInServer.start();
  watch.expect(new RegExp(`request to ${server.url}`));
  await page.goto("/settings/tools#add");
  const form = page.locator("form[action='/forms/tools/add']");
  await form.getByLabel("Name", { exact: true }).fill("Protected");
  await form.getByLabel("Address").fill(`${server.url}/mcp`);
  await form.getByLabel("Local network").check();
  await form.getByRole("button", { name: "Test and save" }).click();
  const card = page.locator("[data-server=protected]");
  await expect(card.locator(".state")).toHaveText("Sign-in needed");

  await card.getByRole("button", { name: "Sign in Protected" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to a tool server" })).toBeVisible();
  await expect(page.locator(".leave-host")).toHaveText(server.host);
  await page.getByRole("link", { name: `Go to ${server.host}` }).click();
  await page.getByRole("link", { name: "Agree" }).click();
  await expect(page.getByText("Signed in to Protected. Working.")).toBeVisible();
  await expect(card.locator(".state")).toHaveText("Working");

  await card.getByRole("button", { name: "Sign out Protected" }).click();
  await expect(page.getByText("Signed out.")).toBeVisible();
  await server.stop();
});
