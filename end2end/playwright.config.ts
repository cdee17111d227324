// Browser tests against the real binary, each with a server and data of its own. `cargo xtask test end2end` prepares all
// that they need and runs them.
import { defineConfig } from "@playwright/test";

import type { FixtureOptions } from "./support/fixtures.ts";

export const browser = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // Chromium's own conversations with the outside are switched off: a request to another host is a failure here.
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  ],
};

export default defineConfig<FixtureOptions>({
  testDir: "tests",
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  // Two more tries on a loaded machine; a test that needed it is listed as flaky.
  retries: process.env.CI ? 2 : 0,
  // Names of what is on a page, which `cargo xtask pictures` writes anew.
  snapshotPathTemplate: "names/{arg}{ext}",
  updateSnapshots: "none",
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  // What a worker asks for is not seen by tests that hold answers back; the tests of the worker let it run.
  use: { launchOptions: browser, viewport: { width: 1440, height: 900 }, locale: "en-GB", serviceWorkers: "block", trace: "on-first-retry" },
  projects: [
    { name: "pictures", testMatch: "pictures/**/*.spec.ts", timeout: 150_000 },
    { name: "hydrate", testMatch: "hydrate/**/*.spec.ts" },
    { name: "basic", testMatch: "no-script/**/*.spec.ts", use: { withoutWasm: true } },
    { name: "no-js", testMatch: "no-script/**/*.spec.ts", use: { javaScriptEnabled: false } },
  ],
});
