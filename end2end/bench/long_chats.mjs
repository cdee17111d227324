// What a long chat costs its reader, beside a short one, in the same Chromium: until its newest turn is shown, what travels
// to open it for somebody who has been here, from Enter to the first word of the reply, and the memory of the page.
// `cargo xtask bench G11 L1` runs it. Called with the server's address and, for each chat, its id and its last turn, and
// `memory` behind them where that is to be measured too; prints one JSON object.
import { fresh, hydrated, launch, memory, middle } from "./browser.mjs";

const [, , url, ...asked] = process.argv;
const chats = asked.slice(0, 4);
const isMemoryAsked = asked[4] === "memory";
const ROUNDS = 5;
/** Turns that are scrolled through before the memory is read. */
const SCROLLED = 1_000;

const [short, long] = [chats.slice(0, 2), chats.slice(2, 4)].map(([id, last]) => ({ id, last }));
const browser = await launch();

async function opened(chat) {
  const { page } = await fresh(browser);
  await page.goto(`${url}/c/${chat.id}`, { waitUntil: "commit" });
  return page;
}

/** From the start of the navigation until the newest turn is drawn at the bottom of a page that answers, ms. */
async function untilShown(chat) {
  const page = await opened(chat);
  const shown = await page.waitForFunction((last) => {
    const turn = document.querySelector(`article[data-turn-id="${last}"]`);
    const place = turn?.getBoundingClientRect();
    const is = document.documentElement.hasAttribute("data-hydrated") && place && place.top < innerHeight && place.bottom > 0;
    return is ? performance.now() : 0;
  }, chat.last, { polling: "raf" });
  const ms = await shown.jsonValue();
  await page.context().close();
  return ms;
}

/** What travels when the chat is opened by somebody whose browser has the program already, bytes. */
async function toOpen(chat) {
  // What a worker fetches is not counted with the page's; without one the same files lie in the browser's own cache.
  const { page, session } = await fresh(browser, { serviceWorkers: "block" });
  // The same chat before, so that each part of the program is there.
  for (const address of [url, `${url}/c/${chat.id}`]) {
    await page.goto(address, { waitUntil: "networkidle" });
    await hydrated(page);
  }
  await page.goto("about:blank");
  await session.send("Network.enable");
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.goto(`${url}/c/${chat.id}`, { waitUntil: "networkidle" });
  await hydrated(page);
  await page.context().close();
  return bytes;
}

/** From Enter until the reply's first word is drawn, ms. */
async function untilFirstWord(page) {
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Go on");
  await box.focus();
  await page.evaluate(() => {
    const before = document.querySelectorAll("article[data-role=assistant]").length;
    const known = new Set([...document.querySelectorAll("article")].map((turn) => turn.id));
    window.first = new Promise((done) => {
      let start = 0;
      document.addEventListener("keydown", (event) => event.key === "Enter" && (start = performance.now()), { capture: true, once: true });
      const look = () => {
        const replies = [...document.querySelectorAll("article[data-role=assistant]")];
        const reply = replies.at(-1);
        const text = known.has(reply?.id) ? "" : reply?.querySelector("[data-block-type=text]")?.textContent?.trim();
        if (start && before && text) done(performance.now() - start);
        else requestAnimationFrame(look);
      };
      look();
    });
  });
  await page.keyboard.press("Enter");
  const ms = await page.evaluate(() => window.first);
  await page.waitForFunction(() => document.querySelector("li.leaf article")?.getAttribute("data-status") === "complete");
  return ms;
}

/** Scrolls up until so many turns have come. */
async function scrollThrough(page, count) {
  const seen = new Set();
  while (seen.size < count) {
    const before = await page.locator("article[data-turn-id]").first().getAttribute("data-turn-id");
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.waitForFunction((id) => document.querySelector("article[data-turn-id]")?.getAttribute("data-turn-id") !== id, before);
    for (const id of await page.locator("article[data-turn-id]").evaluateAll((all) => all.map((turn) => turn.id))) seen.add(id);
  }
  return page.locator("article[data-turn-id]").count();
}

try {
  const said = { shown_ms: {}, first_word_ms: {}, heap_bytes: {} };
  const rounds = { short: [], long: [] };
  // In turns, so that what the machine does beside it is the same for both.
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.short.push(await untilShown(short));
    rounds.long.push(await untilShown(long));
  }
  said.shown_ms = { short: middle(rounds.short), long: middle(rounds.long) };

  said.open_bytes = { short: await toOpen(short), long: await toOpen(long) };

  const pages = { short: await opened(short), long: await opened(long) };
  for (const page of Object.values(pages)) await hydrated(page);
  if (isMemoryAsked) {
    const used = async (page) => memory(await page.context().newCDPSession(page));
    said.heap_bytes.short = await used(pages.short);
    said.heap_bytes.opened = await used(pages.long);
    said.turns_in_page = await scrollThrough(pages.long, SCROLLED);
    said.heap_bytes.long = await used(pages.long);
    await pages.long.getByRole("button", { name: "Go to latest" }).click();
    await pages.long.locator(`article[data-turn-id="${long.last}"]`).waitFor();
  }

  const words = { short: [], long: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    words.short.push(await untilFirstWord(pages.short));
    words.long.push(await untilFirstWord(pages.long));
  }
  said.first_word_ms = { short: middle(words.short), long: middle(words.long) };
  console.log(JSON.stringify(said));
} finally {
  await browser.close();
}
