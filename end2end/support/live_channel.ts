// The live channel of a page, and pages that have to do without it.
import type { Page, Response } from "@playwright/test";

import type { ProblemWatch } from "./fixtures.ts";

/** Refuses the channel to a page that is opened afterwards, so that it polls. */
export async function refuseChannel(page: Page, watch: ProblemWatch): Promise<void> {
  watch.expect(/ERR_FAILED.*\/api\/events/);
  await page.route("**/api/events*", (route) => route.abort());
}

/** Holds the channel of a page that is opened afterwards, as a proxy that buffers responses does. */
export async function bufferChannel(page: Page): Promise<void> {
  await page.route("**/api/events*", () => new Promise(() => {}));
}

/** Makes the page ask for the status now, as when the network is back. */
export async function askForStatus(page: Page): Promise<void> {
  await page.evaluate(() => dispatchEvent(new Event("online")));
}

/** Waits for the first status of a page without a chat. Call it before the page is opened. */
export function firstStatus(page: Page): Promise<Response> {
  const isFirst = (answer: Response): boolean =>
    answer.url().includes("glance_at_all") && answer.ok() && answer.request().postDataJSON()?.showing === null;
  return page.waitForResponse(isFirst);
}
