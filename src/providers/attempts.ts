/** The way to an answer: attempts, waits, renewed keys, parts of the request left out, until headers of a success arrive. */
import type { ModelError, ModelEvent } from '../protocol/index.js';
import { backoffMs, delay, strictJson } from '../util/index.js';
import { redact } from './error-text.js';
import { ABORTED, httpError, transportError } from './errors.js';
import type { Exchange, Opened } from './exchange.js';
import type { HttpResponse } from './http.js';
import type * as ServerEvents from './server-events.js';
import type { WireRequest } from './wire.js';

/** An error body is read up to this many characters. */
const ERROR_BODY_LIMIT = 256 * 1024;
const ERROR_BODY_MS = 10_000;

/** Sends until headers of a success arrive. null: the last event, `failed`, has been given. */
export async function* open(
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
    const answered = connections.send({ url, headers, body: strictJson(encoded.body), signal, headersTimeoutMs });
    // Loaded while the request travels.
    const reader = import('./server-events.js');
    const response = await answered;
    if (response.status >= 200 && response.status < 300) return { response, secrets };
    const body = await errorBody(response, reader);
    return { error: httpError({ ...response, body, url, secrets, keyHint: credentials.hint }) };
  } catch (error) {
    const fault = transportError(error, url);
    return { error: { ...fault, message: redact(fault.message, secrets) } };
  }
}

async function errorBody({ body }: HttpResponse, reader: Promise<typeof ServerEvents>): Promise<string> {
  const { bodyText, releaseBody } = await reader;
  // The status says enough when the rest of an error can't be read.
  const text = await bodyText(body, ERROR_BODY_LIMIT, ERROR_BODY_MS).catch(() => '');
  releaseBody(body, true);
  return text;
}
