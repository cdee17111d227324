// From a PDF to the sent request with keys only, on each database: a paper is attached with an image, a vision model
// answers, a paragraph of the paper is quoted, the reply is found by a Chinese word, and the page of the sent request
// names version and range.
// UX-24 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { TEST_MODEL, chooseModel, expectStatus, waitForHydration, latestReply, messageBox, openPage } from "../../support/chat.ts";
import { pdfFile, pngFile, type TestFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";

const PARAGRAPH = ["Gradient descent follows the slope", "of the loss until it is flat."];

/** Presses Tab until the element has the focus; an element that Tab never reaches fails the test. */
async function tabTo(page: Page, wanted: Locator, key = "Tab"): Promise<void> {
  await expect(wanted).toBeAttached();
  for (let presses = 0; presses < 120; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reaches it: ${wanted}`);
}

async function attachWithKeys(page: Page, files: TestFile[]): Promise<void> {
  // The first listener makes the browser hand file choosers to the test, which takes a moment.
  page.on("filechooser", () => {});
  await messageBox(page).focus();
  await tabTo(page, page.getByLabel("Attach files"));
  const chooser = page.waitForEvent("filechooser");
  await page.keyboard.press("Enter");
  await (await chooser).setFiles(files);
}

for (const database of ["SQLite", "PostgreSQL"]) {
  test.describe(database, () => {
    if (database === "PostgreSQL") test.use({ onPostgres: 1 });

    test("a paper is read, quoted, found again and accounted for with keys alone", async ({ page, model, turnleaf }) => {
      test.setTimeout(120_000);
      await openPage(page);
      await chooseModel(page, TEST_MODEL);
      await attachWithKeys(page, [pdfFile("paper.pdf", ["A short paper", ...PARAGRAPH, "The end."]), pngFile("slope.png")]);
      await expect(page.locator(".attached-item[data-state=ready]")).toHaveCount(2);
      await messageBox(page).focus();
      await page.keyboard.type("What is this about?");
      await page.keyboard.press("Enter");
      const first = await model.nextReply();
      const content = JSON.stringify(first.request.messages.at(-1).content);
      expect(content).toContain(PARAGRAPH[0]);
      expect(content).toContain("data:image/png;base64,");
      first.finishWithText("这篇论文讲的是梯度下降。");
      await expectStatus(latestReply(page), "complete");
      const chat = new URL(page.url()).pathname;

      // Opens the paper at its paragraph, and returns with two quoted lines.
      const chip = page.locator("article[data-role=user] a.chip.reference").first();
      await tabTo(page, chip, "Shift+Tab");
      await page.keyboard.press("Enter");
      await expect(page).toHaveURL(/\/documents\//);
      const text = page.locator(".document");
      await expect(text).toContainText(PARAGRAPH[0]!);
      await tabTo(page, text);
      const line = await page.locator(".document [id^=L]", { hasText: PARAGRAPH[0]! }).getAttribute("id");
      for (let at = 1; at < Number(line!.slice(1)); at++) await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Shift+ArrowDown");
      await expect(page.locator("#quote-bar-said")).toContainText("selected");
      await page.keyboard.press("Control+Shift+L");
      await expect(page).toHaveURL(new RegExp(chat));
      await waitForHydration(page);
      await expect(messageBox(page)).toBeFocused();
      await page.keyboard.type("Explain these lines.");
      await page.keyboard.press("Enter");
      const second = await model.nextReply();
      const sent = JSON.stringify(second.request.messages.at(-1).content);
      expect(sent).toContain(PARAGRAPH[0]);
      expect(sent).not.toContain("The end.");
      second.finishWithText("It goes downhill.");
      await expectStatus(latestReply(page), "complete");

      // From another page the reply is found by a word of two characters.
      await page.goto("/");
      await waitForHydration(page);
      await page.keyboard.press("Control+k");
      const palette = page.getByRole("dialog", { name: "Search and commands" });
      await expect(palette.getByRole("combobox")).toBeFocused();
      await page.keyboard.type("梯度");
      const hit = palette.getByRole("group", { name: "Messages" }).getByRole("option");
      await expect(hit).toHaveCount(1);
      await expect(hit.locator("mark")).toHaveText("梯度");
      await page.keyboard.press("Enter");
      await expect(page).toHaveURL(new RegExp(`${chat}\\?at=`));
      await expect(page.locator("article[data-role=assistant]").first()).toBeInViewport();

      // Opens the request that was sent for the last reply.
      const reply = latestReply(page);
      await tabTo(page, reply.getByRole("button", { name: "More" }));
      await page.keyboard.press("Enter");
      const link = reply.getByRole("link", { name: "Request sent to the model" });
      await tabTo(page, link);
      const turn = (await link.getAttribute("href"))!.split("/").at(-2)!;
      await page.keyboard.press("Enter");
      await expect(page.getByRole("heading", { level: 2, name: "Request sent to the model" })).toBeVisible();
      const [generation] = await turnleaf.get(`/api/turns/${turn}/generations`);
      const [whole, picture, part] = generation.request_manifest.turns.flatMap((entry: any) => entry.attachments ?? []);
      expect([whole.shown_as, picture.shown_as, part.shown_as]).toEqual(["text", "image", "text"]);
      const [from, to] = part.selection as [number, number];
      const attached = page.locator(".sent-attached > li");
      await expect(attached).toHaveCount(3);
      await expect(attached.nth(0)).toContainText("UTC, whole document");
      await expect(attached.nth(1)).toContainText("as an image");
      await expect(attached.nth(2)).toContainText(`characters ${from + 1}–${to}`);
      await expect(attached.nth(2)).toContainText(part.sha256);
      const { content: paper } = await turnleaf.get(`/api/documents/${part.ref_id}?version=${part.version_timestamp}`);
      expect([...paper].slice(from, to).join("")).toContain(PARAGRAPH[0]);
      expect(await turnleaf.fsck()).toBe(0);
    });
  });
}
