// A SearXNG instance that finds what a test says, and records what it was asked.
import { once } from "node:events";
import { createServer, type Server } from "node:http";

export interface FoundPage {
  url: string;
  title: string;
  content: string;
}

export class SearchServer {
  readonly queries: string[] = [];
  /** False answers as an instance that does not allow JSON. */
  allowsJson = true;

  private constructor(
    private readonly server: Server,
    private readonly found: FoundPage[],
  ) {}

  static async start(found: FoundPage[]): Promise<SearchServer> {
    const server = createServer();
    const search = new SearchServer(server, found);
    server.on("request", (request, response) => {
      const address = new URL(request.url ?? "", "http://search.example");
      search.queries.push(address.searchParams.get("q") ?? "");
      if (!search.allowsJson || address.searchParams.get("format") !== "json") {
        response.writeHead(403).end("Forbidden");
        return;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ query: "", results: search.found, unresponsive_engines: [] }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return search;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}
