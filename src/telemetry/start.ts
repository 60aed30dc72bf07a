import { stackOf } from '../util/index.js';
import { planSignals } from './signals.js';
import type { Telemetry, TelemetryOptions } from './telemetry.js';

/** null: nothing is to be sent, and nothing was loaded. Never rejects: what can't be set up is told to `log`. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry | null> {
  const plan = planSignals(options.settings, options.env, message => options.log('warn', message));
  if (plan === null) return null;
  try {
    const { openTelemetry } = await import('./otel/open-telemetry.js');
    return await openTelemetry(plan, options);
  } catch (error) {
    options.log('warn', `Telemetry could not be started, nothing is sent: ${stackOf(error)}`);
    return null;
  }
}
