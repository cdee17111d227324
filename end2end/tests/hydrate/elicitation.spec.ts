// Questions of a tool server during a call, on the page: a form, its errors, a page to open, reload, Stop.
import { violations } from "../../support/axe.ts";
import { expectStatus, latestReply, messageBox, sendMessage, stopButton, waitForHydration } from "../../support/chat.ts";
import { expect } from "../../support/fixtures.ts";
import { approvalPrompt, decisionButton, openChatWithTools, test, toolCards, toolMessages, wireName } from "../../support/tools.ts";
import { holdResponses } from "../../support/turn_actions.ts";

test("a form is answered beside its call, and the answer goes to the server", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("ask"), "form"]);
  const question = approvalPrompt(page);
  await expect(question).toContainText("“Files” has a question for you");
  await expect(question).toContainText("Where to?");
  await expect(toolCards(page).first()).toHaveAttribute("data-tool-status", "asking");
  await expect(question.getByLabel("Size")).toHaveValue("l");
  expect(await violations(page)).toEqual([]);

  // The question survives a reload.
  await page.reload();
  await waitForHydration(page);
  await question.getByLabel("City").fill("Bergen");
  await decisionButton(page, "Send").click();
  const reply = await model.nextReply();
  expect(toolMessages(reply.request)[0]!.content).toContain("Bergen");
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(question).toHaveCount(0);
  await toolCards(page).first().locator("summary").first().click();
  await expect(toolCards(page).first()).toContainText("You answered");
  await expect(toolCards(page).first()).toContainText("City: Bergen");
});

test("an error names the field, and declining needs no valid form", async ({ page, model, turnleaf, watch }) => {
  watch.expect(/status of 400/);
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("ask"), "form"]);
  const question = approvalPrompt(page);
  await question.getByLabel("City").fill("x");
  // The browser's own check is skipped, so that the server answers.
  await question.locator("form").evaluate((form: HTMLFormElement) => (form.noValidate = true));
  await decisionButton(page, "Send").click();
  await expect(question.locator(".problem")).toContainText("City");
  await expect(question.getByLabel("City")).toHaveValue("x");
  await decisionButton(page, "Decline").click();
  const reply = await model.nextReply();
  expect(toolMessages(reply.request)[0]!.content).toContain("decline");
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
});

test("a page is shown with its host and opened only by its link", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("ask"), "page"]);
  const question = approvalPrompt(page);
  await expect(question).toContainText("Opens auth.example");
  await expect(question).toContainText("https://auth.example/start?x=1");
  await expect(question.getByRole("link", { name: "Open page" })).toHaveAttribute("href", /^\/leave\?turn=/);
  expect(page.context().pages()).toHaveLength(1);
  await decisionButton(page, "I’m done").click();
  const reply = await model.nextReply();
  expect(toolMessages(reply.request)[0]!.content).toContain("accept");
  reply.finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
});

test("Stop ends the question with its call", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("ask"), "form"]);
  await expect(approvalPrompt(page)).toBeVisible();
  await stopButton(page).click();
  await expectStatus(latestReply(page), "cancelled");
  await expect(approvalPrompt(page)).toHaveCount(0);
  await toolCards(page).first().locator("summary").first().click();
  await expect(toolCards(page).first()).toContainText("Expired");
});

test("a resource that a result links to is attached where it stands", async ({ page, model, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls([wireName("search"), "links"]);
  (await model.nextReply()).finishWithText("Done.");
  await expectStatus(latestReply(page), "complete");
  const card = toolCards(page).first();
  await card.locator("summary").first().click();
  await expect(card.getByRole("link", { name: "View Today" })).toHaveAttribute("href", /^\/insert\/view\?server=files/);
  await messageBox(page).fill("About this:");
  // Text that is saved before the page looks for changes does not lose what was attached.
  const looking = await holdResponses(page, "glance_at_chat");
  await looking.requested;
  const attached = page.waitForResponse("**/forms/insert/resource");
  await card.getByRole("button", { name: "Attach Today" }).click();
  expect((await attached).status()).toBe(204);
  const saved = page.waitForResponse((answer) => answer.url().includes("save_draft") && (answer.request().postData() ?? "").includes("and more"));
  await messageBox(page).press("End");
  await messageBox(page).pressSequentially(" and more");
  await saved;
  looking.release();
  await expect(page.locator(".attached-item")).toContainText("today");
  await expect(messageBox(page)).toHaveValue("About this: and more");
  await page.reload();
  await waitForHydration(page);
  await expect(page.locator(".attached-item")).toContainText("today");
  await expect(messageBox(page)).toHaveValue("About this: and more");
  expect(await violations(page)).toEqual([]);
});

test("resources are attached behind @, and prompts are inserted behind /", async ({ page, turnleaf }) => {
  await openChatWithTools(page, turnleaf);
  await messageBox(page).fill("@files:");
  await page.getByRole("option", { name: /Today/ }).click();
  await expect(page.locator(".attached-item")).toContainText("today");
  await expect(messageBox(page)).toHaveValue("");
  await messageBox(page).fill("/plan");
  await page.getByRole("option", { name: /Plan/ }).click();
  await expect(messageBox(page)).toHaveValue("Plan my day.");
});
