/** `--json`: one JSON object per line. */
import type { Event, JsonlEvent } from '../../protocol/index.js';
import { strictJson } from '../../util/index.js';
import { JsonlEvents } from './jsonl-events.js';
import type { Printer } from './printer.js';
import type { StandardOutput } from './standard-output.js';

export type JsonPrinterOptions = {
  readonly output: StandardOutput;
  /** False for callers who would take the last line of a turn that they ended themselves for a fault of ours. */
  readonly tellInterrupts: boolean;
};

export class JsonPrinter implements Printer {
  readonly #options: JsonPrinterOptions;
  readonly #events = new JsonlEvents();
  /** A turn ends once; what comes after belongs to nobody. */
  #ended = false;

  constructor(options: JsonPrinterOptions) {
    this.#options = options;
  }

  event(event: Event): void {
    if (event.type === 'turn.aborted') this.interrupt();
    else this.#write(this.#events.push(event));
  }

  fail(message: string): void {
    this.#write(this.#events.fail(message));
  }

  interrupt(): void {
    if (this.#options.tellInterrupts) this.#write(this.#events.interrupt());
  }

  created(threadId: string): void {
    this.#write([{ type: 'thread.started', thread_id: threadId }]);
  }

  end(): void {}

  #write(events: readonly JsonlEvent[]): void {
    if (this.#ended || events.length === 0) return;
    this.#ended = events.some(({ type }) => type === 'turn.completed' || type === 'turn.failed');
    this.#options.output.write(events.map(toLine).join(''));
  }
}

/** Readers such as Node's own split lines at these two characters as well, which JSON may hold. */
function toLine(event: JsonlEvent): string {
  const json = strictJson(event);
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}
