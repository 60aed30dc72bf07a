import { credentials, Metadata } from '@grpc/grpc-js';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import type { ExporterOptions, Exporters } from './exporters.js';

export const grpc: Exporters = {
  traces: options => new OTLPTraceExporter(grpcConfig(options)),
  logs: options => new OTLPLogExporter(grpcConfig(options)),
  metrics: options => new OTLPMetricExporter(grpcConfig(options)),
};

function grpcConfig({ url, headers, tls }: ExporterOptions) {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return {
    ...(url === undefined ? {} : { url }),
    metadata,
    ...(Object.keys(tls).length === 0
      ? {}
      : { credentials: credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null) }),
  };
}
