import type { OtelSettings } from '../protocol/index.js';
import type { Tracer } from '../util/index.js';
import type { Redactor } from './redact.js';
import { type Env, planSignals } from './signals.js';

export type TelemetryOptions = {
  readonly settings: OtelSettings;
  /** Standard variables choose what `[otel]` leaves open. */
  readonly env: Env;
  /** `service.name` unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise. */
  readonly service: string;
  readonly version: string;
  readonly redact: Redactor;
  readonly log: (level: 'warn' | 'debug', message: string) => void;
};

export type Telemetry = {
  readonly tracer: Tracer;
  /** Sends what is left and stops, within `ms`; what could not be sent by then is lost. Never rejects. */
  close(ms: number): Promise<void>;
};

/** null: nothing is to be sent, and nothing was loaded. Never rejects: what can't be set up is told to `log`. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry | null> {
  const plan = planSignals(options.settings, options.env, message => options.log('warn', message));
  if (plan === null) return null;
  try {
    const { openTelemetry } = await import('./otel/open-telemetry.js');
    return await openTelemetry(plan, options);
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    options.log('warn', `Telemetry could not be started, nothing is sent: ${reason}`);
    return null;
  }
}
