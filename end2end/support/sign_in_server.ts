// A tool server with a sign-in: a protected MCP server and its authorization server, whose page asks for a click.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export class SignInServer {
  /** The tokens that are valid now. */
  readonly tokens = new Set<string>();
  /** The calls that ran. */
  calls = 0;
  private made = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<SignInServer> {
    const server = createServer();
    const signIn = new SignInServer(server);
    server.on("request", (request, response) => {
      signIn.answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return signIn;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  get host(): string {
    return this.url.slice("http://".length);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = new URL(request.url ?? "", this.url);
    const json = (status: number, value: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    switch (address.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json(200, { resource: `${this.url}/mcp`, authorization_servers: [this.url], scopes_supported: ["read"] });
      case "/.well-known/oauth-authorization-server":
        return json(200, {
          issuer: this.url,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          registration_endpoint: `${this.url}/register`,
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
        });
      case "/register":
        return json(201, { client_id: "client", token_endpoint_auth_method: "none" });
      case "/authorize": {
        const back = new URL(address.searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", "code");
        back.searchParams.set("state", address.searchParams.get("state") ?? "");
        const link = back.href.replaceAll("&", "&amp;");
        response.writeHead(200, { "content-type": "text/html" });
        response.end(`<!doctype html><html lang="en"><title>Consent</title><link rel="icon" href="data:,"><a href="${link}">Agree</a></html>`);
        return;
      }
      case "/token": {
        this.made += 1;
        const token = `access-token-${this.made}`;
        this.tokens.add(token);
        return json(200, { access_token: token, token_type: "Bearer" });
      }
      case "/mcp":
        return this.answerCall(request, response, json);
      default:
        response.writeHead(404).end();
    }
  }

  private async answerCall(
    request: IncomingMessage,
    response: ServerResponse,
    json: (status: number, value: unknown, headers?: Record<string, string>) => void,
  ): Promise<void> {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    let body = "";
    for await (const piece of request) body += String(piece);
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    if (!this.tokens.has(token)) {
      const metadata = `${this.url}/.well-known/oauth-protected-resource/mcp`;
      return json(401, {}, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
    }
    const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: { protocolVersion: string } };
    const answer = (result: unknown) => json(200, { jsonrpc: "2.0", id, result });
    switch (method) {
      case "initialize":
        return answer({
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "protected", version: "1" },
        });
      case "tools/list":
        return answer({ tools: [{ name: "look", inputSchema: { type: "object" } }] });
      case "tools/call":
        this.calls += 1;
        return answer({ content: [{ type: "text", text: "Seen." }] });
      default:
        response.writeHead(202).end();
    }
  }
}
