/**
 * One client on a pair of streams. Reads messages, answers what needs no session, refuses what breaks the rules of
 * the protocol, and hands the rest to the session of the era the message belongs to.
 */
import { isObject, stackOf } from '../util/index.js';
import {
  discoverResult,
  type Era,
  initializeResult,
  MODERN_VERSIONS,
  metaProblem,
  modernMeta,
  type ServerInfo,
  serverInfo,
  toolsListResult,
  VERSION_KEY,
} from './greeting.js';
import type { LineWriter } from './line-writer.js';
import {
  errorResponse,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type Incoming,
  type JsonObject,
  parseLine,
  type RequestId,
  UNSUPPORTED_PROTOCOL_VERSION,
} from './message.js';
import type { Session } from './session.js';

type Request = Extract<Incoming, { type: 'request' }>;

export type ConnectionOptions = {
  readonly writer: LineWriter;
  readonly version: string;
  readonly log: (message: string) => void;
  /** Loads what is heavy. */
  readonly openSession: (era: Era) => Promise<Session>;
};

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #info: ServerInfo;
  /** What the client declared in `initialize`; null before that. */
  #clientCapabilities: JsonObject | null = null;
  /** What `initialize` agreed on; null before that. */
  #protocolVersion: string | null = null;
  readonly #sessions = new Map<Era, Promise<Session>>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#info = serverInfo(options.version);
  }

  get clientCapabilities(): JsonObject | null {
    return this.#clientCapabilities;
  }

  get protocolVersion(): string | null {
    return this.#protocolVersion;
  }

  receive(line: string): void {
    const message = parseLine(line);
    switch (message.type) {
      case 'invalid':
        this.#options.writer.send(errorResponse(message.id, message.code, message.message));
        // An open question with this id gets an answer that says nothing, which counts as no.
        if (message.reply && message.id !== null) this.#reply(message.id, { result: {} });
        return;
      case 'request':
        return this.#request(message);
      case 'notification':
        return this.#notification(message.method, message.params);
      case 'response':
        return this.#reply(message.id, message.outcome);
    }
  }

  /** Ends the sessions; open requests are dropped. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    // One that could not be opened has nothing to close; that it failed was logged.
    await Promise.allSettled(sessions.map(async session => (await session).close()));
  }

  #request(request: Request): void {
    const meta = modernMeta(request.params);
    if (meta) this.#modernRequest(request, meta);
    else this.#legacyRequest(request);
  }

  #modernRequest(request: Request, meta: JsonObject): void {
    const version = meta[VERSION_KEY];
    if (!MODERN_VERSIONS.some(known => known === version)) {
      const data = { supported: MODERN_VERSIONS, requested: typeof version === 'string' ? version : 'unknown' };
      const message = `Unsupported protocol version: ${data.requested}`;
      return this.#fail(request.id, UNSUPPORTED_PROTOCOL_VERSION, message, data);
    }
    const problem = metaProblem(meta);
    if (problem !== null) return this.#fail(request.id, INVALID_PARAMS, `Invalid request: ${problem}.`);
    switch (request.method) {
      case 'server/discover':
        return this.#answer(request.id, discoverResult(this.#info));
      case 'tools/list':
        return this.#answer(request.id, toolsListResult('modern', this.#info));
      default:
        return this.#toSession('modern', request);
    }
  }

  #legacyRequest(request: Request): void {
    switch (request.method) {
      case 'initialize':
        return this.#initialize(request);
      case 'ping':
        return this.#answer(request.id, {});
      case 'server/discover':
        return this.#fail(request.id, INVALID_PARAMS, `server/discover needs ${VERSION_KEY} in params._meta.`);
      default:
        break;
    }
    if (this.#clientCapabilities === null) {
      return this.#fail(
        request.id,
        INVALID_REQUEST,
        `${request.method} came before initialize. Send initialize first, or name the protocol version in params._meta.`,
      );
    }
    if (request.method === 'tools/list') return this.#answer(request.id, toolsListResult('legacy', this.#info));
    this.#toSession('legacy', request);
  }

  #initialize({ id, params }: Request): void {
    if (this.#clientCapabilities !== null) {
      return this.#fail(id, INVALID_REQUEST, 'initialize was called more than once on this connection.');
    }
    if (typeof params.protocolVersion !== 'string') {
      return this.#fail(id, INVALID_PARAMS, 'initialize needs params.protocolVersion, a string.');
    }
    this.#clientCapabilities = isObject(params.capabilities) ? params.capabilities : {};
    const result = initializeResult(params.protocolVersion, this.#info);
    this.#protocolVersion = String(result.protocolVersion);
    this.#answer(id, result);
  }

  /** Notifications are never answered; the only one that means something here is a cancellation. */
  #notification(method: string, params: JsonObject): void {
    if (method !== 'notifications/cancelled') return;
    const id = params.requestId;
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const reason = typeof params.reason === 'string' ? { reason: params.reason } : {};
    const message = { jsonrpc: '2.0', method, params: { requestId: id, ...reason } } as const;
    // Ids are shared by both eras, and only one session knows this one.
    for (const era of this.#sessions.keys()) this.#toOpenSession(era, message);
  }

  #toSession(era: Era, { id, method, params }: Request): void {
    let session = this.#sessions.get(era);
    if (!session) {
      session = this.#options.openSession(era);
      this.#sessions.set(era, session);
    }
    // Callbacks of one promise run in the order they were added, so messages stay in order while it loads.
    session.then(
      opened => opened.deliver({ jsonrpc: '2.0', id, method, params }),
      (error: unknown) => {
        this.#options.log(`The session could not be opened: ${stackOf(error)}`);
        this.#fail(id, INTERNAL_ERROR, 'Internal error: the server could not load its protocol library.');
      },
    );
  }

  /** To the request of ours that has this id; ids of none are ignored there. */
  #reply(id: RequestId, outcome: (Incoming & { type: 'response' })['outcome']): void {
    this.#toOpenSession('legacy', { jsonrpc: '2.0', id, ...outcome });
  }

  #toOpenSession(era: Era, message: Parameters<Session['deliver']>[0]): void {
    this.#sessions.get(era)?.then(
      session => session.deliver(message),
      // Nothing is waiting for this message in a session that could not be opened.
      () => {},
    );
  }

  #answer(id: RequestId, result: JsonObject): void {
    this.#options.writer.sendMessage({ jsonrpc: '2.0', id, result });
  }

  #fail(id: RequestId, code: number, message: string, data?: unknown): void {
    this.#options.writer.send(errorResponse(id, code, message, data));
  }
}
