// The tree map: in the panel and as a page, with the mouse and with keys only, small and large.
// UX-24, UX-37 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { expectAccessible, expectAccessibleState } from "../../support/accessibility_checks.ts";
import { violations } from "../../support/axe.ts";
import { waitForHydration, messageBox, openPage, replies, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { addExchange, plantTree } from "../../support/tree.ts";

/** The number of rows that are rendered at once. */
const ROWS = 400;

const tree = (page: Page) => page.getByRole("tree", { name: "Chat tree" });
const row = (page: Page, name: RegExp) => tree(page).getByRole("treeitem", { name });
const button = (page: Page) => page.locator("#tree-button");
const card = (page: Page) => page.getByRole("region", { name: "Selected message" });
const branchMenu = (page: Page) => card(page).getByRole("button", { name: "Branch actions" });
const latest = (page: Page) => textOf(replies(page).last());

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  for (let n = 0; n < 16 && !(await element.evaluate((element) => element === document.activeElement)); n += 1) {
    await page.keyboard.press("Tab");
  }
  await expect(element).toBeFocused();
}

test("the panel follows the chat and opens another branch without leaving the page", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 4, 3);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[3]}`);
  await expect(button(page)).toHaveAccessibleName("Tree, 4 branches");
  await button(page).click();
  await expect(button(page)).toHaveAttribute("aria-expanded", "true");
  await expect(row(page, /^Reply: Answer 3.*you are here/)).toBeFocused();
  await expect(row(page, /^Reply: Answer 3/)).toHaveAttribute("aria-current", "location");
  // The panel is beside the chat, which stays as wide as it can be.
  await expect(latest(page)).toHaveText("Answer 3");

  await row(page, /^You: Twig 1/).getByRole("link").click();
  await expect(page).toHaveURL(/\?at=/);
  await expect(page.locator("article[data-role=user]").last()).toContainText("Twig 1");
  await expect(tree(page)).toBeVisible();
  await expect(row(page, /you are here/)).toHaveCount(1);
  await expect(row(page, /^You: Twig 1/)).toHaveAttribute("aria-current", "true");
  // The chip shows the branch's origin; Back and Forward need no new page.
  await expect(page.locator(".branch-chip")).toHaveAccessibleName("main ▸ Twig 1");
  await page.goBack();
  await expect(latest(page)).toHaveText("Answer 3");
  await expect(page.locator(".branch-chip")).toHaveAccessibleName("main");

  // A turn created elsewhere appears in the tree.
  const answering = model.nextReply().then((reply) => reply.finishWithText("New"));
  await addExchange(turnleaf, planted.chat, "Another way", planted.trunk[1]);
  await answering;
  await expect(row(page, /^You: Another way/)).toBeVisible();
  await expect(button(page)).toHaveAccessibleName("Tree, 5 branches");
  await page.getByRole("button", { name: "Close tree" }).click();
  await expect(tree(page)).toHaveCount(0);
});

test("keys alone: open, walk, find, fold, filter, rename, show and close", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 6, 3);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[5]}`);
  await page.keyboard.press("Control+.");
  await expect(row(page, /you are here/)).toBeFocused();
  await page.keyboard.press("Home");
  await expect(row(page, /^You: Question 0/)).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(row(page, /^You: Question 0/)).not.toBeFocused();
  await page.keyboard.press("ArrowUp");
  // Type-ahead by the text of a turn.
  await page.keyboard.type("twig 2");
  await expect(row(page, /^You: Twig 2/)).toBeFocused();
  await expect(card(page)).toContainText("Twig 2");

  // Left collapses or moves to the parent; right expands or moves to the first child.
  await page.keyboard.press("Home");
  const root = row(page, /^You: Question 0/);
  await page.keyboard.press("ArrowLeft");
  await expect(root).toHaveAttribute("aria-expanded", "false");
  await expect(tree(page).getByRole("treeitem")).toHaveCount(1);
  await expect(root).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(root).toHaveAttribute("aria-expanded", "true");
  await expect(root).toBeFocused();

  // From the tree to the card of the turn, where its branch gets a name.
  await expect(row(page, /^You: Twig 2/)).toBeVisible();
  await page.keyboard.type("twig 2");
  await expect(card(page)).toContainText("Twig 2");
  const name = card(page).getByRole("textbox", { name: "Name" });
  await tabTo(page, name);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("the third way");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Saved.", { exact: true }).last()).toBeVisible();

  const filter = page.getByRole("searchbox", { name: "Messages containing" });
  await filter.focus();
  await page.keyboard.type("twig 1");
  await page.keyboard.press("Enter");
  await expect(page.locator(".tree-summary")).toContainText("1 match in 18 messages");
  await expect(page.locator("#say")).toContainText("1 match in 18 messages");
  await expect(row(page, /^You: Twig 1/)).toBeVisible();
  await expect(row(page, /^You: Twig 2/)).toHaveCount(0);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");

  await expect(row(page, /^You: Twig 2/)).toBeVisible();
  await row(page, /^You: Twig 2/).focus();
  await page.keyboard.press("Enter");
  await expect(page.locator("article[data-role=user]").last()).toContainText("Twig 2");
  await expect(page.locator(".branch-chip")).toContainText("the third way");
  await expect(row(page, /^You: Twig 2/)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(tree(page)).toHaveCount(0);
  await expect(button(page)).toBeFocused();
});

