/** Our tracer over OpenTelemetry. Each of its three parts may be missing. */
import {
  type Context,
  createTraceState,
  type Span as OtelApiSpan,
  type Tracer as OtelApiTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { type Logger, SeverityNumber } from '@opentelemetry/api-logs';
import {
  type Attributes,
  passOn,
  readTraceContext,
  type Span,
  type SpanOptions,
  type TraceContext,
  type Tracer,
  writeTraceContext,
} from '../../util/index.js';
import { type CleanOptions, cleanAttributes } from '../clean-attributes.js';
import { isMetricName, metricsOfEvent } from '../metrics.js';
import type { Deferred } from './deferred.js';
import type { MetricRecorder } from './metric-recorder.js';

export type OtelTracerOptions = {
  readonly tracer: OtelApiTracer | null;
  readonly logger: Logger | null;
  readonly metrics: MetricRecorder | null;
  /** Of every span. */
  readonly spanAttributes: Readonly<Record<string, string>>;
  readonly clean: CleanOptions;
  /** Of the product. */
  readonly version: string;
  /** Everything but what a turn needs at once: the ids of its spans. */
  readonly deferred: Deferred;
};

export class OtelTracer implements Tracer {
  readonly #options: OtelTracerOptions;

  constructor(options: OtelTracerOptions) {
    this.#options = options;
  }

  span(name: string, attributes: Attributes = {}, parent?: TraceContext, options?: SpanOptions): Span {
    const remote = parent === undefined ? null : readTraceContext(parent);
    const context = remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remoteContext(remote));
    const below = { context, passed: passOn(parent).context(), scope: {} };
    return openSpan(this.#options, below, { name, attributes, options });
  }

  event(name: string, attributes: Attributes): void {
    tell(this.#options, ROOT_CONTEXT, name, attributes);
  }

  count(name: string, value: number, attributes: Attributes = {}): void {
    const { metrics, clean, deferred } = this.#options;
    if (metrics === null || !isMetricName(name)) return;
    deferred.add(() => metrics(name, value, cleanAttributes(attributes, clean)));
  }
}

function remoteContext({
  traceId,
  spanId,
  flags,
  tracestate,
}: NonNullable<ReturnType<typeof readTraceContext>>): SpanContext {
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return { traceId, spanId, traceFlags: flags, isRemote: true, ...state };
}

/** Where a span is opened. */
type Place = {
  readonly context: Context;
  /** What goes on where spans are not sent: the caller's own context. */
  readonly passed: TraceContext;
  readonly scope: Attributes;
};

type NewSpan = {
  readonly name: string;
  readonly attributes: Attributes;
  readonly options: SpanOptions | undefined;
};

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };

function openSpan(telemetry: OtelTracerOptions, place: Place, { name, attributes, options }: NewSpan): Span {
  const { tracer, spanAttributes, clean, deferred } = telemetry;
  const scope = { ...place.scope, ...options?.scope };
  if (tracer === null) return new OtelSpan(telemetry, null, { ...place, scope });
  const span = tracer.startSpan(
    clean.redact(name),
    {
      kind: KINDS[options?.kind ?? 'internal'],
      startTime: options?.startedAtMs ?? Date.now(),
    },
    place.context,
  );
  deferred.add(() => span.setAttributes(cleanAttributes({ ...spanAttributes, ...attributes }, clean)));
  return new OtelSpan(telemetry, span, { ...place, context: trace.setSpan(place.context, span), scope });
}

class OtelSpan implements Span {
  readonly #telemetry: OtelTracerOptions;
  /** null: spans are not sent. */
  readonly #span: OtelApiSpan | null;
  readonly #place: Place;
  readonly #madeAtMs = Date.now();
  readonly #madeAt = performance.now();

  constructor(telemetry: OtelTracerOptions, span: OtelApiSpan | null, place: Place) {
    this.#telemetry = telemetry;
    this.#span = span;
    this.#place = place;
  }

  setAttributes(attributes: Attributes): void {
    const span = this.#span;
    const { clean, deferred } = this.#telemetry;
    if (span !== null) deferred.add(() => span.setAttributes(cleanAttributes(attributes, clean)));
  }

  fail(type: string): void {
    const span = this.#span;
    const { clean, deferred } = this.#telemetry;
    if (span === null) return;
    deferred.add(() => {
      span.setAttributes(cleanAttributes({ 'error.type': type }, clean));
      span.setStatus({ code: SpanStatusCode.ERROR, message: clean.redact(type) });
    });
  }

  end(): void {
    const span = this.#span;
    // Steady within a span, whatever happens to the clock, and finer than milliseconds.
    const endedAtMs = this.#madeAtMs + performance.now() - this.#madeAt;
    if (span !== null) this.#telemetry.deferred.add(() => span.end(endedAtMs));
  }

  span(name: string, attributes: Attributes = {}, options?: SpanOptions): Span {
    return openSpan(this.#telemetry, this.#place, { name, attributes, options });
  }

  event(name: string, attributes: Attributes): void {
    tell(this.#telemetry, this.#place.context, name, { ...this.#place.scope, ...attributes });
  }

  context(): TraceContext {
    if (this.#span === null) return this.#place.passed;
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext();
    const tracestate = traceState?.serialize();
    return writeTraceContext({ traceId, spanId, flags: traceFlags, ...(tracestate ? { tracestate } : {}) });
  }
}

function tell(telemetry: OtelTracerOptions, context: Context, name: string, attributes: Attributes): void {
  const now = new Date();
  telemetry.deferred.add(() => tellNow(telemetry, { context, name, attributes, now }));
}

type Told = { readonly context: Context; readonly name: string; readonly attributes: Attributes; readonly now: Date };

function tellNow(telemetry: OtelTracerOptions, { context, name, attributes, now }: Told): void {
  const { logger, metrics, clean, version } = telemetry;
  if (logger !== null) {
    const told = cleanAttributes(attributes, clean);
    told['event.name'] = name;
    told['event.timestamp'] = now.toISOString();
    told['app.version'] = version;
    logger.emit({
      eventName: name,
      body: name,
      severityNumber: SeverityNumber.INFO,
      severityText: 'INFO',
      timestamp: now,
      attributes: told,
      context,
    });
  }
  if (metrics === null) return;
  for (const update of metricsOfEvent(name, attributes)) {
    metrics(update.name, update.value, cleanAttributes(update.attributes, clean));
  }
}
