// An MCP server for the tests: it speaks over its standard streams, one JSON message per line. It logs each call into
// a file, so that a test knows what ran and how often.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// `extra` is a number of further tools, for the tests of the tool search; with `pages` there are tools with a page, and a
// prompt that asks first.
const [, , log, gate, extra = "0", pages = ""] = process.argv;
const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const TOOLS = [
  { name: "search", title: "Search", description: "Finds text.", inputSchema: TEXT },
  { name: "delete", title: "Delete a file", description: "Deletes a file.", inputSchema: TEXT },
  { name: "tree", title: "Tree", description: "Gives structured content.", inputSchema: TEXT },
  { name: "picture", title: "Picture", description: "Gives an image.", inputSchema: TEXT },
  { name: "long", title: "Long", description: "Gives more than a page shows.", inputSchema: TEXT },
  { name: "ask", title: "Ask", description: "Asks the user.", inputSchema: TEXT },
  { name: "slow", title: "Slow", description: "Runs until it is let go or stopped.", inputSchema: TEXT },
];
for (let n = 1; n <= Number(extra); n += 1) {
  TOOLS.push({ name: `extra${n}`, title: `Extra ${n}`, description: "Does something else.", inputSchema: TEXT });
}
const BOARD = "ui://files/board";
if (pages) {
  const ui = { resourceUri: BOARD };
  TOOLS.push(
    { name: "board", title: "Board", description: "Shows a board.", inputSchema: TEXT, _meta: { ui } },
    { name: "wait", title: "Wait", description: "Runs until it is stopped.", inputSchema: TEXT, _meta: { ui } },
    { name: "refresh", title: "Refresh", inputSchema: TEXT, _meta: { ui: { ...ui, visibility: ["app"] } } },
  );
}
/** Returns the content of a resource. */
function resource(uri) {
  if (uri !== BOARD) return { uri, mimeType: "text/markdown", text: `# Notes of ${uri.split("://")[1]}` };
  appendFileSync(log, "page\n");
  const text = readFileSync(new URL("board.html", import.meta.url), "utf8");
  return { uri, mimeType: "text/html;profile=mcp-app", text };
}
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const stopped = new Set();
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (text) => ({ content: [{ type: "text", text }] });

/** A slow tool: ends when the gate file exists. */
async function slow(id, params) {
  const token = params._meta?.progressToken;
  for (let step = 1; !existsSync(gate) && !stopped.has(id); step += 1) {
    if (token !== undefined) {
      const message = params.arguments?.text === "lines" ? `file ${step}` : "copying";
      say({ method: "notifications/progress", params: { progressToken: token, progress: step, total: 100, message } });
    }
    await new Promise((done) => setTimeout(done, 200));
  }
  if (!stopped.has(id)) say({ id, result: text("It took a while.") });
}

const CITY = {
  type: "object",
  required: ["city"],
  properties: {
    city: { type: "string", title: "City", minLength: 2 },
    size: { type: "string", title: "Size", enum: ["s", "l"], enumNames: ["Small", "Large"], default: "l" },
  },
};
const PAGE = { mode: "url", elicitationId: "page-1", url: "https://auth.example/start?x=1" };
/** The calls that wait for an answer of the user, by the id of the question. */
const asking = new Map();

/** Asks the user; the answer becomes the result. The text `page` asks for a page instead of a form. */
function ask(id, query) {
  const question = `question-${id}`;
  asking.set(question, id);
  const params = query === "page" ? { ...PAGE, message: "Sign in." } : { message: "Where to?", requestedSchema: CITY };
  say({ id: question, method: "elicitation/create", params });
}

function call(id, params) {
  const query = params.arguments?.text ?? "";
  appendFileSync(log, `${params.name} ${query}\n`);
  switch (params.name) {
    case "search": {
      const { content } = text(`Found ${query}.`);
      const links = query === "links" ? [{ type: "resource_link", uri: "notes://today", name: "Today" }] : [];
      return say({ id, result: { content: [...content, ...links] } });
    }
    case "delete":
      return say({ id, result: text(`Deleted ${query}.`) });
    case "tree": {
      const structuredContent = { items: [{ name: query, size: 3 }], total: 1 };
      return say({ id, result: { ...text(JSON.stringify(structuredContent)), structuredContent } });
    }
    case "picture":
      return say({ id, result: { content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] } });
    case "board":
      return say({ id, result: { ...text("A board."), structuredContent: { cards: [query] } } });
    case "long":
      return say({ id, result: text(`${"A line of many.\n".repeat(8_000)}The end.`) });
    case "ask":
      return ask(id, query);
    case "wait":
    case "slow":
      return void slow(id, params);
    default:
      return say({ id, error: { code: -32602, message: `no tool ${params.name}` } });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined && asking.has(id)) {
    say({ id: asking.get(id), result: text(JSON.stringify(result ?? error)) });
    return asking.delete(id);
  }
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "test-tools", version: "1.0.0" };
      const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
      const instructions = "Search before you delete.";
      return say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo, instructions } });
    }
    case "tools/list":
      return say({ id, result: { tools: TOOLS } });
    case "resources/list":
      return say({ id, result: { resources: [{ uri: "notes://today", name: "Today", mimeType: "text/markdown" }] } });
    case "resources/templates/list":
      return say({ id, result: { resourceTemplates: [{ uriTemplate: "notes://{day}", name: "A day" }] } });
    case "resources/read":
      return say({ id, result: { contents: [resource(params.uri)] } });
    case "prompts/list": {
      const topic = { name: "topic", required: true };
      const asking = pages ? [{ name: "trip", title: "Trip" }] : [];
      return say({ id, result: { prompts: [{ name: "plan", title: "Plan" }, { name: "review", arguments: [topic] }, ...asking] } });
    }
    case "prompts/get": {
      if (params.name === "trip" && !params.inputResponses) {
        const asked = { mode: "form", message: "Where to?", requestedSchema: CITY };
        const inputRequests = { city: { method: "elicitation/create", params: asked } };
        return say({ id, result: { resultType: "input_required", inputRequests, requestState: "begun" } });
      }
      if (params.name === "trip") {
        const text = `Plan a trip to ${params.inputResponses.city.content.city} (${params.requestState}).`;
        return say({ id, result: { messages: [{ role: "user", content: { type: "text", text } }] } });
      }
      const words = params.name === "plan" ? "Plan my day." : `Review ${params.arguments.topic}.`;
      return say({ id, result: { messages: [{ role: "user", content: { type: "text", text: words } }] } });
    }
    case "completion/complete": {
      const all = params.ref.type === "ref/prompt" ? ["my code", "my text", "a plan"] : ["monday", "a & b"];
      const values = all.filter((value) => value.startsWith(params.argument.value));
      return say({ id, result: { completion: { values, hasMore: false } } });
    }
    case "tools/call":
      return call(id, params);
    case "notifications/cancelled":
      return stopped.add(params.requestId);
    default:
      if (id !== undefined) say({ id, result: {} });
  }
});