test("folded messages are unfolded one run at a time", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 6, 1);
  await openPage(page, `/c/${planted.chat}/tree?at=${planted.trunk[5]}`);
  const folded = tree(page).getByRole("treeitem", { name: /^\d+ messages$/ });
  await expect(folded).toHaveCount(1);
  await folded.focus();
  await page.keyboard.press("Enter");
  await expect(folded).toHaveAttribute("aria-expanded", "true");
  await expect(row(page, /^You: Question 3/)).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(folded).toHaveAttribute("aria-expanded", "false");
});

test("from the card: compare with current, delete with what is below, Undo", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 5, 3);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[4]}`);
  await button(page).click();
  await row(page, /^You: Twig 1/).getByRole("button", { name: "Message actions" }).click();
  await card(page).getByRole("link", { name: "Compare with current" }).click();
  await expect(page.getByRole("heading", { name: "Compare branches" })).toBeFocused();
  await expect(page.getByRole("link", { name: "Open as a page" }))
    .toHaveAttribute("href", `/c/${planted.chat}/compare?left=${planted.trunk[4]}&right=${planted.twigs[1]}`);
  await expect(latest(page)).toHaveText("Answer 4");
  await button(page).click();

  // Deletion elsewhere in the tree keeps the shown path.
  await row(page, /^You: Twig 1/).getByRole("button", { name: "Message actions" }).click();
  await branchMenu(page).click();
  await card(page).getByRole("button", { name: "Delete this version and 1 message below" }).click();
  await expect(row(page, /^You: Twig 1/)).toHaveCount(0);
  await expect(card(page)).toHaveCount(0);
  await expect(button(page)).toHaveAccessibleName("Tree, 3 branches");
  await expect(latest(page)).toHaveText("Answer 4");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row(page, /^You: Twig 1/)).toBeVisible();
  await expect(latest(page)).toHaveText("Answer 4");
  await expect(button(page)).toHaveAccessibleName("Tree, 4 branches");

  // Deletion on the path moves the reader to the remaining turns; Undo returns.
  await row(page, /^Reply: Answer 4/).getByRole("button", { name: "Message actions" }).click();
  await branchMenu(page).click();
  await card(page).getByRole("button", { name: "Delete this version", exact: true }).click();
  await expect(latest(page)).toHaveText("Answer 3");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(latest(page)).toHaveText("Answer 4");
});

test("from the card with keys alone: everything but one branch is deleted and comes back", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 4, 2);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[3]}`);
  await page.keyboard.press("Control+.");
  await expect(row(page, /you are here/)).toBeFocused();
  await page.keyboard.type("twig 1");
  await expect(card(page)).toContainText("Twig 1");
  await tabTo(page, branchMenu(page));
  await page.keyboard.press("Enter");
  await tabTo(page, card(page).getByRole("button", { name: "Delete all other branches (6 messages)" }));
  await page.keyboard.press("Enter");
  await expect(page.locator("article[data-role=user]").last()).toContainText("Twig 1");
  await expect(button(page)).toHaveAccessibleName("Tree, 1 branch");
  // The focus returns to the button of the menu, which stays.
  await expect(branchMenu(page)).toBeFocused();
  await page.keyboard.press("Control+z");
  await expect(button(page)).toHaveAccessibleName("Tree, 3 branches");
});

