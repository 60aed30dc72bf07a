/** What a front door tells about its work: telemetry where it is configured, and the log for people. */
import type { Config } from '../config/index.js';
import {
  bothTracers,
  createLogTracer,
  createRedactor,
  isSecretName,
  startTelemetry,
  type Telemetry,
} from '../telemetry/index.js';
import { type Env, noTracer, packageVersion, type Tracer } from '../util/index.js';
import type { Log } from './log.js';

export type Observation = {
  readonly tracer: Tracer;
  /** Sends what is left, within `ms`. */
  close(ms: number): Promise<void>;
};

export type ObservationOptions = {
  readonly config: Pick<Config, 'otel' | 'provider' | 'mcp_servers' | 'log_dir'>;
  readonly env: Env;
  /** Name of the service where the standard variables say nothing. */
  readonly service: 'codex_mcp_server' | 'codex_exec';
  readonly log: Log;
};

/** Never rejects; without telemetry and at the usual log level nothing is loaded and nothing is told. */
export async function observe({ config, env, service, log }: ObservationOptions): Promise<Observation> {
  const started = performance.now();
  const telemetry: Telemetry | null = await startTelemetry({
    settings: config.otel,
    env,
    service,
    version: packageVersion(),
    redact: createRedactor({ env, secrets: configuredSecrets(config) }),
    log,
  });
  const logged = log.enabled('info') ? createLogTracer(log) : null;
  const tracer =
    telemetry === null
      ? (logged ?? noTracer)
      : logged === null
        ? telemetry.tracer
        : bothTracers(telemetry.tracer, logged);
  tracer.event('codex.startup_phase', {
    phase: 'telemetry',
    status: 'ready',
    duration_ms: Math.round(performance.now() - started),
  });
  return { tracer, close: async ms => telemetry?.close(ms) };
}

/** Values that stand in the configuration itself instead of in a variable. */
export function configuredSecrets({ provider, mcp_servers: servers, otel }: ObservationOptions['config']): string[] {
  const tables = [
    provider.http_headers,
    provider.query_params,
    ...servers.flatMap(({ transport }) => (transport.type === 'stdio' ? [transport.env] : [transport.http_headers])),
  ];
  const exporters = [otel.exporter, otel.trace_exporter, otel.metrics_exporter];
  return [
    ...(provider.experimental_bearer_token === undefined ? [] : [provider.experimental_bearer_token]),
    ...tables.flatMap(table => Object.entries(table).flatMap(([name, value]) => (isSecretName(name) ? [value] : []))),
    // A collector's headers are there to prove who one is.
    ...exporters.flatMap(exporter => (exporter.type === 'none' ? [] : Object.values(exporter.headers))),
  ];
}
