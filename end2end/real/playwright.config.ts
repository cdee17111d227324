// Configuration of the real-model test. `cargo xtask real-model` prepares everything and runs it.
import { defineConfig } from "@playwright/test";

import base from "../playwright.config.ts";

export default defineConfig({
  ...base,
  testDir: ".",
  workers: 1,
  timeout: 15 * 60_000,
  expect: { timeout: 120_000 },
  outputDir: "../test-results/real",
  projects: [{ name: "real" }],
});
