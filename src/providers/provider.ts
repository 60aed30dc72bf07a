/** One provider: a request out, attempts until headers arrive, a stream of events in. */
import type {
  ModelError,
  ModelEvent,
  ModelRequest,
  Provider,
  ProviderSettings,
  TokenUsage,
} from '../protocol/index.js';
import { delay, messageOf } from '../util/index.js';
import { type Connections, createConnections } from './connections.js';
import { type CredentialSources, type Credentials, createCredentials } from './credentials.js';
import { endpoint, shownUrl } from './endpoint.js';
import { redact } from './error-text.js';
import { ABORTED, brokenStream, httpError, reasonOf, SettingsError, transportError } from './errors.js';
import type { HttpResponse } from './http.js';
import { backoffMs } from './retry.js';
import type { ServerEvent } from './server-events.js';
import type { Decoder, Wire, WireBody, WireContext, WireRequest } from './wire.js';

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

/** An error body is read up to this many characters. */
const ERROR_BODY_LIMIT = 256 * 1024;
/** How often a paused answer is continued before we believe that it never ends. */
const MAX_CONTINUATIONS = 16;
/** Wait for the end of a stream whose answer is already whole. */
const SETTLED_IDLE_MS = 3000;

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

/** The module of a wire API, loaded when it is first needed. */
async function loadWire(settings: ProviderSettings): Promise<Wire> {
  switch (settings.wire_api) {
    case 'responses':
      return (await import('./responses/wire.js')).responsesWire;
    case 'chat':
      return (await import('./chat/wire.js')).chatWire;
    case 'messages':
      return (await import('./messages/wire.js')).messagesWire;
  }
}

/** Loads what the first request of a provider needs, without touching the network; for a moment when nobody waits. */
export async function warmProvider(settings: ProviderSettings, connections: Connections): Promise<void> {
  await Promise.all([loadWire(settings), import('./server-events.js'), connections.warm(settings.base_url)]);
}

type Service = {
  settings: ProviderSettings;
  credentials: Credentials;
  connections: Connections;
  userAgent: string;
  originator: string;
  /** Grows while the provider lives. */
  lessons: Set<string>;
};

type Exchange = Service & { request: ModelRequest; signal: AbortSignal; wire: Wire; context: WireContext; url: URL };

