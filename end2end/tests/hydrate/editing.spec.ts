// Editing a message: the edited text when the reader navigates away, and late responses.
import { violations } from "../../support/axe.ts";
import { expectStatus, waitForHydration, latestReply, messageBox, sendMessage, stopButton, textOf } from "../../support/chat.ts";
import { attachFiles, attachmentChips, dispatchFiles, pngFile, textFile } from "../../support/files.ts";
import { expect, test } from "../../support/fixtures.ts";
import { editBox, holdResponses, visibleTexts, tabTo, holdConversation, userTurns } from "../../support/turn_actions.ts";

const edit = { name: "Edit your message" };

for (const call of ["retry_reply", "edit_turn"]) {
  test(`a late response of ${call} after the reader left the chat changes nothing`, async ({ page, model }) => {
    await holdConversation(page, model, 1, "other ");
    await holdConversation(page, model, 1);
    const held = await holdResponses(page, call);
    const answered = page.waitForResponse(new RegExp(call));
    if (call === "retry_reply") {
      await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
    } else {
      await messageBox(page).press("ArrowUp");
      await editBox(page).press("Enter");
    }
    (await model.nextReply()).finishWithText("late");
    await held.requested;
    await page.getByRole("link", { name: "other q1" }).click();
    await expect.poll(() => visibleTexts(page)).toEqual(["other q1", "other a1"]);
    held.release();
    await (await answered).finished();
    await sendMessage(page, "after");
    (await model.nextReply()).finishWithText("still here");
    await expect.poll(() => visibleTexts(page)).toEqual(["other q1", "other a1", "after", "still here"]);
    await expectStatus(latestReply(page), "complete");
    // The late reply ended unseen.
    await page.getByRole("link", { name: /^(new reply )?q1$/ }).click();
    await expect(textOf(latestReply(page))).toHaveText("late");
  });
}

test("the words of an edit survive another chat and a reload, and are gone after ten minutes", async ({ page, model }) => {
  await holdConversation(page, model, 1, "other ");
  await holdConversation(page, model, 1);
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill("half a thought");
  await page.getByRole("link", { name: "other q1" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["other q1", "other a1"]);
  await page.getByRole("link", { name: "q1", exact: true }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("half a thought");
  await page.reload();
  await waitForHydration(page);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("half a thought");
  await editBox(page).press("Escape");
  await page.clock.setFixedTime(Date.now() + 11 * 60_000);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("q1");
});

test("a sent edit is not there again when its message is edited once more", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill("other words");
  await editBox(page).press("Enter");
  (await model.nextReply()).finishWithText("b1");
  await expect.poll(() => visibleTexts(page)).toEqual(["other words", "b1"]);
  await expectStatus(latestReply(page), "complete");
  await userTurns(page).first().getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => visibleTexts(page)).toEqual(["q1", "a1"]);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("q1");
});

test("the answer to one edit leaves another edit open, with its words and the focus", async ({ page, model }) => {
  await holdConversation(page, model, 2);
  const held = await holdResponses(page, "edit_turn");
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill("second");
  await editBox(page).press("Enter");
  await expect(page.getByRole("form", edit).getByRole("button", { name: "Sending…" })).toBeVisible();
  await expect(editBox(page)).not.toBeEditable();
  (await model.nextReply()).finishWithText("b2");
  await held.requested;
  await editBox(page).press("Escape");
  await userTurns(page).first().hover();
  await userTurns(page).first().getByRole("button", edit).click();
  await editBox(page).fill("first");
  held.release();
  await expect(page.locator("[data-block-type=text]", { hasText: "b2" })).toBeVisible();
  await expect(editBox(page)).toBeFocused();
  await expect(editBox(page)).toHaveValue("first");
});

test("Esc leaves an edit from each of its parts, and the reply continues", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await sendMessage(page, "q2");
  const running = await model.nextReply();
  running.sendText("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  for (const part of ["Cancel", "Send"]) {
    await userTurns(page).first().hover();
    await userTurns(page).first().getByRole("button", edit).click();
    await expect(editBox(page)).toBeFocused();
    await tabTo(page, page.getByRole("form", edit).getByRole("button", { name: part }));
    await page.keyboard.press("Escape");
    await expect(editBox(page)).toHaveCount(0);
    await expect(userTurns(page).first().getByRole("button", edit)).toBeFocused();
    await expect(stopButton(page)).toBeVisible();
  }
  running.finishWithText("two");
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("one two");
});

test("an edit's error belongs to its box and is announced", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill(" ");
  await editBox(page).press("Enter");
  await expect(editBox(page)).toHaveAttribute("aria-invalid", "true");
  await expect(editBox(page)).toHaveAccessibleDescription("Enter a message first.");
  await expect(page.locator("#say")).toHaveText("Enter a message first.");
  await editBox(page).fill("words");
  await expect(editBox(page)).not.toHaveAttribute("aria-invalid");
  await expect(editBox(page)).toHaveAccessibleDescription("");
});

