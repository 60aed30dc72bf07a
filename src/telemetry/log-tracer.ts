/** Spans and events as lines of the log for people. */
import { type Attributes, passOn, type Span, type SpanOptions, type TraceContext, type Tracer } from '../util/index.js';

export type LogPlace = { readonly thread?: string; readonly turn?: string };

/** `info`: the course of a turn. `debug`: each event. `trace`: each span with its time. */
export type WriteLog = (level: 'info' | 'debug' | 'trace', message: string, place: LogPlace) => void;

const AT_INFO = new Set([
  'codex.conversation_starts',
  'codex.user_prompt',
  'codex.tool_result',
  'codex.turn_end',
  'codex.compaction',
]);
/** Said by the place of the line, by every line, or for nobody's eyes. */
const LEFT_OUT = new Set(['conversation.id', 'turn.id', 'prompt', 'model', 'provider_name']);

export function createLogTracer(write: WriteLog): Tracer {
  return {
    span: (name, _attributes, parent, options) => new LogSpan({ write, name, scope: options?.scope ?? {}, parent }),
    event: (name, attributes) => writeEvent(write, name, attributes, {}),
    count: () => {},
  };
}

type LogSpanOptions = {
  readonly write: WriteLog;
  readonly name: string;
  readonly scope: Attributes;
  readonly parent: TraceContext | undefined;
};

class LogSpan implements Span {
  readonly #options: LogSpanOptions;
  readonly #started = performance.now();
  #failure: string | null = null;

  constructor(options: LogSpanOptions) {
    this.#options = options;
  }

  setAttributes(): void {
    // What a span is about stands in the events; the log has its name and time.
  }

  fail(type: string): void {
    this.#failure ??= type;
  }

  end(): void {
    const { write, name, scope } = this.#options;
    const ms = Math.round(performance.now() - this.#started);
    write('trace', `${name} took ${ms} ms${this.#failure === null ? '' : ` (${this.#failure})`}`, placeOf(scope));
  }

  span(name: string, _attributes?: Attributes, options?: SpanOptions): Span {
    const { write, scope, parent } = this.#options;
    return new LogSpan({ write, name, scope: { ...scope, ...options?.scope }, parent });
  }

  event(name: string, attributes: Attributes): void {
    writeEvent(this.#options.write, name, attributes, this.#options.scope);
  }

  context(): TraceContext {
    return passOn(this.#options.parent).context();
  }
}

function writeEvent(write: WriteLog, name: string, attributes: Attributes, scope: Attributes): void {
  const words = Object.entries({ ...scope, ...attributes }).flatMap(([key, value]) =>
    value === undefined || LEFT_OUT.has(key) ? [] : [`${key}=${shown(value)}`],
  );
  write(AT_INFO.has(name) ? 'info' : 'debug', [name, ...words].join(' '), placeOf(scope));
}

function shown(value: NonNullable<Attributes[string]>): string {
  const text = typeof value === 'object' ? value.join(',') : String(value);
  return /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}

function placeOf(scope: Attributes): LogPlace {
  const { 'conversation.id': thread, 'turn.id': turn } = scope;
  return {
    ...(typeof thread === 'string' ? { thread } : {}),
    ...(typeof turn === 'string' ? { turn } : {}),
  };
}
