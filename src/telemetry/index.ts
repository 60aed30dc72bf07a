/**
 * Logs, traces and metrics: what the product tells about its work, for the pipeline of an operator (OpenTelemetry) and
 * for people who read a log. It must never slow or break a turn, never send a secret, a command, its output or, unless
 * allowed, a prompt, and never load OpenTelemetry where nothing is sent.
 */
export { bothTracers } from './both-tracers.js';
export { createLogTracer, type LogPlace } from './log-tracer.js';
export { createRedactor, isSecretName, type Redactor } from './redact.js';
export { startTelemetry } from './start.js';
export type { Telemetry } from './telemetry.js';
