/**
 * The commands of one thread. A command that is still running when its call returns goes on here as a session that
 * later calls poll, write to and end. Every command that was started ends with `close` at the latest.
 */
import type { CommandExecutionItem, CommandResult, EventSink, RunningCommand } from '../protocol/index.js';
import { bytesOmitted, OUTPUT_LIMIT_BYTES } from './command-output.js';
import { HeadTail } from './head-tail.js';

const MAX_SESSIONS = 64;

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
  readonly #sessions = new Map<number, ExecSession>();
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

  /** Why no further command may be started, or null. */
  full(): string | null {
    if (this.#sessions.size < MAX_SESSIONS) return null;
    const ids = [...this.#sessions.keys()].slice(0, 8).join(', ');
    return `${MAX_SESSIONS} commands of this thread are still running (sessions ${ids}, …). End some first: write_stdin with chars "\\u0003" interrupts one that has a tty.`;
  }

  /** An id no running command has. */
  newId(): number {
    for (;;) {
      const id = 1000 + Math.floor(Math.random() * 99000);
      if (!this.#sessions.has(id)) return id;
    }
  }

  get(id: number): ExecSession | undefined {
    return this.#sessions.get(id);
  }

  /** Running commands, oldest first. */
  running(): ExecSession[] {
    return [...this.#sessions.values()].filter(session => session.result === null);
  }

  /** Takes over a started command: announces it, collects its output, announces its end. */
  add(id: number, item: CommandExecutionItem, running: RunningCommand): ExecSession {
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
        this.#sessions.delete(id);
        this.#complete(session, result);
        return result;
      }),
    };
    this.#sessions.set(id, session);
    return session;
  }

  /** The output since the last call of this, which starts afresh. */
  takeUnread(session: ExecSession): HeadTail {
    const unread = session.unread;
    session.unread = new HeadTail(OUTPUT_LIMIT_BYTES);
    return unread;
  }

  /** Ends the commands that were started in this turn. */
  async interruptTurn(turnId: string): Promise<void> {
    await this.#end([...this.#sessions.values()].filter(session => session.turnId === turnId));
  }

  /** Ends every command. */
  async close(): Promise<void> {
    await this.#end([...this.#sessions.values()]);
  }

  async #end(sessions: ExecSession[]): Promise<void> {
    for (const session of sessions) session.running.kill('aborted', 200);
    await Promise.all(sessions.map(session => session.ended));
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
