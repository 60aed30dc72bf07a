/** Which of logs, traces and metrics are sent, where and how: `[otel]`, then the standard variables, else nothing. */
import type { OtelExporter, OtelSettings } from '../protocol/index.js';
import type { Env } from '../util/index.js';

export const SIGNALS = ['logs', 'traces', 'metrics'] as const;
export type Signal = (typeof SIGNALS)[number];

const PROTOCOLS = ['http/json', 'http/protobuf', 'grpc'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export type Destination = {
  readonly protocol: Protocol;
  /** What the configuration says; absent = the standard variables say, or the default of the protocol. */
  readonly endpoint?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Paths of PEM files. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
};

export type SignalPlan = Readonly<Partial<Record<Signal, Destination>>>;

/** null: nothing is sent. `warn` is told about variables that can't be followed. */
export function planSignals(settings: OtelSettings, env: Env, warn: (message: string) => void): SignalPlan | null {
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return null;
  const configured: Record<Signal, OtelExporter> = {
    logs: settings.exporter,
    traces: settings.trace_exporter,
    metrics: settings.metrics_exporter,
  };
  const planned = SIGNALS.flatMap(signal => {
    const destination = configuredDestination(signal, configured[signal]) ?? fromEnvironment(signal, env, warn);
    return destination === 'none' ? [] : [[signal, destination] as const];
  });
  return planned.length === 0 ? null : Object.fromEntries(planned);
}

/** null: the configuration says nothing. */
function configuredDestination(signal: Signal, exporter: OtelExporter): Destination | 'none' | null {
  switch (exporter.type) {
    case 'none':
      return exporter.chosen === true ? 'none' : null;
    case 'otlp-grpc':
      return destination('grpc', exporter.endpoint, exporter);
    case 'otlp-http': {
      const protocol = exporter.protocol === 'json' ? 'http/json' : 'http/protobuf';
      return destination(protocol, withPath(exporter.endpoint, signal), exporter);
    }
  }
}

function destination(
  protocol: Protocol,
  endpoint: string,
  { headers, tls }: Exclude<OtelExporter, { type: 'none' }>,
): Destination {
  const files = {
    ...(tls?.ca_certificate === undefined ? {} : { ca: tls.ca_certificate }),
    ...(tls?.client_certificate === undefined ? {} : { cert: tls.client_certificate }),
    ...(tls?.client_private_key === undefined ? {} : { key: tls.client_private_key }),
  };
  return { protocol, endpoint, headers, ...(tls === undefined ? {} : { tls: files }) };
}

/** Nobody takes telemetry at the root of a server: there the path of the signal is meant. */
function withPath(endpoint: string, signal: Signal): string {
  if (!URL.canParse(endpoint)) return endpoint;
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = `/v1/${signal}`;
  return url.href;
}

/** An endpoint alone asks for all signals, as in other programs; OTEL_<SIGNAL>_EXPORTER decides on one. */
function fromEnvironment(signal: Signal, env: Env, warn: (message: string) => void): Destination | 'none' {
  const name = signal.toUpperCase();
  const set = (variable: string) => env[variable]?.trim() || undefined;
  const chosen = set(`OTEL_${name}_EXPORTER`)
    ?.split(',')
    .map(word => word.trim().toLowerCase());
  if (chosen !== undefined && !chosen.includes('otlp')) {
    if (!chosen.includes('none')) warn(`OTEL_${name}_EXPORTER=${chosen.join(',')} is not offered: use otlp or none.`);
    return 'none';
  }
  const endpoint = set(`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`) ?? set('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (chosen === undefined && endpoint === undefined) return 'none';
  const asked = set(`OTEL_EXPORTER_OTLP_${name}_PROTOCOL`) ?? set('OTEL_EXPORTER_OTLP_PROTOCOL');
  const protocol = PROTOCOLS.find(known => known === asked);
  if (asked !== undefined && protocol === undefined) {
    warn(`The OTLP protocol ${asked} is not known; http/protobuf is used. Known are ${PROTOCOLS.join(', ')}.`);
  }
  return { protocol: protocol ?? 'http/protobuf', headers: {} };
}
