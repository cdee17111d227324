// An MCP server for the tests: it speaks over its standard streams, one JSON message per line. It logs each call into
// a file, so that a test knows what ran and how often.
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";

// `extra` is a number of further tools, for the tests of the tool search.
const [, , log, gate, extra = "0"] = process.argv;
const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const TOOLS = [
  { name: "search", title: "Search", description: "Finds text.", inputSchema: TEXT },
  { name: "delete", title: "Delete a file", description: "Deletes a file.", inputSchema: TEXT },
  { name: "tree", title: "Tree", description: "Gives structured content.", inputSchema: TEXT },
  { name: "picture", title: "Picture", description: "Gives an image.", inputSchema: TEXT },
  { name: "long", title: "Long", description: "Gives more than a page shows.", inputSchema: TEXT },
  { name: "slow", title: "Slow", description: "Runs until it is let go or stopped.", inputSchema: TEXT },
];
for (let n = 1; n <= Number(extra); n += 1) {
  TOOLS.push({ name: `extra${n}`, title: `Extra ${n}`, description: "Does something else.", inputSchema: TEXT });
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

function call(id, params) {
  const query = params.arguments?.text ?? "";
  appendFileSync(log, `${params.name} ${query}\n`);
  switch (params.name) {
    case "search":
      return say({ id, result: text(`Found ${query}.`) });
    case "delete":
      return say({ id, result: text(`Deleted ${query}.`) });
    case "tree": {
      const structuredContent = { items: [{ name: query, size: 3 }], total: 1 };
      return say({ id, result: { ...text(JSON.stringify(structuredContent)), structuredContent } });
    }
    case "picture":
      return say({ id, result: { content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] } });
    case "long":
      return say({ id, result: text(`${"A line of many.\n".repeat(8_000)}The end.`) });
    case "slow":
      return void slow(id, params);
    default:
      return say({ id, error: { code: -32602, message: `no tool ${params.name}` } });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "test-tools", version: "1.0.0" };
      return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    }
    case "tools/list":
      return say({ id, result: { tools: TOOLS } });
    case "tools/call":
      return call(id, params);
    case "notifications/cancelled":
      return stopped.add(params.requestId);
    default:
      if (id !== undefined) say({ id, result: {} });
  }
});
