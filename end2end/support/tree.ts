// Creates chats with branches through the API: a trunk of exchanges, and twigs that branch off it.
import { MODEL, type ModelServer } from "./model_server.ts";
import type { Turnleaf } from "./turnleaf.ts";

export interface PlantedTree {
  chat: string;
  /** The replies of the trunk, oldest first. */
  trunk: string[];
  /** The replies of the twigs. */
  twigs: string[];
}

/** Sends a message after a reply, waits for the end of the new reply, and returns its id. */
export async function addExchange(turnleaf: Turnleaf, chat: string, content: string, behind?: string): Promise<string> {
  const body = JSON.stringify({ text: content, ...(behind === undefined ? {} : { prev_turn_id: behind }) });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${turnleaf.url}/api/chats/${chat}/turns`, { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
  const { assistant_turn: reply } = (await answer.json()) as { assistant_turn: { id: string } };
  // The event stream ends with the reply.
  await (await fetch(`${turnleaf.url}/api/turns/${reply.id}/events`)).text();
  return reply.id;
}

/**
 * Creates a chat of `trunk` exchanges and `twigs` more that branch off it in rotation, the last after the newest
 * reply but one.
 */
export async function plantTree(turnleaf: Turnleaf, model: ModelServer, trunk: number, twigs: number): Promise<PlantedTree> {
  const answering = (async () => {
    for (let n = 0; n < trunk + twigs; n += 1) (await model.nextReply()).finishWithText(`Answer ${n}`);
  })();
  const body = JSON.stringify({ provider: "openai", model: MODEL, title: "A tree" });
  const headers = { "content-type": "application/json" };
  const made = await fetch(`${turnleaf.url}/api/chats`, { method: "POST", headers, body });
  const { id: chat } = (await made.json()) as { id: string };
  const planted: PlantedTree = { chat, trunk: [], twigs: [] };
  for (let n = 0; n < trunk; n += 1) {
    planted.trunk.push(await addExchange(turnleaf, chat, `Question ${n}`, planted.trunk.at(-1)));
  }
  const forks = planted.trunk.slice(0, -1);
  const next = { at: 0 };
  const worker = async () => {
    while (next.at < twigs) {
      const n = next.at;
      next.at += 1;
      planted.twigs[n] = await addExchange(turnleaf, chat, `Twig ${n}`, forks[n % forks.length]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(8, twigs) }, worker));
  await answering;
  return planted;
}
