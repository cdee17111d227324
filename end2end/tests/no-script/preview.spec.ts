// Previews without script: a link to a page with the sandboxed document, its source and its file.
// UX-32, UX-46 of docs/acceptance.md.
import { chooseModel, latestReply, sendMessage } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

test("a preview has a page of its own", async ({ page, model, watch }) => {
  watch.expect(/script execution|sandbox|content policy: |Content Security Policy/i);
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Make a page");
  (await model.nextReply()).finishWithText("```html\n<h1>Made</h1><script>document.title = 'x'</script>\n```\n");
  await expect(async () => {
    await page.reload();
    await expect(latestReply(page)).toHaveAttribute("data-status", "complete", { timeout: 200 });
  }).toPass();
  const address = await latestReply(page).getByRole("link", { name: "Preview" }).getAttribute("href");
  await page.goto(address!);
  await expect(page.getByRole("heading", { level: 1, name: "Preview: web page" })).toBeVisible();
  await expect(page.frameLocator("iframe.sandboxed-frame").getByRole("heading", { name: "Made" })).toBeVisible();
  await expect(page.locator("iframe.sandboxed-frame")).toHaveAttribute("sandbox", "allow-scripts");
  await page.getByRole("link", { name: "Source" }).click();
  await expect(page.locator(".preview-source")).toContainText("<h1>Made</h1>");
  await page.getByRole("link", { name: "Back to chat" }).click();
  await expect(latestReply(page)).toBeVisible();
});
