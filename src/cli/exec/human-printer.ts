/** For a person: the answer on standard output, everything else on standard error, with a status line on a terminal. */
import type { WriteStream } from 'node:tty';
import { addUsage, type Event, type Item, type ModelInfo, NO_USAGE, type TokenUsage } from '../../protocol/index.js';
import { count, duration, firstLines, printable } from '../plain-text.js';
import { costOf, dollars } from './cost.js';
import { type Colors, commandText, completedText, diffText, questionText, startedText } from './item-text.js';
import type { Printer } from './printer.js';
import type { StandardOutput } from './standard-output.js';
import { StatusLine } from './status-line.js';

const MAX_PROMPT_LINES = 40;

export type HumanPrinterOptions = {
  readonly output: StandardOutput;
  /** The answer goes to a terminal, where control characters do harm. */
  readonly outputIsTerminal: boolean;
  readonly stderr: Pick<WriteStream, 'write' | 'columns' | 'isTTY'>;
  readonly colors: Colors;
  /** Name and version. */
  readonly banner: string;
  /** Label and value of each line of the head, below the thread's own. */
  readonly head: readonly (readonly [string, string])[];
  readonly prompt: string;
  readonly cwd: string;
  readonly price: ModelInfo['price'];
};

export class HumanPrinter implements Printer {
  readonly #options: HumanPrinterOptions;
  readonly #status: StatusLine | null;
  readonly #startedAt = performance.now();
  /** Items that run, by id, for the status line. */
  readonly #running = new Map<string, string>();
  #activity = 'starting';
  /** The last message, until it is clear whether it is the answer. */
  #held: string | null = null;
  #used = NO_USAGE;
  #diff = '';

  constructor(options: HumanPrinterOptions) {
    this.#options = options;
    this.#status = options.stderr.isTTY ? new StatusLine(options.stderr, () => this.#statusText()) : null;
  }

  event(event: Event): void {
    switch (event.type) {
      case 'thread.started':
        return this.#head(event.thread_id);
      case 'turn.started':
        this.#activity = 'waiting for the model';
        return;
      case 'item.started':
        return this.#itemStarted(event.item);
      case 'item.updated':
        return this.#show(completedText(event.item, this.#options.colors, this.#options.cwd));
      case 'item.completed':
        return this.#itemCompleted(event.item);
      case 'text.delta':
        this.#activity = 'writing';
        return;
      case 'reasoning.delta':
      case 'reasoning.raw_delta':
        this.#activity = 'thinking';
        return;
      case 'approval.requested':
        this.#activity = `waiting for approval of ${questionText(event.request)}`;
        return this.#print(this.#options.colors.yellow(`approval needed: ${questionText(event.request)}`));
      case 'approval.decided':
        this.#activity = 'working';
        return this.#print(this.#options.colors.yellow(`approval ${event.decision}`));
      case 'usage.updated':
        if (event.last) this.#used = addUsage(this.#used, event.last);
        return;
      case 'diff.updated':
        this.#diff = event.unified_diff;
        return;
      case 'hook.started':
        this.#activity = printable(event.message);
        return this.#print(`hook: ${printable(event.message)}`);
      case 'retry':
        return this.#print(this.#options.colors.yellow(`${event.message} (${printable(event.details)})`));
      case 'mcp_server.updated':
        if (event.state === 'starting') this.#activity = `starting the MCP server ${event.server}`;
        return;
      case 'turn.failed':
        return this.fail(event.error.message);
      case 'turn.aborted':
        return this.interrupt();
      case 'turn.completed':
      case 'mcp_servers.ready':
      case 'history.added':
      case 'reasoning.section':
      case 'command.output':
      case 'command.input':
      case 'response.completed':
      case 'context.compacted':
        return;
    }
  }

  fail(message: string): void {
    this.#release();
    this.#print(this.#options.colors.red(`ERROR: ${printable(message)}`));
  }

  interrupt(): void {
    this.fail('interrupted');
  }

  created(threadId: string): void {
    this.#status?.stop();
    this.#options.output.write(`${threadId}\n`);
  }

  end(answer: string | null): void {
    const { output, outputIsTerminal, colors } = this.#options;
    if (answer === null) this.#release();
    if (this.#diff !== '') this.#print(`${colors.magenta('diff')}\n${diffText(this.#diff, colors)}`);
    this.#print(this.#totals());
    this.#status?.stop();
    if (answer !== null) output.write(`${outputIsTerminal ? printable(answer) : answer}\n`);
  }

  #head(threadId: string): void {
    const { banner, head, prompt, colors } = this.#options;
    const lines = [...head, ['session id', threadId] as const].map(
      ([label, value]) => `${colors.bold(`${label}:`)} ${printable(value)}`,
    );
    this.#print(
      [
        banner,
        '--------',
        ...lines,
        '--------',
        colors.cyan('user'),
        firstLines(printable(prompt), MAX_PROMPT_LINES),
      ].join('\n'),
    );
  }

  #itemStarted(item: Item): void {
    if (item.type === 'command_execution') this.#running.set(item.id, `running ${commandText(item.command)}`);
    if (item.type === 'mcp_tool_call') this.#running.set(item.id, `calling ${item.server}.${item.tool}`);
    this.#show(startedText(item, this.#options.colors));
  }

  #itemCompleted(item: Item): void {
    this.#running.delete(item.id);
    this.#activity = 'waiting for the model';
    if (item.type === 'agent_message') {
      this.#release();
      this.#held = item.text;
      return;
    }
    this.#show(completedText(item, this.#options.colors, this.#options.cwd));
  }

  #show(text: string | null): void {
    if (text === null) return;
    this.#release();
    this.#print(text);
  }

  /** The message before was not the answer: it belongs to the progress. */
  #release(): void {
    if (this.#held !== null && this.#held !== '') {
      const { colors } = this.#options;
      const text = `${colors.magenta('agent')}\n${printable(this.#held)}`;
      this.#held = null;
      this.#print(text);
    }
    this.#held = null;
  }

  #print(text: string): void {
    if (this.#status) this.#status.write(`${text}\n`);
    else this.#options.stderr.write(`${text}\n`);
  }

  #totals(): string {
    const { colors, price } = this.#options;
    const used = this.#used.input_tokens - this.#used.cached_input_tokens + this.#used.output_tokens;
    const cost = costOf(this.#used, price);
    return [
      colors.bold('tokens used'),
      count(used),
      ...(cost === null ? [] : [`${colors.bold('cost')}\nabout ${dollars(cost)}`]),
    ].join('\n');
  }

  #statusText(): string {
    const running = [...this.#running.values()];
    const now = running.at(-1) ?? this.#activity;
    const more = running.length > 1 ? ` (and ${running.length - 1} more)` : '';
    return `${duration(performance.now() - this.#startedAt)} · ${count(totalOf(this.#used))} tokens · ${now}${more}`;
  }
}

function totalOf(usage: TokenUsage): number {
  return usage.input_tokens + usage.output_tokens;
}
