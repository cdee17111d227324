// A tool server as people write it in TypeScript: schemas by zod, with patterns that only ECMA-262 knows.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "zod-server", version: "1.0.0" });
const schemas = {
  email: z.email(),
  url: z.url(),
  duration: z.iso.duration(),
  datetime: z.iso.datetime(),
  emoji: z.emoji(),
  password: z.string().regex(/^(?=.*\d)(?=.*[a-z]).{8,}$/),
  quoted: z.string().regex(/^(["']).*\1$/),
  letters: z.string().regex(/^\p{L}+$/u),
};
for (const [name, value] of Object.entries(schemas)) {
  server.registerTool(name, { description: `Takes ${name}.`, inputSchema: { value } }, async ({ value }) => ({
    content: [{ type: "text", text: `${name}: ${value}` }],
  }));
}
const node = z.object({ name: z.string(), get children() { return z.array(node).optional(); } });
server.registerTool("tree", { description: "Takes a tree.", inputSchema: { root: node } }, async ({ root }) => ({
  content: [{ type: "text", text: `tree: ${root.children?.length ?? 0}` }],
}));
const list = { items: z.array(z.object({ id: z.number(), name: z.string() })), total: z.number() };
server.registerTool("list", { description: "Gives a list.", inputSchema: {}, outputSchema: list }, async () => {
  const structuredContent = { items: [{ id: 1, name: "UNIQUE" }], total: 1 };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent, null, 2) }], structuredContent };
});
await server.connect(new StdioServerTransport());
