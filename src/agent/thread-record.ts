/** The record of one thread on disk: its rollout and its row in the index. A thread that is not kept has neither. */
import type { Grants } from '../approvals/index.js';
import type { Config } from '../config/index.js';
import type { EventSink } from '../protocol/index.js';
import {
  createRollout,
  type InterpreterLine,
  type JsonObject,
  openRollout,
  type RolloutWriter,
  type ThreadRecord as StoredRecord,
} from '../rollout/index.js';
import type { SentContext } from './context.js';
import { newId } from './ids.js';
import type { Profile } from './profiles/index.js';
import { recordEvents } from './recording.js';
import { sessionMeta, turnSettings } from './stored-settings.js';
import type { TimedSpan } from './turn-timing.js';

export type ThreadRecordOptions = {
  readonly id: string;
  readonly config: Config;
  readonly profile: Profile;
  readonly source: string;
  readonly version: string;
};

export class ThreadRecord {
  readonly #options: ThreadRecordOptions;
  readonly #warnings: string[] = [];
  #writer: RolloutWriter | null;
  #context = '';
  #turns = 0;

  constructor(options: ThreadRecordOptions) {
    this.#options = options;
    const { id, config } = options;
    this.#writer = config.persist
      ? createRollout({ home: config.home, threadId: id, startedAt: new Date(), warn: this.#warn })
      : null;
  }

  /** Where the rollout is or will be; null when the thread is not kept. */
  get path(): string | null {
    return this.#writer?.path ?? null;
  }

  /** Whether the file is no longer what this process wrote or read. */
  state(): 'current' | 'changed' | 'missing' {
    const state = this.#writer?.check() ?? 'current';
    return state === 'new' ? 'current' : state;
  }

  /** Whether all of the thread is in its file. */
  isSaved(): boolean {
    const writer = this.#writer;
    if (writer === null || !writer.flush()) return false;
    const state = writer.check();
    return state === 'current' || state === 'changed';
  }

  /** Takes up the record of a thread that was read; returns what its model had been told. */
  restore(stored: StoredRecord, grants: Grants): SentContext | null {
    this.#writer?.close();
    this.#writer = this.#options.config.persist ? openRollout(stored.append_point, { warn: this.#warn }) : null;
    this.#turns = stored.turns;
    return this.#takeOver(stored, grants);
  }

  /** Begins the record with a copy of another thread's; returns what its model had been told. */
  copy(parent: StoredRecord, grants: Grants): SentContext | null {
    const writer = this.#writer;
    if (writer) {
      const { config } = this.#options;
      const meta = sessionMeta({ ...this.#options, startedAt: new Date(), forkedFromId: parent.meta.id });
      writer.append({ type: 'session_meta', payload: meta });
      writer.append({ type: 'turn_context', payload: turnSettings(newId(), config) });
      for (const item of parent.history) writer.append({ type: 'response_item', payload: item });
      for (const state of parent.world_state)
        writer.append({ type: 'world_state', payload: { full: state === parent.world_state[0], state } });
      // The parent's turns stay its own: they can be undone there.
      for (const note of parent.notes.filter(one => one.kind === 'grant'))
        writer.append({ type: 'interpreter', payload: note });
      if (parent.usage) writer.append({ type: 'event_msg', payload: tokenCount(parent.usage) });
      writer.flush();
    }
    return this.#takeOver(parent, grants);
  }

  #takeOver(stored: StoredRecord, grants: Grants): SentContext | null {
    for (const note of stored.notes)
      if (note.kind === 'grant' && Array.isArray(note['keys'])) grants.add(strings(note['keys']));
    for (const problem of stored.problems)
      this.#warnings.push(`Line ${problem.line} of ${problem.path} was left out: ${problem.reason}`);
    const sent = stored.world_state.at(-1)?.['interpreter_context'];
    this.#context = JSON.stringify(sent ?? null);
    // Written by `context` below; anything else that a file may hold there only costs a repetition of the context.
    return typeof sent === 'object' && sent !== null && 'permissions' in sent ? (sent as unknown as SentContext) : null;
  }

  /** A sink that writes what happens. What a crash must not lose is with the kernel when the sink returns. */
  sink(): EventSink {
    const writer = this.#writer;
    if (!writer) return () => {};
    const record = recordEvents(this.#options.id, line => writer.append(line));
    return event => {
      record(event);
      if (event.type === 'history.added' || event.type === 'item.completed' || event.type === 'context.compacted') {
        writer.flush();
      }
    };
  }

  beginTurn(turnId: string): void {
    this.#turns++;
    const writer = this.#writer;
    if (!writer) return;
    if (writer.check() === 'new')
      writer.append({ type: 'session_meta', payload: sessionMeta({ ...this.#options, startedAt: new Date() }) });
    writer.append({ type: 'turn_context', payload: turnSettings(turnId, this.#options.config) });
  }

  /** Everything of the turn goes to the kernel. */
  endTurn(): void {
    this.#writer?.flush();
  }

  /** Notes what the model has been told, when that changed. */
  context(sent: SentContext): void {
    const text = JSON.stringify(sent);
    if (text === this.#context) return;
    this.#context = text;
    const state: JsonObject = { interpreter_context: JSON.parse(text) as JsonObject };
    this.#writer?.append({ type: 'world_state', payload: { full: true, state } });
  }

  grant(keys: readonly string[]): void {
    this.note({ kind: 'grant', keys });
  }

  /** Keeps a line of our own. */
  note(note: InterpreterLine): void {
    this.#writer?.append({ type: 'interpreter', payload: note });
  }

  /** Number of the present or latest turn, from 1. */
  get turn(): number {
    return this.#turns;
  }

  /** Notes where the time of a turn went. */
  timing(turnId: string, timing: { duration_ms: number; spans: TimedSpan[] }): void {
    this.#writer?.append({ type: 'interpreter', payload: { kind: 'timing', turn_id: turnId, ...timing } });
  }

  /** What went wrong with the file and was not told yet. */
  takeWarnings(): string[] {
    return this.#warnings.splice(0);
  }

  close(): void {
    this.#writer?.close();
  }

  #warn = (text: string): void => {
    this.#warnings.push(text);
  };
}

function tokenCount({ total, last, model_context_window }: NonNullable<StoredRecord['usage']>) {
  const info = { total_token_usage: total, last_token_usage: last, model_context_window };
  return { type: 'token_count' as const, info, rate_limits: null };
}

function strings(values: readonly unknown[]): string[] {
  return values.filter(value => typeof value === 'string');
}
