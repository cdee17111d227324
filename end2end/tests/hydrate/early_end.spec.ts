// A reply that ended early shows the reason and can be continued (UX-16).
import { startChat, expectStatus, waitForHydration, latestReply, messageBox, replies, stopButton, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { userTurns } from "../../support/turn_actions.ts";

const LIMIT = "The reply reached the model's length limit.";

test("a reply that reached its length says so, and Continue asks for the rest without the draft", async ({ page, model }) => {
  await startChat(page, "Tell me everything");
  const reply = await model.nextReply();
  reply.sendText("Half of");
  await expect(textOf(latestReply(page))).toHaveText("Half of");
  await expect(page.getByText(LIMIT)).toHaveCount(0);
  reply.finish("length");
  await expectStatus(latestReply(page), "complete");
  await expect(latestReply(page).getByText(LIMIT)).toBeVisible();
  await page.reload();
  await waitForHydration(page);
  await expect(latestReply(page).getByText(LIMIT)).toBeVisible();
  await messageBox(page).fill("half a thought");
  await latestReply(page).getByRole("button", { name: "Continue" }).click();
  const rest = await model.nextReply();
  expect(rest.request.messages.map((message: any) => message.content)).toEqual(["Tell me everything", "Half of", "Continue"]);
  rest.finishWithText("it all.");
  await expect(replies(page)).toHaveCount(2);
  await expect(userTurns(page).last()).toContainText("Continue");
  await expect(textOf(latestReply(page))).toHaveText("it all.");
  await expect(messageBox(page)).toHaveValue("half a thought");
  // The reason stays; the button is gone, because the reply has been continued.
  await expect(page.getByText(LIMIT)).toHaveCount(1);
  await expect(page.getByRole("button", { name: "Continue" })).toHaveCount(0);
  await page.reload();
  await waitForHydration(page);
  await expect(messageBox(page)).toHaveValue("half a thought");
});

test("a reply that a filter ended says so", async ({ page, model }) => {
  await startChat(page, "Tell me something");
  const reply = await model.nextReply();
  reply.sendText("Once upon a");
  reply.finish("content_filter");
  await expectStatus(latestReply(page), "complete");
  await expect(latestReply(page).getByText("The provider's content filter ended the reply here.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Continue" })).toHaveCount(0);
});

test("Continue that is pressed twice continues once", async ({ page, model }) => {
  await startChat(page, "Tell me everything");
  const reply = await model.nextReply();
  reply.sendText("Half of");
  reply.finish("length");
  await expectStatus(latestReply(page), "complete");
  const requestIds: string[] = [];
  await page.route("**/api/page/continue_reply", async (route) => {
    requestIds.push(route.request().postDataJSON().client_request_id);
    await route.continue();
  });
  const button = latestReply(page).getByRole("button", { name: "Continue" });
  await button.evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  await expect.poll(() => requestIds.length).toBe(2);
  expect(new Set(requestIds).size).toBe(1);
  (await model.nextReply()).finishWithText("it all.");
  await expect(replies(page)).toHaveCount(2);
  await expectStatus(latestReply(page), "complete");
  await expect(userTurns(page)).toHaveCount(2);
  await page.reload();
  await expect(userTurns(page)).toHaveCount(2);
  expect(model.requestCount).toBe(2);
});

test("a stopped reply, and one that broke off, can be continued", async ({ page, model }) => {
  await startChat(page, "Tell me everything");
  const stopped = await model.nextReply();
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(page.getByRole("button", { name: "Continue" }), "there is nothing to continue").toHaveCount(0);
  await stopped.closed;
  await latestReply(page).getByRole("button", { name: "Retry", exact: true }).click();
  const half = await model.nextReply();
  half.sendText("Half of");
  await expect(textOf(latestReply(page))).toHaveText("Half of");
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await latestReply(page).getByRole("button", { name: "Continue" }).click();
  const rest = await model.nextReply();
  expect(rest.request.messages.map((message: any) => message.content)).toEqual(["Tell me everything", "Half of", "Continue"]);
  rest.sendText("it");
  await expect(textOf(latestReply(page))).toHaveText("it");
  rest.dropConnection();
  await expectStatus(latestReply(page), "error");
  await latestReply(page).getByRole("button", { name: "Continue" }).click();
  (await model.nextReply()).finishWithText("all.");
  await expect(replies(page)).toHaveCount(3);
  await expectStatus(latestReply(page), "complete");
  await expect(page.getByRole("button", { name: "Continue" })).toHaveCount(0);
});
