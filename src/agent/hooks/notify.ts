/** `notify`: a program of the person that is told about each completed turn. It never delays or fails a turn. */
import type { CommandRunner } from '../../protocol/index.js';
import { runToEnd } from '../../sandbox/index.js';
import { messageOf, truncateMiddle, within } from '../../util/index.js';

export type NotifierOptions = {
  /** Program and arguments; null = nobody wants to know. */
  readonly argv: readonly string[] | null;
  readonly cwd: string;
  readonly env: () => Readonly<Record<string, string>>;
  readonly runner: CommandRunner;
  /** For the log of the process. */
  readonly warn: (message: string) => void;
};

export type FinishedTurn = {
  readonly threadId: string;
  readonly turnId: string;
  readonly cwd: string;
  readonly client: string;
  readonly inputMessages: readonly string[];
  readonly lastMessage: string | null;
};

/** Long enough for a slow network, short enough not to pile up. */
const LIMIT_MS = 60_000;
/** The system takes 128 KiB for one argument; escaping can make a text six times as long. */
const MAX_ARGUMENT = 120 * 1024;
const MAX_TEXT = 16 * 1024;

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #running = new Set<Promise<void>>();

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Starts the program and returns at once. */
  turnCompleted(turn: FinishedTurn): void {
    const { argv } = this.#options;
    if (argv === null) return;
    const run = this.#run([...argv, argument(turn)]).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Waits for programs that still run, `ms` at most; who owns the runner ends the rest. */
  async settle(ms: number): Promise<void> {
    if (this.#running.size > 0) await within(Promise.all(this.#running), ms);
  }

  async #run(argv: readonly string[]): Promise<void> {
    const { runner, cwd, env, warn } = this.#options;
    try {
      const { result, stderr } = await runToEnd(
        runner,
        { argv, cwd, env: env(), policy: { type: 'danger-full-access' } },
        { timeoutMs: LIMIT_MS, maxBytes: 1024 },
      );
      if (result.type === 'exited' && result.exit_code === 0) return;
      const what = result.type === 'exited' ? `exited with code ${result.exit_code}` : result.type.replace('_', ' ');
      const why = result.type === 'not_started' ? result.message : stderr.toString('utf8').trim();
      warn(`The notify program ${argv[0]} ${what}${why === '' ? '' : `: ${why}`}`);
    } catch (error) {
      warn(`The notify program ${argv[0]} could not be run: ${messageOf(error)}`);
    }
  }
}

function argument(turn: FinishedTurn): string {
  const full = json(turn);
  if (Buffer.byteLength(full) <= MAX_ARGUMENT) return full;
  const cut = (text: string, bytes: number) => truncateMiddle(text, bytes, n => `…${n} bytes left out…`).text;
  const each = Math.floor(MAX_TEXT / 2 / Math.max(1, turn.inputMessages.length));
  return json({
    ...turn,
    inputMessages: turn.inputMessages.map(text => cut(text, each)),
    lastMessage: turn.lastMessage === null ? null : cut(turn.lastMessage, MAX_TEXT / 2),
  });
}

function json(turn: FinishedTurn): string {
  return JSON.stringify({
    type: 'agent-turn-complete',
    'thread-id': turn.threadId,
    'turn-id': turn.turnId,
    cwd: turn.cwd,
    client: turn.client,
    'input-messages': turn.inputMessages,
    'last-assistant-message': turn.lastMessage,
  });
}
