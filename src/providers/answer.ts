/** The body of a success -> the events of an answer. */
import type { ModelError, ModelEvent } from '../protocol/index.js';
import { shownUrl } from './endpoint.js';
import { redact } from './error-text.js';
import { ABORTED, brokenStream, reasonOf } from './errors.js';
import type { Exchange, Opened } from './exchange.js';
import type { ServerEvent } from './server-events.js';
import type { Decoder } from './wire.js';

/** Wait for the end of a stream whose answer is already whole. */
const SETTLED_IDLE_MS = 3000;

/** The events of one answer. Gives `completed` or `failed` last, unless the decoder wants to continue. */
export async function* read(exchange: Exchange, opened: Opened, decoder: Decoder): AsyncGenerator<ModelEvent> {
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