/** Holds the responses to these requests until they are released. */
async function holdResponses(page: Page, endpoint: string): Promise<{ requested: Promise<void>; release: () => void }> {
  let release = () => {};
  let seen = () => {};
  const released = new Promise<void>((done) => (release = done));
  const requested = new Promise<void>((done) => (seen = done));
  await page.route(`**/${endpoint}`, async (route) => {
    const response = await route.fetch();
    seen();
    await released;
    await route.fulfill({ response });
  });
  return { requested, release };
}

test("the panel leaves the focus where somebody types", async ({ page, turnleaf, model }) => {
  const first = await plantTree(turnleaf, model, 2, 1);
  const second = await plantTree(turnleaf, model, 3, 1);
  await openPage(page, `/c/${first.chat}?at=${first.trunk[1]}`);

  // The focus returns to the message box before the rows have loaded.
  const slow = await holdResponses(page, "load_tree");
  await button(page).click();
  await slow.requested;
  await messageBox(page).click();
  slow.release();
  await expect(row(page, /you are here/)).toBeVisible();
  await page.keyboard.type("half a ");
  await expect(messageBox(page)).toBeFocused();
  await page.unrouteAll();

  // Another chat is opened with the panel open.
  const slower = await holdResponses(page, "load_tree");
  await page.locator(`#sidebar a[href="/c/${second.chat}"]`).click();
  await expect(latest(page)).toHaveText(/Answer/);
  await slower.requested;
  await messageBox(page).click();
  slower.release();
  await expect(row(page, /you are here/)).toBeVisible();
  await page.keyboard.type("message");
  await expect(messageBox(page)).toHaveValue("message");
  await expect(messageBox(page)).toBeFocused();
});

test("what is typed in the card stays when the tree changes and when the other field is saved", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 4, 2);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[3]}`);
  await button(page).click();
  await row(page, /^You: Twig 1/).getByRole("button", { name: "Message actions" }).click();
  const field = (name: string) => card(page).locator(`input[name=${name.toLowerCase()}]`);
  await branchMenu(page).click();
  await field("Label").fill("half a lab");
  // Esc closes the menu and not the panel.
  await page.keyboard.press("Escape");
  await expect(field("Label")).toBeHidden();
  await field("Name").fill("half a na");

  const answering = model.nextReply().then((reply) => reply.finishWithText("New"));
  await addExchange(turnleaf, planted.chat, "Another way", planted.trunk[1]);
  await answering;
  await expect(row(page, /^You: Another way/)).toBeVisible();
  await page.keyboard.type("me");
  await expect(field("Name")).toHaveValue("half a name");
  await expect(field("Name")).toBeFocused();

  await page.keyboard.press("Enter");
  await expect(page.getByText("Saved.", { exact: true }).last()).toBeVisible();
  await expect(field("Label")).toHaveValue("half a lab");
  // An untouched field follows the branch's name.
  const { branch_id: branch } = await turnleaf.get(`/api/turns/${planted.twigs[1]}`);
  await page.request.patch(`/api/branches/${branch}`, { data: { name: "renamed elsewhere" } });
  await row(page, /^You: Twig 1/).getByRole("button", { name: "Message actions" }).click();
  await expect(field("Name")).toHaveValue("renamed elsewhere");
  await expect(field("Label")).toHaveValue("half a lab");
});

test("a name saved late causes no error when the panel or the chat is gone", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 3, 1);
  const other = await plantTree(turnleaf, model, 1, 0);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[2]}`);
  const rename = async (name: string) => {
    await row(page, /^Reply: Answer 2/).getByRole("button", { name: "Message actions" }).click();
    await card(page).getByRole("textbox", { name: "Name" }).fill(name);
    const slow = await holdResponses(page, "change_branch");
    await page.keyboard.press("Enter");
    await slow.requested;
    return slow;
  };
  const saved = page.getByText("Saved.", { exact: true });

  await button(page).click();
  const closed = await rename("first");
  await page.keyboard.press("Escape");
  await expect(tree(page)).toHaveCount(0);
  closed.release();
  await expect(page.locator(".branch-chip")).toContainText("first");
  await page.locator(".toast").getByRole("button", { name: "Dismiss" }).click();
  await expect(saved).toHaveCount(0);
  await page.unrouteAll();

  await button(page).click();
  const left = await rename("second");
  await page.locator(`#sidebar a[href="/c/${other.chat}"]`).click();
  await expect(latest(page)).toHaveText("Answer 0");
  // Looked for before it comes, because it goes by itself.
  const isSaved = expect(saved).toBeVisible();
  left.release();
  await isSaved;
  // The tree still works.
  await expect(row(page, /you are here/)).toBeVisible();
  await row(page, /^You: Question 0/).getByRole("button", { name: "Message actions" }).click();
  await expect(card(page)).toContainText("Question 0");
});

