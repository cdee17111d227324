// Attachments without script: the form sends files, each chip has a remove button, and images are links.
import { chooseModel, messageBox, sendMessage } from "../../support/chat.ts";
import { attachmentChips, pngFile, textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";

test("files are attached, taken away and sent by forms, and what is typed stays", async ({ page, model, watch }) => {
  watch.expect(/status of 422/);
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await messageBox(page).fill("Look at this");
  await page.getByLabel("Attach files").setInputFiles([textFile("notes.txt", "one"), pngFile("leaf.png"), textFile("empty.txt", "")]);
  await page.getByRole("button", { name: "Attach", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Some files could not be attached" })).toBeVisible();
  await expect(page.getByText("empty.txt")).toBeVisible();
  await page.getByRole("link", { name: "Back to your message" }).click();
  await expect(attachmentChips(page)).toHaveCount(2);
  await expect(messageBox(page)).toHaveValue("Look at this");
  await messageBox(page).fill("Look at that");
  await page.getByRole("button", { name: "Remove notes.txt" }).click();
  await expect(attachmentChips(page)).toHaveCount(1);
  await expect(messageBox(page)).toHaveValue("Look at that");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Look at that");
  (await model.nextReply()).finishWithText("Seen.");
  await page.goto(page.url());
  const user = page.locator("article[data-role=user]").first();
  const picture = user.locator("a.picture");
  await expect(picture.getByRole("img", { name: "leaf.png" })).toBeVisible();
  await expect(picture).toHaveAttribute("href", /^\/api\/blobs\/[0-9a-f]{64}$/);
  await expect(attachmentChips(page)).toHaveCount(0);
});

test("a message that is edited keeps what is ticked and takes new files, by a form", async ({ page, model }) => {
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await page.getByLabel("Attach files").setInputFiles([textFile("one.txt", "first file"), textFile("two.txt", "second file")]);
  await page.getByRole("button", { name: "Attach", exact: true }).click();
  await expect(attachmentChips(page)).toHaveCount(2);
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "Read them");
  (await model.nextReply()).finishWithText("Read.");
  await page.goto(page.url());
  await page.getByRole("button", { name: "Edit your message" }).first().click();
  await page.getByRole("checkbox", { name: "one.txt" }).uncheck();
  await expect(page.getByRole("checkbox", { name: "two.txt" })).toBeChecked();
  await page.getByLabel("Attach files").setInputFiles(textFile("three.txt", "third file"));
  await page.getByRole("button", { name: "Send" }).click();
  const reply = await model.nextReply();
  const content = JSON.stringify(reply.request.messages.at(-1).content);
  expect(content).toContain("second file");
  expect(content).toContain("third file");
  expect(content).not.toContain("first file");
  reply.finishWithText("Read again.");
  await page.goto(page.url());
  await expect(page.locator("article[data-role=user] .chip.reference")).toHaveText([/two.txt/, /three.txt/]);
});

test("a message that is edited says on its page what is wrong with a file, and keeps the words", async ({ page, model, watch }) => {
  watch.expect(/status of 422/);
  await page.goto("/");
  await chooseModel(page, "openai/test-model");
  await sendMessage(page, "q1");
  (await model.nextReply()).finishWithText("a1");
  await page.goto(page.url());
  await page.getByRole("button", { name: "Edit your message" }).first().click();
  await page.getByRole("textbox", { name: "Message" }).fill("q1 with a file");
  await page.getByLabel("Attach files").setInputFiles(textFile("empty.txt", ""));
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByText(/empty\.txt: /)).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("q1 with a file");
});
