/** The sandbox as the tools of a turn use it: that it can't be made is told to the person, not to the model alone. */
import type { CommandRunner, EventSink } from '../protocol/index.js';
import { emitWarning } from './turn-events.js';

/** Each reason is told once. */
export function turnRunner(sandbox: CommandRunner, emit: EventSink): CommandRunner {
  const told = new Set<string>();
  return {
    start: async spec => {
      const started = await sandbox.start(spec);
      if ('type' in started && started.reason === 'sandbox' && !told.has(started.message)) {
        told.add(started.message);
        emitWarning(emit, started.message);
      }
      return started;
    },
  };
}
