/** The exporters of one protocol. Each file of exporters is loaded only where it is used. */
import { readFileSync } from 'node:fs';
import type { LogRecordExporter } from '@opentelemetry/sdk-logs';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Destination, Protocol } from '../signals.js';

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

export async function loadExporters(protocol: Protocol): Promise<Exporters> {
  switch (protocol) {
    case 'http/json':
      return (await import('./exporters-http-json.js')).httpJson;
    case 'http/protobuf':
      return (await import('./exporters-http-protobuf.js')).httpProtobuf;
    case 'grpc':
      return (await import('./exporters-grpc.js')).grpc;
  }
}

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