test("a tree that is loaded again leaves the focus where it was moved meanwhile", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 3, 1);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[2]}`);
  await button(page).click();
  await row(page, /^You: Twig 0/).getByRole("button", { name: "Message actions" }).click();
  const name = card(page).getByRole("textbox", { name: "Name" });
  await expect(name).toBeVisible();
  await expect(row(page, /^You: Twig 0/)).toBeFocused();
  // The next frames come late.
  await page.evaluate(() => {
    const [real, held] = [window.requestAnimationFrame, [] as FrameRequestCallback[]];
    const release = () => {
      window.requestAnimationFrame = real;
      held.forEach((act) => act(performance.now()));
    };
    Object.assign(window, { requestAnimationFrame: (act: FrameRequestCallback) => held.push(act), release });
  });
  const answering = model.nextReply().then((reply) => reply.finishWithText("New"));
  await addExchange(turnleaf, planted.chat, "Another way", planted.trunk[1]);
  await answering;
  await expect(row(page, /^You: Another way/)).toBeVisible();
  await name.focus();
  await page.evaluate(() => (window as unknown as { release: () => void }).release());
  await expect(name).toBeFocused();
});

test("a reply that ends elsewhere is no longer marked, and new turns below a leaf appear", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 3, 1);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[2]}`);
  await button(page).click();
  const retry = await page.request.post(`/api/turns/${planted.trunk[2]}/retry`, { data: {} });
  expect(retry.ok(), await retry.text()).toBe(true);
  const reply = await model.nextReply();
  reply.sendText("Half");
  const runs = page.getByRole("img", { name: "Another version is being generated" });
  await expect(runs).toBeVisible();
  await expect(tree(page).getByRole("treeitem", { name: /in progress/ })).toHaveCount(1);
  reply.finish();
  await expect(runs).toHaveCount(0);
  await expect(tree(page).getByRole("treeitem", { name: /in progress/ })).toHaveCount(0);

  // The exchange extends an existing leaf, so the number of leaves stays the same.
  const answering = model.nextReply().then((reply) => reply.finishWithText("Later"));
  const later = await addExchange(turnleaf, planted.chat, "On another end", planted.twigs[0]);
  await answering;
  await expect(row(page, /^Reply: Later/)).toBeVisible();
  expect(later).not.toBe("");
});

