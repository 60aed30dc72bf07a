import type { Event } from '../protocol/index.js';
import { strictJson } from '../util/index.js';
import { CodexEvents, type DeltaEvent, isDelta } from './codex-events.js';
import type { CodexMessage } from './codex-message.js';
import type { LineWriter } from './line-writer.js';
import type { RequestId } from './message.js';

/** Merged deltas go out at most this often. */
const DELTA_INTERVAL_MS = 50;
/** A merged delta is not held back beyond this many characters. */
const MAX_HELD_LENGTH = 64 * 1024;
/** Of one command's output, this much is sent while it runs; its end message has the rest. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

export type EventStreamOptions = {
  readonly threadId: string;
  /** The call the events belong to, as the client named it. */
  readonly requestId: RequestId;
  readonly writer: LineWriter;
};

type Held = { sample: DeltaEvent; parts: string[]; length: number };

/** Sends the events of one call as `codex/event` notifications, in order. Deltas are merged, and left out for a client that lags behind. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #events: CodexEvents;
  readonly #deltas = new Map<string, Held>();
  readonly #outputSent = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #flushedAt = 0;
  #dropped = 0;
  #closed = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#events = new CodexEvents(options.threadId);
  }

  push(event: Event): void {
    if (this.#closed) return;
    if (isDelta(event)) this.#merge(event);
    else {
      this.#flush();
      for (const message of this.#events.messages(event)) this.#send(message);
    }
  }

  /** Sends what is held back; nothing is sent afterwards. */
  close(): void {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
  }

  #merge(event: DeltaEvent): void {
    if (event.type === 'command.output' && this.#leftFor(event.item_id) === 0) return;
    const key = deltaKey(event);
    const text = event.type === 'command.output' ? event.chunk : event.delta;
    const held = this.#deltas.get(key) ?? { sample: event, parts: [], length: 0 };
    held.parts.push(text);
    held.length += text.length;
    this.#deltas.set(key, held);
    const wait = this.#flushedAt + DELTA_INTERVAL_MS - Date.now();
    if (wait <= 0 || held.length > MAX_HELD_LENGTH) this.#flush(true);
    else this.#timer ??= setTimeout(() => this.#flush(true), wait);
  }

  /** `more`: of these texts more may come, so that the first half of a surrogate pair waits for the second. */
  #flush(more = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#deltas.size === 0) return;
    this.#flushedAt = Date.now();
    const pending = [...this.#deltas];
    this.#deltas.clear();
    if (this.#options.writer.slow) return;
    for (const [key, { sample, parts }] of pending) {
      const merged =
        sample.type === 'command.output'
          ? this.#output(sample.item_id, parts)
          : this.#text(key, sample, parts.join(''), more);
      if (merged !== '') this.#send(this.#events.delta(sample, merged));
    }
  }

  #text(key: string, sample: DeltaEvent, text: string, more: boolean): string {
    if (!more || !/[\ud800-\udbff]$/.test(text)) return text;
    this.#deltas.set(key, { sample, parts: [text.slice(-1)], length: 1 });
    return text.slice(0, -1);
  }

  /** The chunks as one, within what is sent of one command; "" when that is used up. */
  #output(itemId: string, parts: string[]): string {
    const bytes = Buffer.concat(parts.map(part => Buffer.from(part, 'base64')));
    const allowed = bytes.subarray(0, this.#leftFor(itemId));
    this.#outputSent.set(itemId, (this.#outputSent.get(itemId) ?? 0) + allowed.length);
    return allowed.toString('base64');
  }

  /** How much more of a command's output is sent, bytes. */
  #leftFor(itemId: string): number {
    return MAX_OUTPUT_BYTES - (this.#outputSent.get(itemId) ?? 0);
  }

  #send(message: CodexMessage): void {
    if (this.#dropped > 0 && !this.#options.writer.slow) {
      const lost = this.#dropped;
      this.#dropped = 0;
      this.#offer({ type: 'warning', message: `${lost} events were left out because the client did not read them.` });
    }
    if (!this.#offer(message)) this.#dropped++;
  }

  #offer(msg: CodexMessage): boolean {
    const { requestId, threadId, writer } = this.#options;
    const id = isOfThread(msg.type) ? '' : this.#events.turnId;
    const params = { _meta: { requestId, threadId }, id, msg };
    return writer.offer(strictJson({ jsonrpc: '2.0', method: 'codex/event', params }));
  }
}

/** Deltas with the same key are one text. */
function deltaKey(event: DeltaEvent): string {
  switch (event.type) {
    case 'text.delta':
    case 'command.output':
      return `${event.type} ${event.item_id}`;
    case 'reasoning.delta':
      return `${event.type} ${event.item_id} ${event.summary_index}`;
    case 'reasoning.raw_delta':
      return `${event.type} ${event.item_id} ${event.content_index}`;
  }
}

/** Messages about the thread belong to no turn. */
function isOfThread(type: string): boolean {
  return type === 'session_configured' || type.startsWith('mcp_startup_');
}
