/** One provider: a request out, a stream of events in. */
import type {
  ModelError,
  ModelEvent,
  ModelRequest,
  Provider,
  ProviderSettings,
  TokenUsage,
} from '../protocol/index.js';
import { messageOf } from '../util/index.js';
import { read } from './answer.js';
import { open } from './attempts.js';
import { type Connections, createConnections } from './connections.js';
import { type CredentialSources, createCredentials } from './credentials.js';
import { endpoint } from './endpoint.js';
import { ABORTED, SettingsError } from './errors.js';
import type { Service } from './exchange.js';
import type { Wire } from './wire.js';

/** What the command line gives a provider. */
export type ProviderDeps = CredentialSources & {
  /** The pool of connections that the providers of a process share; without one each provider has its own. */
  readonly connections?: Connections;
  /** Who asks, as a header value: letters, digits, `_`, `-`. */
  readonly originator: string;
  /** Version of the product. */
  readonly version: string;
  /** Further words of the user agent, e.g. `(claude-code; 2.1)` for the client of the server. */
  readonly userAgent?: readonly string[];
};

/** How often a paused answer is continued before we believe that it never ends. */
const MAX_CONTINUATIONS = 16;

/** A provider for these settings. Nothing is loaded or sent before the first `stream`. */
export function createProvider(settings: ProviderSettings, deps: ProviderDeps): Provider {
  const credentials = createCredentials(settings, deps);
  const connections = deps.connections ?? createConnections(deps.env);
  const agent = [
    `${deps.originator}/${deps.version}`,
    `(${process.platform}; ${process.arch})`,
    ...(deps.userAgent ?? []),
  ];
  const service = {
    settings,
    credentials,
    connections,
    userAgent: agent.join(' '),
    originator: deps.originator,
    lessons: new Set<string>(),
  };
  return {
    settings,
    async *stream(request, signal) {
      try {
        yield* answer(service, request, signal);
      } catch (error) {
        // A fault of ours must not break the promise of this seam; it ends the turn like any other error.
        yield { type: 'failed', error: signal.aborted ? ABORTED : unexpected(error) };
      }
    },
  };
}

/** Loads what the first request to this provider would wait for. Rejects where there can be none. */
export async function preloadProvider(settings: ProviderSettings, connections: Connections): Promise<void> {
  await Promise.all([
    loadWire(settings.wire_api),
    import('./server-events.js'),
    connections.prepare(endpoint(settings, '')),
  ]);
}

/** The module of a wire API, loaded when it is first needed. */
async function loadWire(api: ProviderSettings['wire_api']): Promise<Wire> {
  switch (api) {
    case 'responses':
      return (await import('./responses/wire.js')).responsesWire;
    case 'chat':
      return (await import('./chat/wire.js')).chatWire;
    case 'messages':
      return (await import('./messages/wire.js')).messagesWire;
  }
}

async function* answer(service: Service, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (signal.aborted) return yield { type: 'failed', error: ABORTED };
  const wire = await loadWire(service.settings.wire_api);
  const context = { request, settings: service.settings, lessons: service.lessons };
  const first = wire.encode(context);
  const url = urlOf(service.settings, first.path);
  if (!(url instanceof URL)) return yield { type: 'failed', error: url };
  const exchange = { ...service, request, signal, wire, context, url };
  let next = first;
  let used: TokenUsage | null = null;
  for (let leg = 0; leg <= MAX_CONTINUATIONS; leg++) {
    const opened = yield* open(exchange, next, leg > 0);
    if (opened === null) return;
    if (leg === 0) yield { type: 'started' };
    const decoder = wire.decode(opened.context, opened.body, used);
    yield* read(exchange, opened, decoder);
    if (decoder.continuation === null) return;
    next = { ...first, body: decoder.continuation.body };
    used = decoder.continuation.usage;
  }
  const message = `The answer was paused more than ${MAX_CONTINUATIONS} times.`;
  yield { type: 'failed', error: { message, kind: 'other', retryable: false } };
}

function urlOf(settings: ProviderSettings, path: string): URL | ModelError {
  try {
    return endpoint(settings, path);
  } catch (error) {
    const message = `base_url of provider ${settings.id} is no URL: ${settings.base_url} (${messageOf(error)})`;
    return { message, kind: 'configuration', retryable: false };
  }
}

function unexpected(error: unknown): ModelError {
  if (error instanceof SettingsError) return { message: error.message, kind: error.kind, retryable: false };
  return {
    message: `The model request failed inside this program: ${messageOf(error)}`,
    kind: 'other',
    retryable: false,
  };
}
