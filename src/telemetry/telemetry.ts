/** What telemetry is started with, and what is got. */
import type { OtelSettings } from '../protocol/index.js';
import type { Env, Tracer } from '../util/index.js';
import type { Redactor } from './redact.js';

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
