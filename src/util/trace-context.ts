/** W3C trace context: what a caller sends to have our work shown below its own. */

export type TraceContext = { readonly traceparent?: string; readonly tracestate?: string };

export type SpanIdentity = {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** The flags byte, 0 to 255. */
  readonly flags: number;
  /** As received, checked; absent when there was none that may be passed on. */
  readonly tracestate?: string;
};

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const MEMBER = /^[a-z\d][a-z\d_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const MAX_MEMBERS = 32;
const MAX_TRACESTATE = 1024;

/**
 * The caller's span; null when there is none that can be used. Upper-case digits and spaces around are forgiven, later
 * versions are read by what they share with version 00. A bad tracestate is dropped, it never costs the parent.
 * Source: https://www.w3.org/TR/trace-context/
 */
export function readTraceContext(context: TraceContext): SpanIdentity | null {
  const match = TRACEPARENT.exec(context.traceparent?.trim().toLowerCase() ?? '');
  const [, version, traceId = '', spanId = '', flags = '', more] = match ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const tracestate = readTracestate(context.tracestate);
  return { traceId, spanId, flags: Number.parseInt(flags, 16), ...(tracestate === null ? {} : { tracestate }) };
}

/** The two texts to pass on. */
export function writeTraceContext({ traceId, spanId, flags, tracestate }: SpanIdentity): TraceContext {
  // Of the flags only "sampled" and "random" mean something in version 00.
  const traceparent = `00-${traceId}-${spanId}-0${(flags & 3).toString(16)}`;
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

/** The same for a command: the variables that programs with OpenTelemetry take their parent from. */
export function traceEnvironment({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return {
    ...(traceparent === undefined ? {} : { TRACEPARENT: traceparent }),
    ...(tracestate === undefined ? {} : { TRACESTATE: tracestate }),
  };
}

function readTracestate(text: string | undefined): string | null {
  if (text === undefined || text.length > MAX_TRACESTATE) return null;
  const members = text
    .split(',')
    .map(member => member.trim())
    .filter(member => member !== '');
  if (members.length === 0 || members.length > MAX_MEMBERS) return null;
  return members.every(member => MEMBER.test(member)) ? members.join(',') : null;
}
