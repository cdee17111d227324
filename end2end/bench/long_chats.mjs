// Measures a long chat beside a short one, in the same Chromium: the time until its newest turn is shown, the bytes
// that are transferred to open it with a warm cache, the time from Enter to the first word of the reply, and the
// memory of the page. `cargo xtask bench G11 L1` runs it. Takes the server's address and, for each chat, its id and
// its last turn, and then `memory` where that is to be measured too; prints one JSON object.
import { fresh, hydrated, launch, memory, middle } from "./browser.mjs";

const [, , url, ...options] = process.argv;
const chats = options.slice(0, 4);
const measuresMemory = options[4] === "memory";
const ROUNDS = 5;
/** The number of turns to scroll through before the memory is read. */
const SCROLLED = 1_000;

const [short, long] = [chats.slice(0, 2), chats.slice(2, 4)].map(([id, last]) => ({ id, last }));
const browser = await launch();

async function opened(chat) {
  const { page } = await fresh(browser);
  await page.goto(`${url}/c/${chat.id}`, { waitUntil: "commit" });
  return page;
}

/**
 * Returns the time from the start of the navigation until the newest turn is rendered at the bottom of a hydrated
 * page, in ms.
 */
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

/** Returns the bytes that are transferred to open a chat when the browser has already cached the program. */
async function toOpen(chat) {
  // Requests of a service worker are not counted with those of the page; without a worker the same files are in the
  // HTTP cache.
  const { page, session } = await fresh(browser, { serviceWorkers: "block" });
  // The chat is opened once before, so that every code part is cached.
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

/** Returns the time from Enter until the first word of the reply is rendered, in ms. */
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

/** Scrolls up until this many turns have been loaded. */
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
  const measured = { shown_ms: {}, first_word_ms: {}, heap_bytes: {} };
  const rounds = { short: [], long: [] };
  // The chats alternate, so that other load on the machine affects both equally.
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.short.push(await untilShown(short));
    rounds.long.push(await untilShown(long));
  }
  measured.shown_ms = { short: middle(rounds.short), long: middle(rounds.long) };

  measured.open_bytes = { short: await toOpen(short), long: await toOpen(long) };

  const pages = { short: await opened(short), long: await opened(long) };
  for (const page of Object.values(pages)) await hydrated(page);
  if (measuresMemory) {
    const used = async (page) => memory(await page.context().newCDPSession(page));
    measured.heap_bytes.short = await used(pages.short);
    measured.heap_bytes.opened = await used(pages.long);
    measured.turns_in_page = await scrollThrough(pages.long, SCROLLED);
    measured.heap_bytes.long = await used(pages.long);
    await pages.long.getByRole("button", { name: "Go to latest" }).click();
    await pages.long.locator(`article[data-turn-id="${long.last}"]`).waitFor();
  }

  const words = { short: [], long: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    words.short.push(await untilFirstWord(pages.short));
    words.long.push(await untilFirstWord(pages.long));
  }
  measured.first_word_ms = { short: middle(words.short), long: middle(words.long) };
  console.log(JSON.stringify(measured));
} finally {
  await browser.close();
}
