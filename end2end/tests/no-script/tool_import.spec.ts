// Tool servers of other programs, imported by forms only.
// UX-32 of docs/acceptance.md.
import { expect, test } from "../../support/fixtures.ts";

const SECRET = "canary-token-of-this-test-91cd";

const SETTINGS = `{
  // As another program writes it.
  "mcpServers": {
    "Maps": { "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer ${SECRET}" }, "autoApprove": ["route"], },
    "Notes": { "command": "npx", "args": ["-y", "notes"], "env": { "TOKEN": "${SECRET}" } },
  },
}`;

test("pasted servers are shown before they are added, and secrets never again", async ({ page, watch }) => {
  watch.expect(/status of 422/);
  await page.goto("/settings/tools");
  await page.getByRole("link", { name: "Import from another program" }).click();
  const field = page.getByRole("textbox", { name: /Settings as JSON/ });
  await field.fill("{ nothing");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText(/not valid JSON \(line 1\)/)).toBeVisible();
  await expect(field).toHaveValue("{ nothing");
  await field.fill(SETTINGS);
  await page.getByRole("button", { name: "Preview" }).click();

  const row = (name: string) => page.locator("[data-import]").filter({ hasText: name }).first();
  await expect(row("Maps")).toContainText("Will be added. Its tools will be named maps/tool.");
  await expect(row("Maps")).toContainText("autoApprove");
  await expect(row("Notes")).toContainText("Left out:");
  expect(await page.content()).not.toContain(SECRET);

  await page.getByRole("checkbox", { name: "Maps" }).uncheck();
  await page.getByRole("button", { name: "Add selected servers" }).click();
  await expect(page.getByRole("status")).toHaveText("Select at least one server.");
  await page.getByRole("checkbox", { name: "Maps" }).check();
  await page.getByRole("button", { name: "Add selected servers" }).click();
  await expect(page.getByRole("status")).toHaveText("Imported.");
  const card = page.getByRole("article", { name: "Maps" });
  await expect(card).toContainText("http://127.0.0.1:9/mcp");
  await expect(card).toContainText("authorization");
  expect(await page.content()).not.toContain(SECRET);
});

test("a file is imported like pasted text", async ({ page }) => {
  await page.goto("/settings/tools/import");
  const buffer = Buffer.from(SETTINGS);
  await page.getByLabel("File").setInputFiles({ name: "mcp.json", mimeType: "application/json", buffer });
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("checkbox", { name: "Maps" })).toBeChecked();
});
