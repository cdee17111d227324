// A server that has been used for a while: a chat with two branches, one of which was rerun, a document with two
// versions, counted usage, an import, and a Trash with something of every kind. All texts and names are fixed, and
// "leaf" is in most of them.
import { MODEL, type ModelServer } from "./model_server.ts";
import { addExchange } from "./tree.ts";
import type { Turnleaf } from "./turnleaf.ts";

export interface SeededServer {
  chat: string;
  /** A message in the middle of the chat, and its reply. */
  message: string;
  reply: string;
  /** The leaves of the two branches. */
  leaves: [left: string, right: string];
  graft: string;
  document: string;
  /** The versions of the document, oldest first, as addresses name them. */
  versions: [older: string, newer: string];
  importId: string;
}

const PLAN = "# Plan\n\nLook for the newest leaf.\nFollow it to the root.\n\n| tree | leaves |\n|---|---|\n| oak | 7 |\n";
const LATER = `${PLAN.replace("newest leaf", "oldest leaf")}\nThen write down where it hangs.\n`;

/**
 * All texts and names of the seeded content as pages show them; any other text on a page belongs to the interface.
 */
export const SEEDED_TEXTS = [
  "How leaves grow", "An old chat", "Plan", "Field notes", "Rough notes", "Where does a leaf come from?", "And in autumn?", "And in spring?",
  "What was there before?", "And what did nobody want?", "Is this one dry?", "A leaf grows from a bud at a node.",
  "A leaf grows from a **bud** at a node.", "In autumn the leaf falls.", "In spring a new leaf comes.", "A leaf comes out of a bud.",
  "It falls off.", "An old leaf.", "A leaf too many.", "Dry.", "A leaf of an oak.", "Not needed.", "old.json",
  PLAN, LATER,
];

/** Polls a condition; the timeout of the test bounds it. */
async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((later) => setTimeout(later, 20));
}

/** Seeds the server. The replies come from the model server. */
export async function seedServer(turnleaf: Turnleaf, model: ModelServer): Promise<SeededServer> {
  const post = async (path: string, body: unknown, method = "POST"): Promise<any> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(turnleaf.url + path, { method, headers, body: typeof body === "string" ? body : JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const begun = async (title: string): Promise<string> => (await post("/api/chats", { provider: "openai", model: MODEL, title })).id;
  const answered = async <T>(answers: string[], deeds: () => Promise<T>): Promise<T> => {
    const answering = (async () => {
      for (const text of answers) (await model.nextReply()).finishWithText(text);
    })();
    const made = await deeds();
    await answering;
    return made;
  };

  const chat = await begun("How leaves grow");
  const answers = ["A leaf grows from a **bud** at a node.", "In autumn the leaf falls.", "In spring a new leaf comes."];
  const [reply, left, right] = await answered(answers, async () => {
    const first = await addExchange(turnleaf, chat, "Where does a leaf come from?");
    return [first, await addExchange(turnleaf, chat, "And in autumn?", first), await addExchange(turnleaf, chat, "And in spring?", first)] as const;
  });
  const message: string = (await turnleaf.get(`/api/turns/${reply}`)).prev_turn_id;

  const graft: string = await answered(["A leaf comes out of a bud.", "It falls off."], async () => {
    const { graft } = await post(`/api/chats/${chat}/grafts`, { leaf_turn_id: left, provider: "openai", model: MODEL });
    await waitUntil(async () => (await turnleaf.get(`/api/grafts/${graft.id}`)).graft.status !== "running");
    return graft.id;
  });

  const document: string = (await post("/api/documents", { title: "Plan", content: PLAN })).id;
  await post(`/api/documents/${document}`, { content: LATER }, "PUT");
  await post("/api/documents", { title: "Field notes", content: "A leaf of an oak." });
  const found = await turnleaf.get(`/api/documents/${document}/versions`);
  const versions = found.map((version: { version_timestamp: string }) => version.version_timestamp).sort() as [string, string];

  // This chat is exported, imported again and deleted, so that the imports and Trash have entries.
  const old = await begun("An old chat");
  await answered(["An old leaf.", "A leaf too many.", "Dry."], async () => {
    const first = await addExchange(turnleaf, old, "What was there before?");
    await addExchange(turnleaf, old, "And what did nobody want?", first);
    const next = await addExchange(turnleaf, chat, "Is this one dry?", right);
    await turnleaf.delete(`/api/turns/${next}`);
  });
  const archive = await (await fetch(`${turnleaf.url}/api/chats/${old}/export?format=json`)).text();
  const { id: taken } = await post("/api/imports?name=old.json", archive);
  await waitUntil(async () => (await turnleaf.get(`/api/imports/${taken}`)).is_over);
  await turnleaf.delete(`/api/chats/${old}`);
  const gone = await post("/api/documents", { title: "Rough notes", content: "Not needed." });
  await turnleaf.delete(`/api/documents/${gone.id}`);
  // Nothing is marked as new, because marks go at different moments.
  await fetch(`${turnleaf.url}/forms/notifications`, { method: "POST", redirect: "manual" });
  return { chat, message, reply, leaves: [left, right], graft, document, versions, importId: taken };
}
