// The binary as a process: with its own port and data directory, stopped or killed.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { MODEL } from "./model_server.ts";

const START_MS = 20_000;

/** Returns a loopback port that is free at this moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Returns the environment without variables that would configure a server. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const configures = /^TURNLEAF_(?!BINARY|SITE_ROOT)|_API_KEY(_FILE)?$|_BASE_URL$|^(DATABASE_URL|HOST|PORT|OLLAMA_HOST)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !configures.test(name)));
}

/** Runs the program that creates chats and legacy databases; returns its JSON output. */
async function runPlant(args: string[]): Promise<any> {
  const program = process.env.TURNLEAF_PLANT ?? join(dirname(process.env.TURNLEAF_BINARY ?? ""), "plant");
  const child = spawn(program, args);
  let output = "";
  let complaint = "";
  child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (complaint += bytes.toString()));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(complaint || `${program} ended with ${code}`);
  return JSON.parse(output);
}

export class Turnleaf {
  /** The host in the addresses of its pages. Browsers have passkeys on `localhost` and not on `127.0.0.1`. */
  host: "127.0.0.1" | "localhost" = "127.0.0.1";
  private child: ChildProcess | undefined;
  private outputTail = "";

  private constructor(
    private readonly port: number,
    /** The folder of its data and files. */
    readonly dir: string,
    private readonly environment: Record<string, string>,
  ) {}

  /**
   * Starts a server on empty data. The environment configures its providers; the configuration file holds what only a
   * file can.
   */
  static async start(environment: Record<string, string> = {}, config?: (dir: string) => string): Promise<Turnleaf> {
    const dir = await mkdtemp(join(tmpdir(), "turnleaf-test-"));
    const file = join(dir, "turnleaf.toml");
    if (config) await writeFile(file, config(dir), { mode: 0o600 });
    const server = new Turnleaf(await freePort(), dir, config ? { ...environment, TURNLEAF_CONFIG: file } : environment);
    await server.restart();
    // The demo is beside other models only where that was chosen, and most tests use both.
    const body = new URLSearchParams({ how: "show" });
    await fetch(`${server.url}/forms/demo`, { method: "POST", body, redirect: "manual" });
    return server;
  }

  get url(): string {
    return `http://${this.host}:${this.port}`;
  }

  /** Starts again on the same port and the same data. */
  async restart(): Promise<void> {
    const child = this.spawn(["serve", "--listen", `127.0.0.1:${this.port}`]);
    this.child = child;
    const before = Date.now();
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${this.port}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      if (child.exitCode !== null || Date.now() - before > START_MS) throw new Error(`turnleaf does not start:\n${this.outputTail}`);
      await wait(20);
    }
  }

  /** SIGKILL: the server can neither respond nor save. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** SIGTERM; resolves when the process has ended. */
  async stop(): Promise<void> {
    await this.end("SIGTERM");
  }

  /** Kills the process and removes its data. */
  async remove(): Promise<void> {
    await this.end("SIGKILL");
    await rm(this.dir, { recursive: true, force: true });
  }

  /** Runs `turnleaf fsck` on the data; 0 means no findings. */
  async fsck(): Promise<number | null> {
    const child = this.spawn(["fsck"]);
    await once(child, "close");
    return child.exitCode;
  }

  /** Creates a chat of this many turns that the model server's model can continue; returns its turns, root first. */
  async plantLongChat(turns: number): Promise<{ chat: string; turns: string[] }> {
    const database = `sqlite://${join(this.dir, "state", "turnleaf.db")}`;
    return (await runPlant(["--database", database, "--model", MODEL, "--plain", `${turns}`]))[turns];
  }

  /** Imports the sample of a legacy schema as people do: with the command, while no server runs. */
  async importLegacy(sample: "legacy-messages" | "legacy-messages-without-turns" | "legacy-actions"): Promise<void> {
    const file = join(this.dir, `${sample}.db`);
    await runPlant(["--old", sample, file]);
    await this.stop();
    const child = this.spawn(["import", "--from", sample.replace("-without-turns", ""), file]);
    await once(child, "close");
    // The samples have rows that are left out, which the exit code says.
    if (![0, 3].includes(child.exitCode ?? 1)) throw new Error(this.outputTail);
    await this.restart();
  }

  /** Returns the code with which a server with accounts is set up. */
  async setupCode(): Promise<string> {
    return (await readFile(join(this.dir, "state", "setup-code"), "utf8")).trim();
  }

  /** Fetches a path of the API as JSON; the test knows its shape. */
  async get(path: string): Promise<any> {
    const answer = await fetch(this.url + path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Deletes the resource at a path of the API. */
  async delete(path: string): Promise<void> {
    const answer = await fetch(this.url + path, { method: "DELETE" });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }

  get log(): string {
    return this.outputTail;
  }

  private spawn(args: string[]): ChildProcess {
    const binary = process.env.TURNLEAF_BINARY;
    if (!binary) throw new Error("TURNLEAF_BINARY names no binary; `cargo xtask test end2end` sets it");
    const env = { ...plainEnvironment(), NO_COLOR: "1", ...this.environment };
    const child = spawn(binary, [...args, "--data-dir", join(this.dir, "state")], { cwd: this.dir, env });
    const keep = (bytes: Buffer) => (this.outputTail = (this.outputTail + bytes.toString()).slice(-20_000));
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    return child;
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill(signal);
    await closed;
  }
}
