/** A client that knows JSON-RPC lines and nothing else; works on any pair of streams. */
import type { Readable, Writable } from 'node:stream';

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into messages of every shape
export type Message = { id?: string | number | null; method?: string; params?: any; result?: any; error?: any };

export class LineClient {
  readonly messages: Message[] = [];
  /** Lines that were no JSON-RPC. */
  readonly garbage: string[] = [];
  readonly #input: Writable;
  readonly #output: Readable;
  readonly #watchers = new Set<() => void>();
  /** Pieces of the line that has not ended yet. */
  #rest: string[] = [];
  #nextId = 1001;
  /** Answers requests of the server; undefined = no answer. */
  onRequest: (request: Message) => object | undefined = () => undefined;

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    this.#output = output;
    input.on('error', () => {});
    output.setEncoding('utf8');
    output.on('data', (text: string) => this.#read(text));
  }

  get responses(): Message[] {
    return this.messages.filter(({ method }) => method === undefined);
  }

  get requests(): Message[] {
    return this.messages.filter(({ method, id }) => method !== undefined && id !== undefined);
  }

  notifications(method: string): Message[] {
    return this.messages.filter(message => message.method === method);
  }

  /** The messages of `codex/event`. */
  events(type?: string): Message['params'][] {
    const all = this.notifications('codex/event').map(({ params }) => params);
    return type === undefined ? all : all.filter(({ msg }) => msg.type === type);
  }

  raw(text: string | Buffer): void {
    this.#input.write(text);
  }

  send(message: object): void {
    this.raw(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  notify(method: string, params?: object): void {
    this.send({ method, ...(params && { params }) });
  }

  /** Resolves to the response. */
  request(method: string, params?: object, id: string | number = this.#nextId++): Promise<Message> {
    this.send({ id, method, ...(params && { params }) });
    return this.waitFor(() => this.responses.find(message => message.id === id));
  }

  initialize(capabilities: object = { elicitation: {} }, protocolVersion = '2025-06-18'): Promise<Message> {
    const clientInfo = { name: 'lines', version: '1' };
    const answered = this.request('initialize', { protocolVersion, capabilities, clientInfo }, 'hello');
    this.notify('notifications/initialized');
    return answered;
  }

  call(tool: string, args: unknown, extra: { id?: string | number; token?: string | number } = {}): Promise<Message> {
    const meta = extra.token === undefined ? {} : { _meta: { progressToken: extra.token } };
    return this.request('tools/call', { name: tool, arguments: args, ...meta }, extra.id ?? this.#nextId++);
  }

  pause(): void {
    this.#output.pause();
  }

  resume(): void {
    this.#output.resume();
  }

  /** Closes the client's sending side. */
  end(): void {
    this.#input.end();
  }

  /** The first truthy value of `find`, tried at each message. */
  waitFor<T>(find: () => T | undefined | false): Promise<T> {
    return new Promise(resolve => {
      const look = () => {
        const found = find();
        if (found === undefined || found === false) return;
        this.#watchers.delete(look);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
  }

  #read(text: string): void {
    const [first = '', ...others] = text.split('\n');
    this.#rest.push(first);
    for (const next of others) {
      this.#line(this.#rest.join(''));
      this.#rest = [next];
    }
    for (const look of this.#watchers) look();
  }

  #line(line: string): void {
    let message: Message & { jsonrpc?: string };
    try {
      message = JSON.parse(line);
    } catch {
      this.garbage.push(line);
      return;
    }
    if (message.jsonrpc !== '2.0') this.garbage.push(line);
    this.messages.push(message);
    if (message.method === undefined || message.id === undefined) return;
    const reply = this.onRequest(message);
    if (reply) this.send({ id: message.id, ...reply });
  }
}
