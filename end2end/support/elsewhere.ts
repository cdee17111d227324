// A server elsewhere, to which nothing untrusted may get.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { ProblemWatch } from "./fixtures.ts";

/** Counts what arrives. */
export class Elsewhere {
  readonly arrived: string[] = [];
  private constructor(private readonly server: Server) {
    server.on("request", (request, response) => {
      this.arrived.push(`${request.method} ${request.url}`);
      response.end();
    });
  }

  static async start(): Promise<Elsewhere> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return new Elsewhere(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Expects what the browser says about everything that a document is kept from. */
  expectRefusals(watch: ProblemWatch): void {
    watch.expect(/content policy: /);
    watch.expect(/Content Security Policy|sandbox|SecurityError|Unsafe attempt|ERR_BLOCKED|Blocked |Refused to/i);
    watch.expect(new RegExp(`^request to (http|ws)${this.url.slice(4)}`));
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