test("on the page of the tree: a branch is deleted and comes back", async ({ page, turnleaf, model }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const planted = await plantTree(turnleaf, model, 4, 2);
  await openPage(page, `/c/${planted.chat}/tree?at=${planted.trunk[3]}`);
  await row(page, /^You: Twig 1/).getByRole("button", { name: "Message actions" }).click();
  await branchMenu(page).click();
  await card(page).getByRole("button", { name: /^Delete this version/ }).click();
  await expect(row(page, /^You: Twig 1/)).toHaveCount(0);
  await expect(row(page, /^Reply: Answer 3.*you are here/)).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row(page, /^You: Twig 1/)).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test("of a large tree only a part is drawn, and keys walk through it without asking the server", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  const planted = await plantTree(turnleaf, model, 30, 400);
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[29]}`);
  await page.keyboard.press("Control+.");
  await expect(row(page, /you are here/)).toBeFocused();
  await expect(page.getByText("860 messages")).toBeVisible();
  const rows = tree(page).getByRole("treeitem");
  expect(await rows.count()).toBe(ROWS);
  const requested: string[] = [];
  page.on("request", (request) => request.url().endsWith("/load_tree") && requested.push(request.url()));
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "t", "t", "ArrowLeft"]) {
    await page.evaluate(() => {
      const before = document.activeElement;
      const moved = new Promise<void>((done) => {
        const look = () => (document.activeElement === before ? requestAnimationFrame(look) : done());
        addEventListener("keydown", look, { once: true });
      });
      Object.assign(window, { moved });
    });
    await page.keyboard.press(key);
    await page.evaluate(() => (window as unknown as { moved: Promise<void> }).moved);
  }
  expect(requested).toEqual([]);
  // Home and End reach both ends of the tree, rendered or not.
  await page.keyboard.press("Home");
  await expect(row(page, /^You: Question 0/)).toBeFocused();
  await expect(page.getByRole("button", { name: /^Earlier rows/ })).toHaveCount(0);
  await page.keyboard.press("End");
  await expect(rows.last()).toBeFocused();
  await expect(page.getByRole("button", { name: /^Earlier rows/ })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Later rows/ })).toHaveCount(0);
  await page.keyboard.press("q");
  await expect(page.locator("#say")).toContainText("No visible row starts with this. Use the filter to search the whole tree.");
  // At the start of the rendered part, the previous part is loaded.
  await rows.first().focus();
  const before = requested.length;
  await page.keyboard.press("ArrowUp");
  await expect.poll(() => requested.length).toBe(before + 1);
  await expect(page.getByRole("button", { name: /^Later rows/ })).toBeVisible();
  expect(await rows.count()).toBeLessThanOrEqual(ROWS);
  await expect(tree(page).locator("[role=treeitem]:focus")).toHaveCount(1);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\?at=/);
});

test("on the page of the tree: what happens elsewhere appears, and a reply that ends is not marked", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 2, 1);
  const looked = page.waitForResponse(/glance_at_chat/);
  await openPage(page, `/c/${planted.chat}/tree?at=${planted.trunk[1]}`);
  await looked;
  const retry = await page.request.post(`/api/turns/${planted.twigs[0]}/retry`, { data: {} });
  expect(retry.ok(), await retry.text()).toBe(true);
  const reply = await model.nextReply();
  await expect(row(page, /in progress/)).toHaveCount(1);
  reply.finishWithText("Written elsewhere");
  await expect(row(page, /^Reply: Written elsewhere/)).toBeVisible();
  await expect(row(page, /in progress/)).toHaveCount(0);
});

for (const [width, where] of [[390, "tree"], [820, "tree"], [820, "panel"], [1440, "panel"]] as const) {
  test(`the card hides no row that has the focus: ${where}, ${width}`, async ({ page, turnleaf, model }) => {
    await page.setViewportSize({ width, height: 800 });
    const planted = await plantTree(turnleaf, model, 10, 9);
    if (where === "tree") {
      await openPage(page, `/c/${planted.chat}/tree?at=${planted.trunk[9]}`);
      await row(page, /you are here/).focus();
    } else {
      await openPage(page, `/c/${planted.chat}?at=${planted.trunk[9]}`);
      await page.keyboard.press("Control+.");
    }
    await expect(row(page, /you are here/)).toBeFocused();
    await expect(card(page)).toBeVisible();
    const isHidden = () =>
      page.evaluate(() => {
        const { left, top, bottom, width } = document.activeElement!.getBoundingClientRect();
        const seen = (y: number) => document.activeElement!.contains(document.elementFromPoint(left + width / 2, y));
        return !seen(top + 3) || !seen(bottom - 3);
      });
    expect(await isHidden(), "where the reader is").toBe(false);
    for (const key of ["Home", "ArrowDown", "End", ...Array<string>(12).fill("ArrowUp"), ...Array<string>(12).fill("ArrowDown")]) {
      await page.keyboard.press(key);
      expect.soft(await isHidden(), `after ${key}`).toBe(false);
    }
  });
}

test("on a phone the tree is a page, and a turn opens from it", async ({ page, turnleaf, model }) => {
  const planted = await plantTree(turnleaf, model, 4, 2);
  await page.setViewportSize({ width: 390, height: 844 });
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[3]}`);
  await button(page).click();
  await expect(page).toHaveURL(/\/tree$/);
  await waitForHydration(page);
  await expect(tree(page)).toBeVisible();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await row(page, /^You: Twig 0/).getByRole("button", { name: "Message actions" }).click();
  await expect(card(page)).toContainText("Twig 0");
  await row(page, /^You: Twig 0/).getByRole("link").click();
  await expect(page.locator("article[data-role=user]").last()).toContainText("Twig 0");
});

// The wide panel is in accessible_states.spec.ts; the branches and the diagram are in accessibility.spec.ts.
test("the tree is accessible", async ({ page, turnleaf, model }) => {
  test.setTimeout(120_000);
  const planted = await plantTree(turnleaf, model, 5, 3);
  await page.setViewportSize({ width: 820, height: 900 });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await openPage(page, `/c/${planted.chat}?at=${planted.trunk[4]}`);
  await page.keyboard.press("Control+.");
  await expect(card(page)).toBeVisible();
  await expectAccessible(page, "the panel", { width: 820 });
  await page.goto(`/c/${planted.chat}/tree?on=${planted.trunk[1]}`);
  await expectAccessibleState(page, "a turn in the tree");
});
