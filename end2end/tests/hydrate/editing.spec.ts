// Words that are being edited: what becomes of them when the reader goes elsewhere, and answers that come late.
import { expectStatus, hydrated, latestReply, messageBox, send, stopButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { editBox, hold, said, tabTo, talk, users } from "../../support/verbs.ts";

const edit = { name: "Edit your message" };

for (const call of ["retry_reply", "edit_turn"]) {
  test(`an answer of ${call} that comes after the reader has left the chat disturbs nobody`, async ({ page, model }) => {
    await talk(page, model, 1, "other ");
    await talk(page, model, 1);
    const held = await hold(page, call);
    const answered = page.waitForResponse(new RegExp(call));
    if (call === "retry_reply") {
      await latestReply(page).getByRole("button", { name: "Try again" }).click();
    } else {
      await messageBox(page).press("ArrowUp");
      await editBox(page).press("Enter");
    }
    (await model.next()).answer("late");
    await held.asked;
    await page.getByRole("link", { name: "other q1" }).click();
    await expect.poll(() => said(page)).toEqual(["other q1", "other a1"]);
    held.release();
    await (await answered).finished();
    await send(page, "after");
    (await model.next()).answer("still here");
    await expect.poll(() => said(page)).toEqual(["other q1", "other a1", "after", "still here"]);
    await expectStatus(latestReply(page), "complete");
    await page.getByRole("link", { name: "q1", exact: true }).click();
    await expect(textOf(latestReply(page))).toHaveText("late");
  });
}

test("the words of an edit survive another chat and a reload, and are gone after ten minutes", async ({ page, model }) => {
  await talk(page, model, 1, "other ");
  await talk(page, model, 1);
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill("half a thought");
  await page.getByRole("link", { name: "other q1" }).click();
  await expect.poll(() => said(page)).toEqual(["other q1", "other a1"]);
  await page.getByRole("link", { name: "q1", exact: true }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1"]);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("half a thought");
  await page.reload();
  await hydrated(page);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("half a thought");
  await editBox(page).press("Escape");
  await page.clock.setFixedTime(Date.now() + 11 * 60_000);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("q1");
});

test("a sent edit is not there again when its message is edited once more", async ({ page, model }) => {
  await talk(page, model, 1);
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill("other words");
  await editBox(page).press("Enter");
  (await model.next()).answer("b1");
  await expect.poll(() => said(page)).toEqual(["other words", "b1"]);
  await expectStatus(latestReply(page), "complete");
  await users(page).first().getByRole("button", { name: "Previous version" }).click();
  await expect.poll(() => said(page)).toEqual(["q1", "a1"]);
  await messageBox(page).press("ArrowUp");
  await expect(editBox(page)).toHaveValue("q1");
});

test("the answer to one edit leaves another edit open, with its words and the focus", async ({ page, model }) => {
  await talk(page, model, 2);
  const held = await hold(page, "edit_turn");
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill("second");
  await editBox(page).press("Enter");
  await expect(page.getByRole("form", edit).getByRole("button", { name: "Sending…" })).toBeVisible();
  await expect(editBox(page)).not.toBeEditable();
  (await model.next()).answer("b2");
  await held.asked;
  await editBox(page).press("Escape");
  await users(page).first().hover();
  await users(page).first().getByRole("button", edit).click();
  await editBox(page).fill("first");
  held.release();
  await expect(page.locator("[data-block-type=text]", { hasText: "b2" })).toBeVisible();
  await expect(editBox(page)).toBeFocused();
  await expect(editBox(page)).toHaveValue("first");
});

test("Esc leaves an edit from each of its parts, and the reply goes on", async ({ page, model }) => {
  await talk(page, model, 1);
  await send(page, "q2");
  const running = await model.next();
  running.say("one ");
  await expect(textOf(latestReply(page))).toHaveText("one");
  for (const part of ["Cancel", "Send"]) {
    await users(page).first().hover();
    await users(page).first().getByRole("button", edit).click();
    await expect(editBox(page)).toBeFocused();
    await tabTo(page, page.getByRole("form", edit).getByRole("button", { name: part }));
    await page.keyboard.press("Escape");
    await expect(editBox(page)).toHaveCount(0);
    await expect(users(page).first().getByRole("button", edit)).toBeFocused();
    await expect(stopButton(page)).toBeVisible();
  }
  running.answer("two");
  await expectStatus(latestReply(page), "complete");
  await expect(textOf(latestReply(page))).toHaveText("one two");
});

test("what is wrong with an edit belongs to its box and is said", async ({ page, model }) => {
  await talk(page, model, 1);
  await messageBox(page).press("ArrowUp");
  await editBox(page).fill(" ");
  await editBox(page).press("Enter");
  await expect(editBox(page)).toHaveAttribute("aria-invalid", "true");
  await expect(editBox(page)).toHaveAccessibleDescription("Write something first.");
  await expect(page.locator("#say")).toHaveText("Write something first.");
  await editBox(page).fill("words");
  await expect(editBox(page)).not.toHaveAttribute("aria-invalid");
  await expect(editBox(page)).toHaveAccessibleDescription("");
});
