/** Sets OpenTelemetry up for a plan: providers, batches, resource. */
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { messageOf, within } from '../../util/index.js';
import { remembering } from '../redact.js';
import type { Destination, Signal, SignalPlan } from '../signals.js';
import type { Telemetry, TelemetryOptions } from '../telemetry.js';
import { Deferred } from './deferred.js';
import { type Exporters, exporterOptions } from './exporters.js';
import { loadExporters } from './load-exporters.js';
import { createMetricRecorder } from './metric-recorder.js';
import { OtelTracer } from './otel-tracer.js';

const SCOPE = 'open-interpreter';
/** A collector that answers no longer than this is as good as dead. */
const EXPORT_TIMEOUT_MS = 10_000;

type Provider = { shutdown(): Promise<void> };

/** Signals that can't be set up (a certificate that can't be read) are told and left out. */
export async function openTelemetry(plan: SignalPlan, options: TelemetryOptions): Promise<Telemetry> {
  const failed = listen(options);
  const resource = resourceOf(options);
  const exporter = async <S extends Signal>(signal: S): Promise<ReturnType<Exporters[S]> | null> => {
    const destination = plan[signal];
    return destination === undefined ? null : createExporter(signal, destination, options);
  };
  const [traces, logs, metrics] = await Promise.all([exporter('traces'), exporter('logs'), exporter('metrics')]);
  const providers: Provider[] = [];
  const opened = <P extends Provider>(provider: P): P => {
    providers.push(provider);
    return provider;
  };
  const deferred = new Deferred(error => options.log('debug', `telemetry: ${messageOf(error)}`));
  const tracer = new OtelTracer({
    deferred,
    tracer: traces && opened(tracerProvider(traces, resource)).getTracer(SCOPE, options.version),
    logger: logs && opened(loggerProvider(logs, resource)).getLogger(SCOPE, options.version),
    metrics: metrics && createMetricRecorder(opened(meterProvider(metrics, resource)).getMeter(SCOPE, options.version)),
    spanAttributes: options.settings.span_attributes,
    clean: { redact: remembering(options.redact), prompts: options.settings.log_user_prompt },
    version: options.version,
  });
  return {
    tracer,
    close: async ms => {
      deferred.drain();
      const sent = Promise.allSettled(providers.map(provider => provider.shutdown()));
      if ((await within(sent, ms)) === undefined) failed(`the collector did not take what was left within ${ms} ms`);
    },
  };
}

async function createExporter<S extends Signal>(
  signal: S,
  destination: Destination,
  { log }: TelemetryOptions,
): Promise<ReturnType<Exporters[S]> | null> {
  try {
    const exporters = await loadExporters(destination.protocol);
    return exporters[signal](exporterOptions(destination)) as ReturnType<Exporters[S]>;
  } catch (error) {
    log('warn', `Telemetry: ${signal} are not sent: ${messageOf(error)}`);
    return null;
  }
}

function tracerProvider(exporter: ReturnType<Exporters['traces']>, resource: Resource) {
  return new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
}

function loggerProvider(exporter: ReturnType<Exporters['logs']>, resource: Resource) {
  return new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter })] });
}

function meterProvider(exporter: ReturnType<Exporters['metrics']>, resource: Resource) {
  const reader = new PeriodicExportingMetricReader({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS });
  return new MeterProvider({ resource, readers: [reader] });
}

/** The standard variables come last: they win. */
function resourceOf({ service, version, settings }: TelemetryOptions): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': service,
        'service.version': version,
        'deployment.environment.name': settings.environment,
        env: settings.environment,
        'process.pid': process.pid,
        'process.runtime.name': 'nodejs',
        'process.runtime.version': process.versions.node,
        'os.type': process.platform === 'win32' ? 'windows' : process.platform,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

/**
 * What the library has to say. A collector that can't be reached is told once, then only to those who look closely.
 * Returns the way to tell it.
 */
function listen({ log }: TelemetryOptions): (what: string) => void {
  let told = false;
  const failed = (what: string) => {
    log(told ? 'debug' : 'warn', `Telemetry can't be sent: ${what.slice(0, 500)}`);
    told = true;
  };
  const debug = (message: string, ...rest: unknown[]) =>
    log('debug', `telemetry: ${[message, ...rest].map(String).join(' ').slice(0, 500)}`);
  diag.setLogger(
    { error: failed, warn: debug, info: debug, debug, verbose: debug },
    { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler(error => failed(typeof error === 'string' ? error : messageOf(error)));
  return failed;
}