test("files go into the message that is edited, by button, paste and drop, and not into the next one", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await messageBox(page).press("ArrowUp");
  const form = page.getByRole("form", edit);
  await form.getByLabel("Attach files").setInputFiles(textFile("notes.txt", "one\ntwo\n"));
  await dispatchFiles(page, "form.editor textarea", "paste", [pngFile("image.png")]);
  await dispatchFiles(page, "main", "dragover", [textFile("more.md", "# More")]);
  await expect(page.getByText("Drop files to attach them to the message you're editing")).toBeVisible();
  await dispatchFiles(page, "main", "drop", [textFile("more.md", "# More")]);
  const added = form.getByRole("list", { name: "Attachments" }).getByRole("listitem");
  await expect(added).toHaveCount(3);
  await expect(form.locator("[data-state=ready]")).toHaveCount(3);
  await expect(attachmentChips(page)).toHaveCount(3);
  expect(await violations(page)).toEqual([]);
  await form.getByRole("button", { name: "Remove more.md" }).click();
  await expect(added).toHaveCount(2);
  // Leaving and reopening the editor keeps its attachments.
  await editBox(page).press("Escape");
  await expect(added).toHaveCount(0);
  await messageBox(page).press("ArrowUp");
  await expect(added).toHaveText([/notes.txt/, /image.png/]);
  await editBox(page).fill("q1 with files");
  await editBox(page).press("Enter");
  const reply = await model.nextReply();
  const content = JSON.stringify(reply.request.messages.at(-1).content);
  expect(content).toContain("one\\ntwo");
  expect(content).toContain("data:image/png;base64,");
  expect(content).not.toContain("# More");
  reply.finishWithText("Seen.");
  await expectStatus(latestReply(page), "complete");
  await expect(userTurns(page).first()).toContainText("notes.txt");
  // They are not attachments of the next message.
  await expect(attachmentChips(page)).toHaveCount(0);
});

test("what a message has attached is kept or taken away where it is edited, with keys alone", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  await attachFiles(page, textFile("one.txt", "first file"), textFile("two.txt", "second file"));
  await expect(page.locator(".composer [data-state=ready]")).toHaveCount(2);
  await sendMessage(page, "Read them");
  (await model.nextReply()).finishWithText("Read.");
  await expectStatus(latestReply(page), "complete");
  await messageBox(page).press("ArrowUp");
  const items = page.locator("form.editor .attached-item");
  await expect(items).toHaveText([/one.txt/, /two.txt/]);
  await tabTo(page, page.getByRole("button", { name: "Remove one.txt" }));
  await page.keyboard.press("Enter");
  await expect(items).toHaveText([/two.txt/]);
  await expect(page.locator("#say")).toHaveText("one.txt removed.");
  await expect(page.getByRole("button", { name: "Remove two.txt" })).toBeFocused();
  await editBox(page).press("Home");
  await editBox(page).press("Enter");
  const reply = await model.nextReply();
  const content = JSON.stringify(reply.request.messages.at(-1).content);
  expect(content).toContain("second file");
  expect(content).not.toContain("first file");
  reply.finishWithText("Read it.");
  await expect(textOf(latestReply(page))).toHaveText("Read it.");
  await expect(userTurns(page).last().locator(".chip.reference")).toHaveText([/two.txt/]);
});

test("an edit waits for its files, says so, and goes out by itself", async ({ page, model }) => {
  await holdConversation(page, model, 1);
  let go = () => {};
  const held = new Promise<void>((resolve) => { go = resolve; });
  await page.route("**/api/blobs*", async (route) => { await held; await route.continue(); });
  await messageBox(page).press("ArrowUp");
  const form = page.getByRole("form", edit);
  await form.getByLabel("Attach files").setInputFiles(textFile("slow.txt", "slow words"));
  await editBox(page).press("Enter");
  await expect(form.getByText("Uploading 1 of 1…")).toBeVisible();
  await expect(page.locator("#say")).toHaveText("Your message will be sent when uploads finish.");
  // Cancelling the wait keeps the file.
  await form.locator(".attached-note").getByRole("button", { name: "Cancel", exact: true }).click();
  await expect(form.getByText("Uploading 1 of 1…")).not.toBeAttached();
  await expect(form.locator(".attached-item")).toHaveCount(1);
  await editBox(page).press("Enter");
  await expect(form.getByText("Uploading 1 of 1…")).toBeVisible();
  expect(model.requestCount).toBe(1);
  go();
  const reply = await model.nextReply();
  expect(JSON.stringify(reply.request.messages.at(-1).content)).toContain("slow words");
  reply.finishWithText("Got it.");
  await expect(textOf(latestReply(page))).toHaveText("Got it.");
});
