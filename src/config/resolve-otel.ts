/** `[otel]`: where telemetry goes. Nothing goes anywhere by default. */
import type { OtelExporter, OtelSettings } from '../protocol/index.js';
import type { MergedLayers } from './layer.js';
import type { RawExporter } from './schema-otel.js';

type ExporterKey = 'exporter' | 'trace_exporter' | 'metrics_exporter';

/** Throws ConfigError for an exporter without an endpoint. */
export function resolveOtel(merged: MergedLayers, warn: (message: string) => void): OtelSettings {
  const raw = merged.values.otel ?? {};
  return {
    environment: raw.environment ?? 'dev',
    exporter: exporterOf('exporter', merged, warn),
    trace_exporter: exporterOf('trace_exporter', merged, warn),
    metrics_exporter: exporterOf('metrics_exporter', merged, warn),
    log_user_prompt: raw.log_user_prompt ?? false,
    span_attributes: { ...raw.span_attributes },
  };
}

function exporterOf(key: ExporterKey, merged: MergedLayers, warn: (message: string) => void): OtelExporter {
  const raw: RawExporter = merged.values.otel?.[key] ?? 'none';
  if (raw === 'statsig')
    warn(`\`otel.${key} = "statsig"\` is not offered; nothing is sent. Use otlp-http or otlp-grpc.`);
  if (typeof raw === 'string')
    return merged.values.otel?.[key] === undefined ? { type: 'none' } : { type: 'none', chosen: true };
  const http = raw['otlp-http'];
  const grpc = raw['otlp-grpc'];
  if (http !== undefined && grpc !== undefined) {
    throw merged.errorAt(['otel', key], 'an exporter is either `otlp-http` or `otlp-grpc`, not both');
  }
  const type = http === undefined ? 'otlp-grpc' : 'otlp-http';
  const settings = http ?? grpc;
  if (settings === undefined) return { type: 'none' };
  if (settings.endpoint === undefined) throw merged.errorAt(['otel', key, type], '`endpoint` is missing');
  const tls = settings.tls;
  return {
    type,
    endpoint: settings.endpoint,
    protocol: http?.protocol ?? 'binary',
    headers: { ...settings.headers },
    ...(tls === undefined
      ? {}
      : {
          tls: {
            ...(tls['ca-certificate'] === undefined ? {} : { ca_certificate: tls['ca-certificate'] }),
            ...(tls['client-certificate'] === undefined ? {} : { client_certificate: tls['client-certificate'] }),
            ...(tls['client-private-key'] === undefined ? {} : { client_private_key: tls['client-private-key'] }),
          },
        }),
  };
}
