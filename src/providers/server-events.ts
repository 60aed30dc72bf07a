/** A response body -> the server-sent events in it. */
import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { IdleError } from './errors.js';

/** Characters that one event may have; more is a broken stream, not an answer. */
const LONGEST_EVENT = 64 * 1024 * 1024;
/** How long the rest of a stream whose answer is complete may take before its connection is given up. */
const TAIL_MS = 1000;

export type ServerEvent = { readonly name: string | undefined; readonly data: string };

/**
 * Yields the events of each chunk as they arrive, then the final ones at the end of the stream; every byte counts as
 * activity, comments too. `idleMs` is asked before each wait. Throws what broke the stream, or IdleError.
 */
export async function* serverEvents(body: Readable, idleMs: () => number): AsyncGenerator<ServerEvent[]> {
  let events: ServerEvent[] = [];
  let fault: Error | undefined;
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: event => events.push({ name: event.event, data: event.data }),
    onError: error => {
      if (error.type === 'max-buffer-size-exceeded') fault = error;
    },
  });
  // Takes away the byte order mark before the first event as well.
  const text = new TextDecoder();
  const chunks: AsyncIterator<Buffer> = body.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const { done, value } = await nextWithin(chunks, body, idleMs());
      // Some servers leave out the blank line behind their last event.
      parser.feed(done ? '\n\n' : text.decode(value, { stream: true }));
      if (fault) throw fault;
      if (events.length > 0) {
        const batch = events;
        events = [];
        yield batch;
      }
      if (done) return;
    }
  } finally {
    // Lets go of the body, so that somebody else can read its rest.
    await chunks.return?.();
  }
}

/** The body of a server that says it sends JSON: one event, or several when it sends events after all. */
export async function* wholeBody(body: Readable, idleMs: () => number): AsyncGenerator<ServerEvent[]> {
  const text = await bodyText(body, LONGEST_EVENT, idleMs());
  if (!/^\s*(?:data|event|id|retry)?:/.test(text)) {
    yield [{ name: undefined, data: text }];
    return;
  }
  const events: ServerEvent[] = [];
  createParser({ onEvent: event => events.push({ name: event.event, data: event.data }) }).feed(`${text}\n\n`);
  yield events;
}

/** Lets the connection be used again once the rest of the body has arrived; gives it up when that takes long. */
export function releaseBody(body: Readable, complete: boolean): void {
  if (body.readableEnded || body.destroyed) return;
  // Whatever ends the rest of the body, nobody listens to it any more.
  body.on('error', () => {});
  if (!complete) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), TAIL_MS);
  timer.unref();
  body.once('close', () => clearTimeout(timer));
  body.resume();
}

/** A body as text, at most `limit` characters of it. */
export async function bodyText(body: Readable, limit: number, idleMs: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  const chunks: AsyncIterator<Buffer> = body.iterator({ destroyOnReturn: false });
  try {
    while (text.length < limit) {
      const { done, value } = await nextWithin(chunks, body, idleMs);
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    await chunks.return?.();
  }
  return text.slice(0, limit);
}

async function nextWithin(chunks: AsyncIterator<Buffer>, body: Readable, ms: number): Promise<IteratorResult<Buffer>> {
  const timer = setTimeout(() => body.destroy(new IdleError(ms)), Math.min(ms, 2_147_483_647));
  try {
    return await chunks.next();
  } finally {
    clearTimeout(timer);
  }
}
