// Browser tests against the real binary; each test has its own server and data. `cargo xtask test end2end` prepares
// everything and runs them.
import { defineConfig } from "@playwright/test";

import type { FixtureOptions } from "./support/fixtures.ts";

export const browser = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
  // Chromium's own background requests are switched off, because a request to another host fails a test.
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    // Each test compiles the module anew, so code that is optimised later does not pay.
    "--js-flags=--liftoff-only,--max-lazy",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  ],
};

/** The whole browser, which shows notifications; the headless shell does not. */
export const wholeBrowser = { ...browser, executablePath: process.env.WHOLE_CHROMIUM ?? "/usr/bin/chromium" };

/**
 * Flows of forms and links alone, which are the same with and without script: "no-js" runs them. The others depend on what
 * only a page with script has: the follower of replies, the notice of basic mode, frames, and the buttons for files.
 */
const FORMS_ONLY = [
  "accounts", "all_chats", "compare", "documents", "elicitation", "external_links", "import_undo", "imports", "live_shares", "long_chat",
  "projects", "providers", "shares", "sources", "tool_import", "tool_sign_in", "tools", "trash", "tree", "turn_actions", "web_search",
].map((name) => `no-script/${name}.spec.ts`);

export default defineConfig<FixtureOptions>({
  testDir: "tests",
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  // Tests are retried twice on a loaded machine; one that needed it is reported as flaky. Failures that many tests share
  // need no further witnesses, and their retries would take longer than everything else.
  retries: process.env.CI ? 2 : 0,
  maxFailures: process.env.CI ? 16 : 0,
  // Snapshots of accessible names; `cargo xtask pictures` updates them.
  snapshotPathTemplate: "names/{arg}{ext}",
  updateSnapshots: "none",
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  // Playwright cannot intercept requests of a service worker, so workers are blocked except in the tests of the
  // worker.
  use: { launchOptions: browser, viewport: { width: 1440, height: 900 }, locale: "en-GB", serviceWorkers: "block", trace: "on-first-retry" },
  projects: [
    { name: "pictures", testMatch: "pictures/**/*.spec.ts", timeout: 150_000 },
    { name: "hydrate", testMatch: "hydrate/**/*.spec.ts" },
    { name: "basic", testMatch: "no-script/**/*.spec.ts", testIgnore: FORMS_ONLY, use: { withoutWasm: true } },
    { name: "no-js", testMatch: "no-script/**/*.spec.ts", use: { javaScriptEnabled: false } },
  ],
});
