/**
 * The commands of one thread. A command that is still running when its call returns goes on here as a session that
 * later calls poll, write to and end. Every command that was started ends with `close` at the latest.
 */
import type { CommandExecutionItem, CommandResult, EventSink, RunningCommand } from '../protocol/index.js';
import { within } from '../util/index.js';
import { bytesOmitted, OUTPUT_LIMIT_BYTES } from './command-output.js';
import { HeadTail } from './head-tail.js';

const MAX_SESSIONS = 64;
/** Ended sessions whose last output was not read yet. */
const MAX_UNREAD_ENDS = 64;
/** Between TERM and KILL. */
const GRACE_MS = 200;
/** How long the end of a command that was killed is waited for. */
const END_WAIT_MS = 1500;

export type ExecSession = {
  readonly id: number;
  readonly item: CommandExecutionItem;
  readonly running: RunningCommand;
  readonly startedAt: number;
  readonly turnId: string;
  /** Output since the last report to the model. */
  unread: HeadTail;
  /** Output in all. */
  readonly all: HeadTail;
  /** Set when it has ended. */
  result: CommandResult | null;
  /** Resolves when it has ended and its output was taken in. */
  readonly ended: Promise<CommandResult>;
};

export class ExecSessions {
  /** Those that run, and those whose end no call has reported yet. */
  readonly #sessions = new Map<number, ExecSession>();
  /** Commands that are being started. */
  #starting = 0;
  #emit: EventSink | null = null;
  #turnId = '';
  /** Completions that fell between two turns; told in the next one. */
  #held: CommandExecutionItem[] = [];
  readonly #explained = new Set<string>();

  /** Events go to `emit` until `endTurn`. */
  beginTurn(turnId: string, emit: EventSink): void {
    this.#turnId = turnId;
    this.#emit = emit;
    this.#explained.clear();
    for (const item of this.#held.splice(0)) emit({ type: 'item.completed', item, at_ms: Date.now() });
  }

  /** `note` the first time it comes up in a turn; what is known need not be read again. */
  once(note: string | null): string | null {
    if (note === null || this.#explained.has(note)) return null;
    this.#explained.add(note);
    return note;
  }

  endTurn(): void {
    this.#emit = null;
  }

  /** Takes one of the places for running commands, or says why there is none. Each place is given back by `add` or `notStarted`. */
  reserve(): string | null {
    const running = this.running();
    if (running.length + this.#starting < MAX_SESSIONS) {
      this.#starting++;
      return null;
    }
    const ids = running.slice(0, 8).map(session => session.id);
    return `${MAX_SESSIONS} commands of this thread are still running (sessions ${ids.join(', ')}, …). End some first: write_stdin with chars "\\u0003" interrupts one that has a tty.`;
  }

  /** A place that `reserve` gave is not needed. */
  notStarted(): void {
    this.#starting--;
  }

  /** An id no session has. */
  newId(): number {
    for (;;) {
      const id = 1000 + Math.floor(Math.random() * 99000);
      if (!this.#sessions.has(id)) return id;
    }
  }

  /** One that runs, or whose end was not reported yet. */
  get(id: number): ExecSession | undefined {
    return this.#sessions.get(id);
  }

  isOfThisTurn(session: ExecSession): boolean {
    return session.turnId === this.#turnId;
  }

  /** Running commands, oldest first. */
  running(): ExecSession[] {
    return [...this.#sessions.values()].filter(session => session.result === null);
  }

  /** Takes over a started command: announces it, collects its output, announces its end. */
  add(id: number, item: CommandExecutionItem, running: RunningCommand): ExecSession {
    this.#starting--;
    const all = new HeadTail(OUTPUT_LIMIT_BYTES);
    let emitted = 0;
    this.#send({ type: 'item.started', item, at_ms: Date.now() });
    running.onOutput(chunk => {
      session.unread.push(chunk);
      all.push(chunk);
      if (emitted >= OUTPUT_LIMIT_BYTES) return;
      const part = chunk.subarray(0, OUTPUT_LIMIT_BYTES - emitted);
      emitted += part.length;
      this.#send({ type: 'command.output', item_id: item.id, chunk: part.toString('base64') });
    });
    const session: ExecSession = {
      id,
      item,
      running,
      startedAt: performance.now(),
      turnId: this.#turnId,
      unread: new HeadTail(OUTPUT_LIMIT_BYTES),
      all,
      result: null,
      ended: running.ended.then(result => {
        session.result = result;
        this.#complete(session, result);
        this.#forgetOldEnds();
        return result;
      }),
    };
    this.#sessions.set(id, session);
    return session;
  }

  /** The output since the last call of this, which starts afresh. A session that has ended is forgotten: this was its last word. */
  takeUnread(session: ExecSession): HeadTail {
    const unread = session.unread;
    session.unread = new HeadTail(OUTPUT_LIMIT_BYTES);
    if (session.result !== null) this.#sessions.delete(session.id);
    // The rest of a character that is not complete yet belongs to the next report.
    else session.unread.push(unread.takePartialEnd());
    return unread;
  }

  #forgetOldEnds(): void {
    const ended = [...this.#sessions.values()].filter(session => session.result !== null);
    for (const { id } of ended.slice(0, -MAX_UNREAD_ENDS)) this.#sessions.delete(id);
  }

  /** Ends the commands that were started in this turn. */
  async interruptTurn(turnId: string): Promise<void> {
    await this.end([...this.#sessions.values()].filter(session => session.turnId === turnId));
  }

  /** Ends every command. */
  async close(): Promise<void> {
    await this.end([...this.#sessions.values()]);
  }

  /** Ends these, and waits for it. What even KILL does not end (a process in the hands of the kernel) is not waited for. */
  async end(sessions: readonly ExecSession[], reason: 'aborted' | 'timed_out' = 'aborted'): Promise<void> {
    const running = sessions.filter(session => session.result === null);
    for (const session of running) session.running.kill(reason, GRACE_MS);
    await within(Promise.all(running.map(session => session.ended)), END_WAIT_MS);
  }

  #complete(session: ExecSession, result: CommandResult): void {
    const exitCode = result.type === 'exited' ? result.exit_code : result.type === 'timed_out' ? 124 : null;
    const item: CommandExecutionItem = {
      ...session.item,
      status: exitCode === 0 ? 'completed' : 'failed',
      aggregated_output: session.all.text(OUTPUT_LIMIT_BYTES, bytesOmitted),
      exit_code: exitCode ?? -1,
      duration_ms: Math.round(performance.now() - session.startedAt),
    };
    if (this.#emit) this.#emit({ type: 'item.completed', item, at_ms: Date.now() });
    else this.#held.push(item);
  }

  #send: EventSink = event => this.#emit?.(event);
}
