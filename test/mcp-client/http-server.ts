/** A small MCP server over streamable HTTP on loopback that can be told to misbehave. Older era only. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into messages of every shape
type Message = { id?: string | number; method?: string; params?: any };
export type Seen = { method: string; headers: IncomingMessage['headers']; message: Message | null };
type Reply = { result: object } | { error: object };

export type HttpTool = {
  readonly name: string;
  /** `json` (default), `events`, or a stream that breaks off before the answer. */
  readonly as?: 'json' | 'events' | 'broken' | 'status 500' | 'page';
  readonly result?: object;
  /** Progress before the answer, in an event stream. */
  readonly progress?: number;
  readonly bytes?: number;
};

export class TestHttpServer {
  readonly seen: Seen[] = [];
  tools: HttpTool[];
  /** Requests without this token get 401. */
  token: string | null = null;
  /** What goes with the 401. */
  challenge = 'Bearer';
  /** Calls get 403 that asks for this scope. */
  wantsScope: string | null = null;
  readonly #server: Server;
  #sessions = 0;
  #session: string | null = null;
  #port = 0;

  private constructor(tools: HttpTool[]) {
    this.tools = tools;
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  static async start(tools: HttpTool[] = [{ name: 'echo' }]): Promise<TestHttpServer> {
    const server = new TestHttpServer(tools);
    await server.listen();
    onTestFinished(() => server.stop());
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** On the same port as before. */
  async listen(): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>(resolve => this.#server.close(() => resolve()));
  }

  forgetSession(): void {
    this.#session = null;
  }

  calls(): Message[] {
    return this.seen.flatMap(({ message }) => (message?.method === 'tools/call' ? [message] : []));
  }

  methods(): string[] {
    return this.seen.map(({ method, message }) => message?.method ?? method);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const message = text === '' ? null : (JSON.parse(text) as Message);
    this.seen.push({ method: request.method ?? '', headers: request.headers, message });
    if (this.token !== null && request.headers.authorization !== `Bearer ${this.token}`) {
      response.writeHead(401, { 'www-authenticate': this.challenge }).end('{"error":"unauthorized"}');
    } else if (request.method === 'GET') response.writeHead(405).end();
    else if (request.method === 'DELETE') response.writeHead(200).end();
    else if (message !== null) this.#answer(message, request, response);
  }

  #answer(message: Message, request: IncomingMessage, response: ServerResponse): void {
    if (message.method === 'initialize') {
      this.#session = `session-${++this.#sessions}`;
      const result = {
        protocolVersion: message.params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'http', version: '1' },
      };
      return json(response, { 'mcp-session-id': this.#session }, message, { result });
    }
    if (message.method === 'server/discover') {
      return json(response, {}, message, { error: { code: -32601, message: 'Method not found' } });
    }
    if (request.headers['mcp-session-id'] !== this.#session) {
      response.writeHead(404).end('{"error":"session not found"}');
    } else if (message.id === undefined) response.writeHead(202).end();
    else if (message.method === 'tools/list') {
      const tools = this.tools.map(({ name }) => ({ name, inputSchema: { type: 'object' } }));
      json(response, {}, message, { result: { tools } });
    } else this.#call(message, response);
  }

  #call(message: Message, response: ServerResponse): void {
    if (this.wantsScope !== null) {
      const challenge = `Bearer error="insufficient_scope", scope="${this.wantsScope}"`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return;
    }
    const tool = this.tools.find(({ name }) => name === message.params.name);
    const text = tool?.bytes
      ? 'x'.repeat(tool.bytes)
      : `${message.params.name} got ${JSON.stringify(message.params.arguments)}`;
    const reply = { result: tool?.result ?? { content: [{ type: 'text', text }] } };
    switch (tool?.as ?? 'json') {
      case 'json':
        return json(response, {}, message, reply);
      case 'status 500':
        response.writeHead(500).end('the database is gone');
        return;
      case 'page':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>');
        return;
      case 'events':
      case 'broken': {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const progressToken = message.params._meta?.progressToken;
        for (let progress = 1; progress <= (tool?.progress ?? 0); progress++) {
          event(response, { method: 'notifications/progress', params: { progressToken, progress } });
        }
        if (tool?.as === 'events') event(response, { id: message.id, ...reply });
        response.end();
      }
    }
  }
}

function json(response: ServerResponse, headers: Record<string, string>, { id }: Message, reply: Reply): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
}

function event(response: ServerResponse, message: object): void {
  response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}
