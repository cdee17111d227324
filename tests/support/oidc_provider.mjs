// An authorization server from npm (oidc-provider) with an MCP server that it protects, for the tests of the sign-in to
// tool servers. Arguments: the folder of the packages. It prints its port, agrees to every sign-in, and replaces a refresh
// token at each use. A call of `look` with `expires` is the last with its access token.

import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(join(modules, "oidc-provider/lib/index.js")).href);

const server = createServer();
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;
const resource = `${origin}/mcp`;

const provider = new Provider(origin, {
  cookies: { keys: ["only for tests"] },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: "read", accessTokenFormat: "opaque", accessTokenTTL: 600 }),
    },
  },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  scopes: ["openid", "offline_access"],
});
const handle = provider.callback();
const expired = new Set();

async function agree(request, response) {
  const details = await provider.interactionDetails(request, response);
  if (details.prompt.name === "login") {
    return provider.interactionFinished(request, response, { login: { accountId: "person" } });
  }
  const grant = new provider.Grant({ accountId: "person", clientId: details.params.client_id });
  grant.addOIDCScope("openid offline_access");
  grant.addResourceScope(resource, "read");
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

function send(response, status, headers, value) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(value === undefined ? "" : JSON.stringify(value));
}

async function answer(request, response) {
  if (request.method !== "POST") return send(response, 405, {});
  let body = "";
  for await (const piece of request) body += piece;
  const bearer = (request.headers.authorization ?? "").replace(/^Bearer /, "");
  const token = bearer === "" ? undefined : await provider.AccessToken.find(bearer);
  if (token?.aud !== resource || !token.scopes.has("read") || expired.has(bearer)) {
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    return send(response, 401, { "www-authenticate": `Bearer resource_metadata="${metadata}", scope="read"` });
  }
  const { id, method, params } = JSON.parse(body);
  const results = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "protected", version: "1" },
    }),
    "tools/list": () => ({ tools: [{ name: "look", inputSchema: { type: "object" } }] }),
    "tools/call": () => {
      if (params.arguments?.expires) expired.add(bearer);
      return { content: [{ type: "text", text: `seen by ${token.accountId}` }] };
    },
  };
  if (!(method in results)) return send(response, 202, {});
  return send(response, 200, {}, { jsonrpc: "2.0", id, result: results[method]() });
}

server.on("request", (request, response) => {
  const path = request.url.split("?")[0];
  const handlers = {
    "/mcp": answer,
    "/.well-known/oauth-protected-resource/mcp": () =>
      send(response, 200, {}, { resource, authorization_servers: [origin], scopes_supported: ["read"] }),
  };
  const handler = path.startsWith("/interaction/") ? agree : (handlers[path] ?? handle);
  Promise.resolve(handler(request, response)).catch((error) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
});
console.log(server.address().port);
