// The tree without script: links and forms.
// UX-32 and UX-47 of docs/acceptance.md.
import { expect, test } from "../../support/fixtures.ts";
import { plantTree } from "../../support/tree.ts";

test("the outline folds, finds, shows a turn and opens it", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 5, 2);
  await page.goto(`/c/${planted.chat}?at=${planted.trunk[4]}`);
  await page.locator("#tree-button").click();
  // The whole page is loaded, and not only its address.
  await page.waitForURL(/\/tree/);
  const rows = page.getByRole("treeitem");
  const all = await rows.count();
  expect(all).toBeGreaterThan(5);
  await page.getByRole("button", { name: "Hide messages below" }).first().click();
  await expect(rows).toHaveCount(1);
  await page.getByRole("button", { name: "Show messages below" }).first().click();
  await expect(rows).toHaveCount(all);
  await page.getByRole("searchbox", { name: "Messages containing" }).fill("twig 1");
  await page.getByRole("button", { name: "Find" }).click();
  await expect(page.getByText("1 match in 14 messages")).toBeVisible();
  const twig = page.getByRole("treeitem", { name: /^You: Twig 1/ });
  await twig.getByRole("button", { name: "Message actions" }).click();
  const card = page.getByRole("region", { name: "Selected message" });
  await card.getByRole("textbox", { name: "Name" }).fill("my way");
  await card.getByRole("button", { name: "Save: Name" }).click();
  await page.getByRole("treeitem", { name: /^You: Twig 1/ }).getByRole("link").click();
  await expect(page.locator("article[data-role=user]").last()).toContainText("Twig 1");
  await expect(page.locator(".branch-chip")).toContainText("my way");
});

test("the list of branches pins and labels, and the drawing grows and leads to a turn", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 3, 2);
  await page.goto(`/c/${planted.chat}`);
  await page.locator(".branch-chip").click();
  const branches = page.locator("section.branch");
  await expect(branches).toHaveCount(3);
  await expect(branches.first()).toContainText("main");
  const menu = (at: number) => branches.nth(at).getByRole("button", { name: "Branch actions" });
  await menu(2).click();
  await branches.nth(2).getByRole("textbox", { name: "Label" }).fill("important");
  await branches.nth(2).getByRole("button", { name: "Save: Label" }).click();
  await expect(page.getByText("Saved.", { exact: true })).toBeVisible();
  await menu(2).click();
  await branches.nth(2).getByRole("button", { name: "Pin" }).click();
  await expect(branches.first()).toContainText("important");

  await page.getByRole("link", { name: "Diagram" }).click();
  const boxes = page.locator("svg rect");
  await expect(boxes.first()).toBeVisible();
  const before = (await boxes.first().boundingBox())!.width;
  await page.getByRole("link", { name: "200%" }).click();
  expect((await boxes.first().boundingBox())!.width).toBeCloseTo(before * 2, 0);
  await page.getByRole("link", { name: /^You: Twig 0/ }).click();
  await expect(page.locator("article[data-role=user]").last()).toContainText("Twig 0");
});

test("a branch is compared, deleted and restored", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 3, 2);
  await page.goto(`/c/${planted.chat}?at=${planted.trunk[2]}`);
  await page.goto(`/c/${planted.chat}/branches`);
  const branches = page.locator("section.branch");
  await expect(branches).toHaveCount(3);
  // Everything is below the first branch: deleting it would mean deleting the chat.
  await expect(branches.first().locator("form[action='/forms/delete-branch']")).toHaveCount(0);
  const menu = (at: number) => branches.nth(at).getByRole("button", { name: "Branch actions" });
  await menu(2).click();
  await branches.nth(2).getByRole("link", { name: "Compare with current" }).click();
  await expect(page.getByRole("heading", { name: "Compare branches" })).toBeVisible();
  await page.goBack();
  await menu(2).click();
  await branches.nth(2).getByRole("button", { name: "Delete this branch (2 messages)" }).click();
  await expect(page.getByText("Deleted 2 messages.")).toBeVisible();
  await page.goto(`/c/${planted.chat}/branches`);
  await expect(branches).toHaveCount(2);
  await page.goBack();
  await page.getByRole("button", { name: "Undo" }).click();
  // The request is answered before the next page is asked for.
  await expect(page.getByText("Deleted 2 messages.")).toHaveCount(0);
  await page.goto(`/c/${planted.chat}/branches`);
  await expect(branches).toHaveCount(3);
});

test("all branches but one are deleted", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 3, 2);
  await page.goto(`/c/${planted.chat}?at=${planted.trunk[2]}`);
  await page.goto(`/c/${planted.chat}/branches`);
  const branches = page.locator("section.branch");
  await expect(branches).toHaveCount(3);
  await branches.nth(1).getByRole("button", { name: "Branch actions" }).click();
  await branches.nth(1).getByRole("button", { name: /^Delete all other branches/ }).click();
  await expect(page.getByText(/^Deleted \d+ messages\.$/)).toBeVisible();
  await page.goto(`/c/${planted.chat}/branches`);
  await expect(branches).toHaveCount(2);
  await expect(page.locator("form[action='/forms/prune']")).toHaveCount(0);
});

test("the card of the tree deletes a turn", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 3, 2);
  await page.goto(`/c/${planted.chat}/tree?at=${planted.trunk[2]}`);
  await page.getByRole("treeitem", { name: /^You: Twig 1/ }).getByRole("button", { name: "Message actions" }).click();
  await page.getByRole("button", { name: "Branch actions" }).click();
  await page.getByRole("button", { name: "Delete this version and 1 message below" }).click();
  await expect(page.getByText("Deleted 2 messages.")).toBeVisible();
});

test("nothing that the drawing writes leaves its box, however wide its letters are", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 2, 1);
  const headers = { "content-type": "application/json" };
  const send = async (text: string) => {
    const body = JSON.stringify({ text, prev_turn_id: planted.trunk[0] });
    const answer = await fetch(`${turnleaf.url}/api/chats/${planted.chat}/turns`, { method: "POST", headers, body });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { assistant_turn: { id: string } }).assistant_turn.id;
  };
  // One reply ends, one is stopped.
  const ended = send("万".repeat(60));
  (await model.nextReply()).finishWithText("done");
  await (await fetch(`${turnleaf.url}/api/turns/${await ended}/events`)).text();
  const stopped = await send("WWWW ".repeat(20));
  const reply = await model.nextReply();
  reply.sendText("a");
  expect((await fetch(`${turnleaf.url}/api/turns/${stopped}/stop`, { method: "POST" })).ok).toBe(true);
  await (await fetch(`${turnleaf.url}/api/turns/${stopped}/events`)).text();

  await page.goto(`/c/${planted.chat}/drawing`);
  await expect(page.locator(".drawing .small", { hasText: "stopped" })).toHaveCount(1);
  const beyond = await page.locator(".drawing a:has(rect)").evaluateAll((runs) =>
    runs.flatMap((run) => {
      const edge = run.querySelector("rect")!.getBoundingClientRect().right;
      const texts = [...run.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect().right] as const);
      return texts.filter(([, right]) => right > edge - 4);
    }));
  expect(beyond).toEqual([]);
});
