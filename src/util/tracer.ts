/**
 * What the product tells about its work: spans, log events and numbers. The command line gives a `Tracer`; without
 * telemetry it is `noTracer`, which costs nothing and hands a caller's trace on as it came. No room below the front
 * doors knows OpenTelemetry.
 */
import { readTraceContext, type TraceContext, writeTraceContext } from './trace-context.js';

export type Attributes = { [key: string]: string | number | boolean | readonly string[] | undefined };

export type SpanOptions = {
  /** Default `internal`. */
  readonly kind?: 'internal' | 'server' | 'client';
  /** When it began, milliseconds since 1970; default now. */
  readonly startedAtMs?: number;
  /** Added to every event of this span and of those below it, e.g. the thread's id. */
  readonly scope?: Attributes;
};

export interface Span {
  setAttributes(attributes: Attributes): void;
  /** Marks the span as failed. `type`: a word of few possible ones, never a text that a model or a provider wrote. */
  fail(type: string): void;
  end(): void;
  /** A child of this span. */
  span(name: string, attributes?: Attributes, options?: SpanOptions): Span;
  /** A log event that belongs to this span, e.g. `codex.tool_result`. */
  event(name: string, attributes: Attributes): void;
  /** W3C trace context of this span, to pass on; empty when nothing is traced. */
  context(): TraceContext;
}

export interface Tracer {
  /** `parent`: the trace context a caller sent, as it came. */
  span(name: string, attributes?: Attributes, parent?: TraceContext, options?: SpanOptions): Span;
  /** A log event outside of any span. */
  event(name: string, attributes: Attributes): void;
  /** Adds to a number, such as the one of threads in memory. */
  count(name: string, value: number, attributes?: Attributes): void;
}

const noSpan: Span = passingSpan({});

/** Tells nothing; what its spans pass on is the caller's own context. */
export const noTracer: Tracer = {
  span: (_name, _attributes, parent) => passOn(parent),
  event: () => {},
  count: () => {},
};

/** A span that is told to nobody and passes on what `parent` says, if that can be used. */
export function passOn(parent: TraceContext | undefined): Span {
  if (parent?.traceparent === undefined) return noSpan;
  const identity = readTraceContext(parent);
  return identity === null ? noSpan : passingSpan(writeTraceContext(identity));
}

function passingSpan(context: TraceContext): Span {
  const span: Span = {
    setAttributes: () => {},
    fail: () => {},
    end: () => {},
    span: () => span,
    event: () => {},
    context: () => context,
  };
  return span;
}
