/** Where the time of a turn goes: notes when its spans began and ended, for the rollout. */
import type { Attributes, Span, SpanOptions, TraceContext } from '../util/index.js';

/** What a span is to somebody who asks where the time went. */
export type TimedKind = 'model' | 'tool' | 'approval' | 'hook' | 'servers';

/** `start_ms` counts from the start of the turn. */
export type TimedSpan = { kind: TimedKind; name: string; start_ms: number; duration_ms: number };

/** By the first word of a span's name. */
const KINDS: Readonly<Record<string, TimedKind>> = {
  chat: 'model',
  execute_tool: 'tool',
  'approval.wait': 'approval',
  hook: 'hook',
  'mcp_servers.wait': 'servers',
};

/** Of a turn with more of them only the first ones are noted. */
const MAX_SPANS = 500;
const MAX_NAME = 80;

export class TurnTiming {
  readonly #startedAt = performance.now();
  readonly #spans: TimedSpan[] = [];
  #open: TimedSpan[] = [];

  /** `span`, whose children are noted from now on. */
  watch(span: Span): Span {
    return new WatchedSpan(span, name => this.#begin(name));
  }

  /** What was noted; what still runs counts up to now. */
  result(): { duration_ms: number; spans: TimedSpan[] } {
    for (const span of this.#open) span.duration_ms = this.#now() - span.start_ms;
    this.#open = [];
    return { duration_ms: this.#now(), spans: this.#spans };
  }

  #begin(spanName: string): () => void {
    const kind = kindOf(spanName);
    if (kind === null || this.#spans.length >= MAX_SPANS) return () => {};
    const name = spanName.slice(spanName.indexOf(' ') + 1, MAX_NAME);
    const span: TimedSpan = { kind, name, start_ms: this.#now(), duration_ms: 0 };
    this.#spans.push(span);
    this.#open.push(span);
    return () => {
      if (!this.#open.includes(span)) return;
      this.#open = this.#open.filter(one => one !== span);
      span.duration_ms = this.#now() - span.start_ms;
    };
  }

  #now(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}

function kindOf(spanName: string): TimedKind | null {
  const [word = ''] = spanName.split(' ', 1);
  return Object.hasOwn(KINDS, word) ? (KINDS[word] ?? null) : null;
}

class WatchedSpan implements Span {
  readonly #span: Span;
  readonly #begin: (name: string) => () => void;
  readonly #onEnd: () => void;

  constructor(span: Span, begin: (name: string) => () => void, onEnd: () => void = () => {}) {
    this.#span = span;
    this.#begin = begin;
    this.#onEnd = onEnd;
  }

  setAttributes(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  fail(type: string): void {
    this.#span.fail(type);
  }

  end(): void {
    this.#onEnd();
    this.#span.end();
  }

  span(name: string, attributes?: Attributes, options?: SpanOptions): Span {
    return new WatchedSpan(this.#span.span(name, attributes, options), this.#begin, this.#begin(name));
  }

  event(name: string, attributes: Attributes): void {
    this.#span.event(name, attributes);
  }

  context(): TraceContext {
    return this.#span.context();
  }
}
