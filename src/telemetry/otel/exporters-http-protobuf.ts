import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { type Exporters, httpConfig } from './exporters.js';

export const httpProtobuf: Exporters = {
  traces: options => new OTLPTraceExporter(httpConfig(options)),
  logs: options => new OTLPLogExporter(httpConfig(options)),
  metrics: options => new OTLPMetricExporter(httpConfig(options)),
};
