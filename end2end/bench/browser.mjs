// Shared by the measurements in Chromium: the browser, a fresh page, its memory, the median of values.
import { chromium } from "playwright";

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
  });
}

/** Opens a page in its own browser context, with a DevTools session. */
export async function fresh(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  return { page, session };
}

export const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/** Returns the memory of scripts, elements and WebAssembly in the page after garbage collection, in bytes. */
export async function memory(session) {
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await session.send("Runtime.getHeapUsage");
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}

/** Waits until the page is hydrated. */
export async function hydrated(page) {
  await page.waitForSelector("html[data-hydrated]", { state: "attached" });
}
