import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { type Exporters, httpConfig } from './exporters.js';

export const httpJson: Exporters = {
  traces: options => new OTLPTraceExporter(httpConfig(options)),
  logs: options => new OTLPLogExporter(httpConfig(options)),
  metrics: options => new OTLPMetricExporter(httpConfig(options)),
};
