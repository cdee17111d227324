// Measures the page in Chromium: the first load, a long streaming reply, and keys while there is much on the page.
// `cargo xtask bench G3` and the related figures run it. Takes the server's address and what to measure:
//   load                 a first visit
//   answer CHAT END      a Markdown reply until its text END is there
//   keys CHAT END        the same on a throttled CPU, while somebody types
//   typing CHAT          typing in a chat without a running reply
// Prints one JSON object.
import { fresh, hydrated, launch, memory, middle } from "./browser.mjs";

const [, , url, measurement, chat, end] = process.argv;
const ROUNDS = 5;
/** The CPU throttling where the goal demands it. */
const SLOWER = 4;
/** The duration of a frame at 60 per second, in ms. */
const FRAME = 1000 / 60;
/** A page without long tasks for this long counts as idle, in ms. */
const QUIET = 1_500;
const WORDS = "What the page does with every key is measured here, letter by letter. ";

/** Records long tasks, the latency of keys and clicks, and frames, from the start of the page. */
function observe() {
  window.longTasks = [];
  /** The longest duration by interaction; keydown and keyup belong to one. */
  window.presses = {};
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longTasks.push([task.startTime, task.duration]);
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) {
      if (interactionId) window.presses[interactionId] = Math.max(window.presses[interactionId] ?? 0, duration);
    }
  }).observe({ type: "event", durationThreshold: 16, buffered: true });
  window.watchFrames = () => {
    const frames = [];
    let last;
    const step = (now) => {
      if (last !== undefined) frames.push(now - last);
      last = now;
      window.frameRequest = requestAnimationFrame(step);
    };
    window.frameRequest = requestAnimationFrame(step);
    window.drawn = frames;
  };
}

const metric = async (session, name) =>
  (await session.send("Performance.getMetrics")).metrics.find((metric) => metric.name === name).value;

/** Waits until no long task has run for a while. */
async function quiet(page) {
  await page.waitForFunction((ms) => {
    const last = window.longTasks.at(-1);
    window.quietFrom ??= performance.now();
    if (last && last[0] + last[1] > window.quietFrom) window.quietFrom = last[0] + last[1];
    return performance.now() - window.quietFrom > ms;
  }, QUIET, { polling: 100 });
}

/** Measures a first visit: transferred bytes, the first paint, the time when Enter would send, and the memory. */
async function load(browser) {
  // The first interaction fetches the code part of the chat, so the transferred bytes are counted in a visit without
  // interaction.
  const { requests, wire, held } = await visit(browser, false);
  const { paint, enter } = await visit(browser, true);
  return { requests, wire, paint, enter, held };
}

async function visit(browser, presses) {
  const { page, session } = await fresh(browser);
  await session.send("Network.enable");
  let [requests, wire] = [0, 0];
  session.on("Network.requestWillBeSent", ({ request }) => (requests += /^https?:/.test(request.url) ? 1 : 0));
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (wire += encodedDataLength));
  await page.addInitScript((presses) => {
    window.sends = new Promise((done) => {
      const look = () => {
        const box = document.querySelector("#message");
        // A hydrated page handles the key and calls preventDefault.
        const press = () => new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
        if (!presses) done(undefined);
        else if (box && !box.dispatchEvent(press())) done(performance.now());
        else requestAnimationFrame(look);
      };
      look();
    });
  }, presses);
  await page.goto(url, { waitUntil: "commit" });
  const enter = await page.evaluate(() => window.sends);
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(QUIET);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const held = await memory(session);
  await page.context().close();
  return { requests, wire, paint, enter, held };
}

async function write(page) {
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Go on");
  await box.focus();
}

/** Returns the id of the last turn of the chat. */
const last = (page) => page.evaluate(() => document.querySelector("li.leaf article")?.id);
/**
 * Returns whether a new turn is last and has ended; the text END alone would also match the reply of the previous
 * round.
 */
const ended = ([before, end]) => {
  const leaf = document.querySelector("li.leaf");
  return leaf?.querySelector("article")?.id !== before && leaf?.textContent.includes(end);
};

/** Measures a reply from Enter until its end is rendered and the page is idle. */
async function answer(browser) {
  const { page, session } = await fresh(browser);
  await page.addInitScript(observe);
  await session.send("Performance.enable");
  await page.goto(`${url}/c/${chat}`);
  await hydrated(page);
  await quiet(page);
  await write(page);
  await page.evaluate(() => {
    window.longTasks.length = 0;
    window.quietFrom = undefined;
    window.watchFrames();
  });
  const before = await metric(session, "TaskDuration");
  const turn = await last(page);
  const start = Date.now();
  await page.keyboard.press("Enter");
  await page.waitForFunction(ended, [turn, end], { timeout: 120_000, polling: 100 });
  const shown = Date.now() - start;
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(window.frameRequest);
    return window.drawn;
  });
  await quiet(page);
  const busy = ((await metric(session, "TaskDuration")) - before) * 1000;
  const longest = await page.evaluate(() => Math.max(0, ...window.longTasks.map(([, ms]) => ms)));
  const expected = frames.reduce((sum, ms) => sum + ms, 0) / FRAME;
  const dropped = frames.reduce((sum, ms) => sum + Math.max(0, Math.round(ms / FRAME) - 1), 0) / expected;
  await page.context().close();
  return { shown, busy, longest, dropped };
}

/**
 * Measures how long keys that are pressed during a reply wait for the next frame, on a throttled CPU: the interaction
 * to next paint (web.dev/articles/inp), which ignores the slowest one of each fifty, and the slowest of all.
 */
async function keys(browser) {
  const { page, session } = await fresh(browser);
  await page.addInitScript(observe);
  await page.goto(`${url}/c/${chat}`);
  await hydrated(page);
  await quiet(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  await write(page);
  const turn = await last(page);
  await page.evaluate(() => (window.presses = {}));
  await page.keyboard.press("Enter");
  let pressed = 1;
  for (let more = true; more; ) {
    for (const letter of WORDS.slice(0, 10)) {
      await page.keyboard.press(letter === " " ? "Space" : letter);
      pressed += 1;
    }
    more = !(await page.evaluate(ended, [turn, end]));
  }
  await page.waitForTimeout(QUIET);
  const waits = await page.evaluate(() => Object.values(window.presses).sort((a, b) => b - a));
  await page.context().close();
  return { next_paint: waits[Math.min(Math.floor(pressed / 50), 9, waits.length - 1)] ?? 0, slowest: waits[0] ?? 0, pressed };
}

/** Measures the slowest of the keys typed into the message box of a chat. */
async function typing(browser) {
  const { page } = await fresh(browser);
  await page.addInitScript(observe);
  await page.goto(`${url}/c/${chat}`);
  await hydrated(page);
  await quiet(page);
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.evaluate(() => {
    window.presses = {};
    window.longTasks.length = 0;
  });
  await page.keyboard.type(WORDS.repeat(2), { delay: 30 });
  await page.waitForTimeout(QUIET);
  const slowest = await page.evaluate(() => Math.max(0, ...Object.values(window.presses)));
  const longest = await page.evaluate(() => Math.max(0, ...window.longTasks.map(([, ms]) => ms)));
  await page.context().close();
  return { slowest, longest };
}

const browser = await launch();
try {
  const measure = { load, answer, keys, typing }[measurement];
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(browser));
  const names = Object.keys(rounds[0]);
  console.log(JSON.stringify(Object.fromEntries(names.map((name) => [name, middle(rounds.map((round) => round[name]))]))));
} finally {
  await browser.close();
}
