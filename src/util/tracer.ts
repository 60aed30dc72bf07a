/**
 * What the product tells about its work: spans, log events and numbers. The command line gives a `Tracer`; without
 * telemetry it is `noTracer`, which costs nothing. No room below the front doors knows OpenTelemetry.
 */
export type Attributes = { [key: string]: string | number | boolean | undefined };

export interface Span {
  setAttributes(attributes: Attributes): void;
  /** Marks the span as failed. */
  fail(message: string): void;
  end(): void;
  /** A child of this span. */
  span(name: string, attributes?: Attributes): Span;
  /** W3C trace context of this span, to pass on; empty when nothing is traced. */
  context(): { traceparent?: string; tracestate?: string };
}

export interface Tracer {
  span(name: string, attributes?: Attributes, parent?: { traceparent?: string; tracestate?: string }): Span;
  /** A log event, e.g. `codex.tool_result`. */
  event(name: string, attributes: Attributes): void;
  count(name: string, value: number, attributes?: Attributes): void;
  /** Milliseconds into a histogram. */
  duration(name: string, ms: number, attributes?: Attributes): void;
}

const noSpan: Span = {
  setAttributes: () => {},
  fail: () => {},
  end: () => {},
  span: () => noSpan,
  context: () => ({}),
};

export const noTracer: Tracer = { span: () => noSpan, event: () => {}, count: () => {}, duration: () => {} };
