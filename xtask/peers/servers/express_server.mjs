// A tool server over HTTP as people write it in TypeScript: Express reads the bodies, a map keeps the sessions, and a
// request of an unknown one is refused with its own id. It listens at the port in `PORT`.
import { randomUUID } from "node:crypto";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";

const sessions = new Map();
let begun = 0;

function createServer() {
  const server = new McpServer({ name: "express-server", version: "1.0.0" });
  const register = (name, description, run) =>
    server.registerTool(name, { description, inputSchema: {} }, async () => ({
      content: [{ type: "text", text: run() }],
    }));
  register("begun", "Counts the sessions that have begun.", () => String(begun));
  register("forget", "Forgets all sessions.", () => {
    sessions.clear();
    return "forgotten";
  });
  return server;
}

async function createTransport() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
      begun += 1;
    },
  });
  await createServer().connect(transport);
  return transport;
}

const app = createMcpExpressApp();
app.all("/mcp", async (request, response) => {
  const session = request.headers["mcp-session-id"];
  const isFirst = session === undefined && isInitializeRequest(request.body);
  const transport = isFirst ? await createTransport() : sessions.get(session);
  if (transport === undefined) {
    const error = { code: -32000, message: "Bad Request: No valid session ID provided" };
    response.status(400).json({ jsonrpc: "2.0", error, id: request.body?.id ?? null });
    return;
  }
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(process.env.PORT), "127.0.0.1");
