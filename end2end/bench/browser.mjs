// What the measurements in Chromium share: the browser, one page of its own, its memory, the middle of values.
import { chromium } from "playwright";

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
  });
}

/** A page that knows nothing of any other, with a session that looks into it. */
export async function fresh(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  return { page, session };
}

export const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/** What script, elements and the program's own memory take in the page once what is not needed is gone, bytes. */
export async function memory(session) {
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await session.send("Runtime.getHeapUsage");
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}

/** Until the page answers. */
export async function hydrated(page) {
  await page.waitForSelector("html[data-hydrated]", { state: "attached" });
}
