// A scripted model server: it waits for a request and then streams exactly what the test tells it, when the test
// tells it. So a test can inspect a reply in the middle without depending on timing.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** The model that the server offers. */
export const MODEL = "test-model";

/** One streaming reply. */
export class Reply {
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<unknown>;
  private static calls = 0;

  constructor(
    /** The body of the request. */
    readonly request: any,
    private readonly response: ServerResponse,
  ) {
    this.closed = once(response, "close");
  }

  /** Streams text. */
  sendText(content: string): void {
    this.write({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  }

  /** Streams reasoning. */
  sendReasoning(reasoning_content: string): void {
    this.write({ choices: [{ index: 0, delta: { reasoning_content }, finish_reason: null }] });
  }

  /** Streams a citation of the text between two offsets. */
  sendCitation(url: string, title: string, start_index: number, end_index: number): void {
    const citation = { type: "url_citation", url_citation: { url, title, start_index, end_index } };
    this.write({ choices: [{ index: 0, delta: { annotations: [citation] }, finish_reason: null }] });
  }

  /** Starts a tool call; its arguments follow. */
  startToolCall(index: number, id: string, name: string): void {
    const call = { index, id, type: "function", function: { name, arguments: "" } };
    this.write({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] });
  }

  /** Streams a piece of a call's arguments. */
  sendToolArguments(index: number, piece: string): void {
    const call = { index, function: { arguments: piece } };
    this.write({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] });
  }

  /** Calls these tools at once, each with its text, and ends the reply. */
  finishWithToolCalls(...calls: [tool: string, text: string][]): void {
    for (const [index, [tool, text]] of calls.entries()) {
      this.startToolCall(index, `call-${index}-${Reply.calls++}`, tool);
      this.sendToolArguments(index, JSON.stringify({ text }));
    }
    this.finish("tool_calls");
  }

  /** Ends the reply normally. */
  finish(finish_reason = "stop"): void {
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
    this.write({ choices: [{ index: 0, delta: {}, finish_reason }], usage });
    this.response.end("data: [DONE]\n\n");
  }

  /** Streams the whole text and ends the reply. */
  finishWithText(content: string): void {
    this.sendText(content);
    this.finish();
  }

  /** Drops the connection without an end of the reply. */
  dropConnection(): void {
    this.response.destroy();
  }

  private write(chunk: object): void {
    const event = { id: "chat-1", object: "chat.completion.chunk", created: 1, model: MODEL, ...chunk };
    this.response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
}

export class ModelServer {
  /** The number of requested replies. */
  requestCount = 0;
  /** The models that the server lists. */
  models = [MODEL];
  private readonly refusals: [status: number, headers: Record<string, string>, message: string][] = [];
  private readonly waiting: Reply[] = [];
  private readonly wanted: ((reply: Reply) => void)[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ModelServer> {
    const server = createServer();
    const model = new ModelServer(server);
    server.on("request", (request, response) => void model.answer(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return model;
  }

  /** The environment variables that configure Turnleaf to use this server. */
  get environment(): Record<string, string> {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return { OPENAI_BASE_URL: `http://127.0.0.1:${address.port}/v1`, OPENAI_API_KEY: "test" };
  }

  /** Waits for the next reply that Turnleaf requests. */
  nextReply(): Promise<Reply> {
    const reply = this.waiting.shift();
    return reply ? Promise.resolve(reply) : new Promise((found) => this.wanted.push(found));
  }

  /** Refuses the next request that has no refusal yet. */
  refuseNext(status: number, headers: Record<string, string> = {}, message = "refused"): void {
    this.refusals.push([status, headers, message]);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.endsWith("/models")) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: this.models.map((id) => ({ id, object: "model" })) }));
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    this.requestCount += 1;
    const refusal = this.refusals.shift();
    if (refusal) {
      response.writeHead(refusal[0], { "content-type": "application/json", ...refusal[1] });
      response.end(JSON.stringify({ error: { message: refusal[2], type: "refused", code: null } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    const reply = new Reply(JSON.parse(Buffer.concat(pieces).toString()), response);
    const wanted = this.wanted.shift();
    if (wanted) wanted(reply);
    else this.waiting.push(reply);
  }
}
