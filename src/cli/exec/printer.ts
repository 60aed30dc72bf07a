/** Shows a run to whoever started it: as JSON lines, or to a person. */
import type { Event } from '../../protocol/index.js';

export interface Printer {
  /** Takes events in order. */
  event(event: Event): void;
  /** A turn that came to nothing without an event of its own. */
  fail(message: string): void;
  /** A turn that was ended from outside and did not tell so itself in time. */
  interrupt(): void;
  /** A thread that was made and not run. */
  created(threadId: string): void;
  /** Nothing follows; `answer` is the last message of a turn that was completed, else null. */
  end(answer: string | null): void;
}
