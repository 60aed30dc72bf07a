/**
 * The protocol library's part: requests in flight, cancellation, requests of ours to the client, and the form of
 * results in each era. One session serves the requests of one era. It is heavy to load.
 */
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolError,
  type Result,
  SdkError,
  SdkErrorCode,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isObject, messageOf } from '../util/index.js';
import {
  CAPABILITIES_KEY,
  canShowForms,
  type Era,
  SERVER_CAPABILITIES,
  type ServerInfo,
  VERSION_KEY,
} from './greeting.js';
import { INVALID_PARAMS, type JsonObject, METHOD_NOT_FOUND } from './message.js';
import { INSTRUCTIONS } from './tool-definitions.js';
import {
  type ElicitOutcome,
  type LegacyClient,
  type ModernClient,
  RequestError,
  type ToolRequest,
} from './tool-request.js';

export type SessionOptions = {
  readonly era: Era;
  readonly info: ServerInfo;
  readonly send: (message: object) => void;
  readonly log: (message: string) => void;
  /** What the client declared in its handshake. */
  readonly legacyCapabilities: () => JsonObject | null;
  /** What that handshake agreed on. */
  readonly legacyVersion: () => string | null;
  /** Carries out `tools/call`. Throws RequestError for errors that are the client's. */
  readonly callTool: (request: ToolRequest) => Promise<JsonObject>;
};

export type Session = {
  deliver(message: JSONRPCMessage): void;
  close(): Promise<void>;
};

export function openSession(options: SessionOptions): Session {
  const wire = new Wire(options.send);
  const handle = serveStdio(() => createServer(options), {
    transport: wire,
    legacy: options.era === 'legacy' ? 'serve' : 'reject',
    onerror: error => options.log(`mcp: ${error.message.slice(0, 300)}`),
  });
  return {
    deliver: message => {
      const problem = problemOf(message);
      if (problem === null) wire.onmessage?.(message);
      else options.send(problem);
    },
    close: () => handle.close(),
  };
}

/** A call that goes nowhere: the library puts its schemas together at the first one, which a client would wait for. */
export function rehearse(info: ServerInfo): Promise<void> {
  return new Promise(resolve => {
    const session = openSession({
      era: 'legacy',
      info,
      send: () => resolve(session.close()),
      log: () => {},
      legacyCapabilities: () => null,
      legacyVersion: () => null,
      callTool: () => Promise.resolve({ content: [] }),
    });
    session.deliver({ jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'nothing' } });
  });
}

/** The library drops a request whose `_meta` is not well-formed; whoever sent it would wait for ever. */
function problemOf(message: JSONRPCMessage): object | null {
  if (!('method' in message) || !('id' in message)) return null;
  const { id } = message;
  if (isJSONRPCRequest(message)) return null;
  const error = {
    code: INVALID_PARAMS,
    message:
      'params._meta is not well-formed: it must be an object, and its progressToken, if any, a string or an integer.',
  };
  return { jsonrpc: '2.0', id, error };
}

/** The library's end of the connection. Lines are read and written elsewhere, by rules it does not know. */
class Wire implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #send: (message: object) => void;

  constructor(send: (message: object) => void) {
    this.#send = send;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#send(message);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }
}

function createServer(options: SessionOptions): Server {
  const server = new Server(options.info, {
    capabilities: SERVER_CAPABILITIES,
    instructions: INSTRUCTIONS,
    jsonSchemaValidator: unusedValidator,
  });
  // A handler registered for `tools/call` would have every argument and result checked a second time, by schemas
  // that take longer to build than a first call may last.
  server.fallbackRequestHandler = (request, context) => handle(request, context, options);
  return server;
}

/** Nothing here lets the library validate with JSON Schema; without this it would load its validator. */
const unusedValidator = {
  getValidator(): never {
    throw new Error('JSON Schema validation by the protocol library is not used.');
  },
};

async function handle(request: JSONRPCRequest, context: ServerContext, options: SessionOptions): Promise<Result> {
  if (request.method !== 'tools/call') {
    throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${request.method}`, { method: request.method });
  }
  const params = request.params ?? {};
  if (typeof params.name !== 'string') throw new ProtocolError(INVALID_PARAMS, 'params.name must be a string.');
  const meta = context.mcpReq._meta ?? {};
  const token = meta.progressToken;
  try {
    return await options.callTool({
      id: request.id,
      tool: params.name,
      arguments: params.arguments,
      progressToken: typeof token === 'string' || typeof token === 'number' ? token : null,
      trace: traceOf(meta),
      protocolVersion: options.era === 'legacy' ? options.legacyVersion() : modernVersion(context),
      signal: context.mcpReq.signal,
      client: options.era === 'legacy' ? legacyClient(context, options) : modernClient(context),
    });
  } catch (error) {
    throw error instanceof RequestError ? new ProtocolError(error.code, error.message) : error;
  }
}

function traceOf(meta: JsonObject): ToolRequest['trace'] {
  return {
    ...(typeof meta.traceparent === 'string' && { traceparent: meta.traceparent }),
    ...(typeof meta.tracestate === 'string' && { tracestate: meta.tracestate }),
  };
}

function modernVersion(context: ServerContext): string | null {
  const envelope: unknown = context.mcpReq.envelope;
  const version = isObject(envelope) ? envelope[VERSION_KEY] : null;
  return typeof version === 'string' ? version : null;
}

function legacyClient(context: ServerContext, options: SessionOptions): LegacyClient {
  return {
    era: 'legacy',
    canAsk: canShowForms(options.legacyCapabilities()),
    elicit: (params, { signal, timeoutMs }) => elicit(context, params, { signal, timeout: timeoutMs }),
  };
}

async function elicit(
  context: ServerContext,
  params: JsonObject,
  limits: { signal: AbortSignal; timeout: number },
): Promise<ElicitOutcome> {
  try {
    return {
      type: 'reply',
      reply: await context.mcpReq.send({ method: 'elicitation/create', params }, anyResult, limits),
    };
  } catch (error) {
    const timedOut = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout && !limits.signal.aborted;
    return timedOut ? { type: 'timed_out' } : { type: 'failed', message: messageOf(error) };
  }
}

/** Replies are read by rules of our own, the older form of them too; nothing is refused here. */
const anyResult = {
  '~standard': { version: 1, vendor: 'open-interpreter', validate: (value: unknown) => ({ value }) },
} as const;

function modernClient(context: ServerContext): ModernClient {
  const envelope: unknown = context.mcpReq.envelope;
  const responses: unknown = context.mcpReq.inputResponses;
  return {
    era: 'modern',
    canAsk: isObject(envelope) && canShowForms(envelope[CAPABILITIES_KEY]),
    inputResponses: isObject(responses) ? responses : null,
    requestState: context.mcpReq.requestState(),
  };
}
