import type { Attributes, Span, SpanOptions, TraceContext, Tracer } from '../util/index.js';

/** Tells two listeners. Trace context is the first one's. */
export function bothTracers(first: Tracer, second: Tracer): Tracer {
  return {
    span: (name, attributes, parent, options) =>
      bothSpans(first.span(name, attributes, parent, options), second.span(name, attributes, parent, options)),
    event: (name, attributes) => {
      first.event(name, attributes);
      second.event(name, attributes);
    },
    count: (name, value, attributes) => {
      first.count(name, value, attributes);
      second.count(name, value, attributes);
    },
  };
}

function bothSpans(first: Span, second: Span): Span {
  return {
    setAttributes: (attributes: Attributes) => {
      first.setAttributes(attributes);
      second.setAttributes(attributes);
    },
    fail: (type: string) => {
      first.fail(type);
      second.fail(type);
    },
    end: () => {
      first.end();
      second.end();
    },
    span: (name: string, attributes?: Attributes, options?: SpanOptions) =>
      bothSpans(first.span(name, attributes, options), second.span(name, attributes, options)),
    event: (name: string, attributes: Attributes) => {
      first.event(name, attributes);
      second.event(name, attributes);
    },
    context: (): TraceContext => first.context(),
  };
}
