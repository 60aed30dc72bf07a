/** `[otel]` */
import * as z from 'zod';
import { type Absolute, flag, table, text, textMap, value } from './keys.js';

const tls = () =>
  z.strictObject({
    'ca-certificate': z.string().min(1).optional(),
    'client-certificate': z.string().min(1).optional(),
    'client-private-key': z.string().min(1).optional(),
  });

const exporter = () => {
  const shared = {
    endpoint: z.string().min(1).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    tls: tls().optional(),
  };
  return z.union([
    z.enum(['none', 'statsig']),
    z.strictObject({
      'otlp-http': z.strictObject({ ...shared, protocol: z.enum(['binary', 'json']).optional() }).optional(),
      'otlp-grpc': z.strictObject(shared).optional(),
    }),
  ]);
};
export type RawExporter = z.infer<ReturnType<typeof exporter>>;

const withAbsolutePaths = (raw: RawExporter, absolute: Absolute): RawExporter => {
  if (typeof raw === 'string') return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([kind, one]) => [
      kind,
      one?.tls === undefined
        ? one
        : { ...one, tls: Object.fromEntries(Object.entries(one.tls).map(([name, file]) => [name, absolute(file)])) },
    ]),
  );
};

const FORMS =
  '`none`, `{ otlp-http = { endpoint, protocol = "binary" or "json", headers, tls } }` or `{ otlp-grpc = { endpoint, headers, tls } }`';

export const otelKeys = table('Telemetry by OpenTelemetry.', {
  environment: text('Name of the environment.', 'dev'),
  exporter: value(`Where log events go: ${FORMS}.`, exporter, 'none', withAbsolutePaths),
  trace_exporter: value('Where traces go.', exporter, 'none', withAbsolutePaths),
  metrics_exporter: value('Where metrics go.', exporter, 'none', withAbsolutePaths),
  log_user_prompt: flag('Whether prompts are part of log events.', false),
  span_attributes: textMap('Attributes of every span.'),
});