async function* answer(service: Service, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (signal.aborted) return yield { type: 'failed', error: ABORTED };
  const wire = await loadWire(service.settings);
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

type Opened = { response: HttpResponse; context: WireContext; body: WireBody; secrets: readonly string[] };

/** Sends until headers of a success arrive. null: the last event, `failed`, has been given. */
async function* open(
  exchange: Exchange,
  first: WireRequest,
  /** True for a continuation: it holds parts of the answer and can't be encoded again. */
  continued: boolean,
): AsyncGenerator<ModelEvent, Opened | null> {
  const { settings, credentials, signal, wire, lessons } = exchange;
  const max = settings.request_max_retries;
  let encoded = first;
  let context = exchange.context;
  let renewed = false;
  for (let attempt = 1; ; ) {
    const sent = await send(exchange, encoded);
    if ('response' in sent) return { ...sent, context, body: encoded.body };
    if (signal.aborted) {
      yield { type: 'failed', error: ABORTED };
      return null;
    }
    const { error } = sent;
    if (error.http_status === 401 && !renewed && credentials.renew()) {
      renewed = true;
      continue;
    }
    const lesson = continued ? null : wire.lesson(error, context);
    if (lesson !== null) {
      if (!lesson.startsWith('once:')) lessons.add(lesson);
      context = { ...context, lessons: new Set([...context.lessons, lesson]) };
      encoded = wire.encode(context);
      continue;
    }
    if (!error.retryable || attempt > max) {
      const tried = attempt > 1 ? ` (after ${attempt} attempts)` : '';
      yield { type: 'failed', error: { ...error, message: error.message + tried } };
      return null;
    }
    const delay_ms = error.retry_after_ms ?? backoffMs(attempt);
    yield { type: 'retry', attempt, max, error, delay_ms };
    attempt++;
    if (!(await delay(delay_ms, signal))) {
      yield { type: 'failed', error: ABORTED };
      return null;
    }
  }
}

/** One attempt. Never rejects. */
async function send(
  exchange: Exchange,
  encoded: WireRequest,
): Promise<Pick<Opened, 'response' | 'secrets'> | { error: ModelError }> {
  const { settings, credentials, connections, request, signal, url } = exchange;
  const headersTimeoutMs = settings.stream_idle_timeout_ms;
  let secrets: readonly string[] = [];
  try {
    const auth = await credentials.headers(signal);
    secrets = auth.secrets;
    const headers = {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'user-agent': exchange.userAgent,
      originator: exchange.originator,
      ...encoded.headers,
      ...request.headers,
      ...auth.headers,
    };
    const response = await connections.send({
      url,
      headers,
      body: JSON.stringify(encoded.body),
      signal,
      headersTimeoutMs,
    });
    if (response.status >= 200 && response.status < 300) return { response, secrets };
    const { bodyText, releaseBody } = await import('./server-events.js');
    // The status says enough when the rest of an error can't be read.
    const text = await bodyText(response.body, ERROR_BODY_LIMIT, 10_000).catch(() => '');
    releaseBody(response.body, true);
    const { status, statusText } = response;
    return {
      error: httpError({
        status,
        statusText,
        headers: response.headers,
        body: text,
        url,
        secrets,
        keyHint: credentials.hint,
      }),
    };
  } catch (error) {
    const fault = transportError(error, url);
    return { error: { ...fault, message: redact(fault.message, secrets) } };
  }
}

/** The events of one answer. Gives `completed` or `failed` last, unless the decoder wants to continue. */
async function* read(exchange: Exchange, opened: Opened, decoder: Decoder): AsyncGenerator<ModelEvent> {
  const { settings, signal } = exchange;
  const { body, headers } = opened.response;
  const { serverEvents, wholeBody, releaseBody } = await import('./server-events.js');
  const idle = settings.stream_idle_timeout_ms;
  const idleMs = () => (decoder.settled ? Math.min(SETTLED_IDLE_MS, idle) : idle);
  let last: ModelEvent | null = null;
  try {
    const type = headers['content-type'] ?? '';
    if (/^text\/html/i.test(type)) throw new WebPage();
    const batches = /^application\/json/i.test(type) ? wholeBody(body, idleMs) : serverEvents(body, idleMs);
    for await (const event of decoded(batches, decoder)) {
      if (isLast(event)) last = event;
      else yield event;
      if (signal.aborted) break;
    }
  } catch (error) {
    last = signal.aborted ? null : { type: 'failed', error: streamFault(error) };
  } finally {
    releaseBody(body, last !== null || decoder.continuation !== null);
  }
  if (last === null) {
    if (decoder.continuation === null) yield { type: 'failed', error: ABORTED };
    return;
  }
  // The end of the body is mostly here already: one round of the loop, and the connection is free for the next request.
  await new Promise<void>(resolve => setImmediate(resolve));
  yield finished(last, exchange, opened.secrets);
}

/** The events of an answer up to its last one. Throws what broke the stream, unless the answer was whole before. */
async function* decoded(batches: AsyncIterable<ServerEvent[]>, decoder: Decoder): AsyncGenerator<ModelEvent> {
  try {
    for await (const batch of batches) {
      for (const { data, name } of batch) {
        for (const event of decoder.push(data, name)) {
          yield event;
          if (isLast(event)) return;
        }
        if (decoder.continuation !== null) return;
      }
    }
  } catch (error) {
    if (!decoder.settled) throw error;
  }
  yield* decoder.end();
}

/** Where an API should be there is a web site. */
class WebPage extends Error {}

function streamFault(error: unknown): ModelError {
  if (!(error instanceof WebPage)) return brokenStream(`The stream broke: ${reasonOf(error)}`);
  const message = 'The answer is a web page and not an API stream; check base_url';
  return { message, kind: 'configuration', retryable: false };
}

function isLast(event: ModelEvent): boolean {
  return event.type === 'completed' || event.type === 'failed';
}

/** Errors of a stream, with the URL and without secrets. */
function finished(event: ModelEvent, exchange: Exchange, secrets: readonly string[]): ModelEvent {
  if (event.type !== 'failed') return event;
  const message = `${redact(event.error.message, secrets)} (${shownUrl(exchange.url)})`;
  return { type: 'failed', error: { ...event.error, message } };
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
