// Chats with tools: the tool server behind them, and what a person sees of a call.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Locator, Page } from "@playwright/test";

import { waitForHydration } from "./chat.ts";
import { test as base } from "./fixtures.ts";
import { MODEL, ModelServer } from "./model_server.ts";
import { Turnleaf } from "./turnleaf.ts";

const PROGRAM = fileURLToPath(new URL("tool_server.mjs", import.meta.url));

/** The tool server as its test sees it. */
export class ToolServer {
  constructor(private readonly dir: string) {}

  /** The calls that ran, in order: the tool and its text. */
  get ran(): string[] {
    const log = join(this.dir, "ran");
    return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").filter(Boolean) : [];
  }

  /** Lets every slow tool end. */
  releaseCalls(): void {
    writeFileSync(join(this.dir, "gate"), "");
  }

  static config(dir: string, extra = 0, pages = false): string {
    const command = [process.execPath, PROGRAM, join(dir, "ran"), join(dir, "gate"), String(extra), pages ? "pages" : ""];
    return `[[tool_servers]]\nid = "files"\nname = "Files"\ncommand = ${JSON.stringify(command)}\ntrusted_tools = ["search", "long", "ask"]\n`;
  }
}

export const test = base.extend<{ tools: ToolServer; extraTools: number; withPages: boolean }>({
  extraTools: [0, { option: true }],
  withPages: [false, { option: true }],
  turnleaf: async ({ model, extraTools, withPages }, use, info) => {
    const turnleaf = await Turnleaf.start(model.environment, (dir) => ToolServer.config(dir, extraTools, withPages));
    await use(turnleaf);
    if (info.status !== info.expectedStatus) await info.attach("turnleaf.log", { body: turnleaf.log });
    await turnleaf.remove();
  },
  tools: async ({ turnleaf }, use) => use(new ToolServer(turnleaf.dir)),
});

/** Creates a chat with all tools of the server enabled, through the API. */
export async function createChatWithTools(turnleaf: Turnleaf, title = "Tools"): Promise<string> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ provider: "openai", model: MODEL, title });
  const made = await fetch(`${turnleaf.url}/api/chats`, { method: "POST", headers, body });
  if (made.status !== 201) throw new Error(`${made.status}: ${await made.text()}`);
  const { id } = (await made.json()) as { id: string };
  // A pattern is used, because a server that is still starting has no tools yet.
  const choice = JSON.stringify({ on: ["files/*"] });
  const chosen = await fetch(`${turnleaf.url}/api/chats/${id}/tools`, { method: "PUT", headers, body: choice });
  if (!chosen.ok) throw new Error(`${chosen.status}: ${await chosen.text()}`);
  return id;
}

/** Opens such a chat. */
export async function openChatWithTools(page: Page, turnleaf: Turnleaf, title?: string): Promise<string> {
  const id = await createChatWithTools(turnleaf, title);
  await page.goto(`/c/${id}`);
  await waitForHydration(page);
  return id;
}

/** Returns the name of a tool of the server in requests. */
export const wireName = (tool: string): string => `files__${tool}`;

export const toolCards = (page: Page): Locator => page.locator("[data-segment=tool]");
export const approvalPrompt = (page: Page): Locator => page.locator(".ask");
export const decisionButton = (page: Page, name: string): Locator => approvalPrompt(page).getByRole("button", { name, exact: true });

/** Returns the tool results of a request to the model, newest last. */
export function toolMessages(request: any): { id: string; content: string }[] {
  const messages = request.messages.filter((message: any) => message.role === "tool");
  return messages.map((message: any) => ({ id: message.tool_call_id, content: JSON.stringify(message.content) }));
}

export type { ModelServer };
