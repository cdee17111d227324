// Fixtures of every test: its own server, a scripted model server, and a watched browser. A violation of the content
// security policy, a console error or a request to another host fails any test.
import { test as base, expect, type BrowserContext } from "@playwright/test";

import { ModelServer } from "./model_server.ts";
import { Turnleaf } from "./turnleaf.ts";

/** Collects unexpected problems in the browser. */
export class ProblemWatch {
  readonly problems = new Set<string>();
  private readonly expected: RegExp[] = [];

  /** Expects a problem that would otherwise fail the test. */
  expect(problem: RegExp): void {
    this.expected.push(problem);
  }

  /** Expects the connection errors that the browser reports while the server is down. */
  expectLostConnection(): void {
    this.expect(/ERR_CONNECTION|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_NETWORK|Failed to fetch/);
  }

  record(problem: string): void {
    this.problems.add(problem);
  }

  unexpected(): string[] {
    return [...this.problems].filter((problem) => !this.expected.some((pattern) => pattern.test(problem)));
  }
}

async function watchContext(context: BrowserContext, watch: ProblemWatch, url: string): Promise<void> {
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`content policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  context.on("console", (message) => {
    const text = `console: ${message.text()} (${message.location().url})`;
    if (message.type() === "error" || /hydrat|panicked/i.test(text)) watch.record(text);
  });
  context.on("weberror", (error) => watch.record(`error: ${error.error().message}`));
  context.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(`${url}/`) && !/^(data|blob):/.test(address)) watch.record(`request to ${address}`);
  });
}

export interface FixtureOptions {
  /** Scripts run, but the WebAssembly never arrives: only forms and links work. */
  withoutWasm: boolean;
  /** The model server is configured; without it only the demo model answers. */
  withProvider: boolean;
  /** People sign in to the server, which waits for its setup. */
  withAccounts: boolean;
  /** The browser uses the name of this machine, not its number. */
  onLocalhost: boolean;
  /**
   * Stores the data in PostgreSQL; the value is the number of the test there, from 1. Skipped where
   * `TURNLEAF_TEST_PG_DATABASES` is not set.
   */
  onPostgres: number | false;
}

/** The common prefix of the addresses of empty databases: one for each try of each test that asks for it. */
const DATABASES = process.env.TURNLEAF_TEST_PG_DATABASES;
/** The most tries of a test (`playwright.config.ts`). */
const TRIES = 3;

interface Fixtures {
  model: ModelServer;
  turnleaf: Turnleaf;
  watch: ProblemWatch;
}

export const test = base.extend<Fixtures & FixtureOptions>({
  withoutWasm: [false, { option: true }],
  withProvider: [true, { option: true }],
  withAccounts: [false, { option: true }],
  onLocalhost: [false, { option: true }],
  onPostgres: [false, { option: true }],
  model: async ({}, use) => {
    const model = await ModelServer.start();
    await use(model);
    await model.stop();
  },
  turnleaf: async ({ model, withProvider, withAccounts, onLocalhost, onPostgres }, use, info) => {
    test.skip(Boolean(onPostgres) && !DATABASES, "TURNLEAF_TEST_PG_DATABASES is not set: not run on PostgreSQL");
    const database: Record<string, string> = onPostgres ? { DATABASE_URL: `${DATABASES}${(onPostgres - 1) * TRIES + info.retry}` } : {};
    const accounts: Record<string, string> = withAccounts ? { TURNLEAF_AUTH: "accounts" } : {};
    const turnleaf = await Turnleaf.start({ ...(withProvider ? model.environment : {}), ...database, ...accounts });
    if (onLocalhost) turnleaf.host = "localhost";
    await use(turnleaf);
    if (info.status !== info.expectedStatus) await info.attach("turnleaf.log", { body: turnleaf.log });
    await turnleaf.remove();
  },
  baseURL: async ({ turnleaf }, use) => use(turnleaf.url),
  watch: async ({}, use) => {
    const watch = new ProblemWatch();
    await use(watch);
    expect(watch.unexpected()).toEqual([]);
  },
  context: async ({ context, watch, turnleaf, withoutWasm }, use) => {
    await watchContext(context, watch, turnleaf.url);
    if (withoutWasm) {
      watch.expect(/ERR_FAILED.*\.wasm|Failed to fetch/);
      await context.route("**/*.wasm", (route) => route.abort());
    }
    await use(context);
  },
});

export { expect };
