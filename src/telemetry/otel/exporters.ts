/** The exporters of one protocol, and what they are made of. */
import { readFileSync } from 'node:fs';
import type { LogRecordExporter } from '@opentelemetry/sdk-logs';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Destination } from '../signals.js';

export type ExporterOptions = {
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
};

/** What a file of exporters exports. Fields that are left out are taken from the standard variables. */
export type Exporters = {
  readonly traces: (options: ExporterOptions) => SpanExporter;
  readonly logs: (options: ExporterOptions) => LogRecordExporter;
  readonly metrics: (options: ExporterOptions) => PushMetricExporter;
};

/** Throws when a file of certificates or keys can't be read. */
export function exporterOptions({ endpoint, headers, tls }: Destination): ExporterOptions {
  return {
    ...(endpoint === undefined ? {} : { url: endpoint }),
    headers,
    tls: {
      ...(tls?.ca === undefined ? {} : { ca: readFileSync(tls.ca) }),
      ...(tls?.cert === undefined ? {} : { cert: readFileSync(tls.cert) }),
      ...(tls?.key === undefined ? {} : { key: readFileSync(tls.key) }),
    },
  };
}

/** For the exporters over HTTP. Without files of our own the agent is made by the standard variables. */
export function httpConfig({ url, headers, tls }: ExporterOptions) {
  return {
    ...(url === undefined ? {} : { url }),
    headers: { ...headers },
    ...(Object.keys(tls).length === 0 ? {} : { httpAgentOptions: { keepAlive: true, ...tls } }),
  };
}
