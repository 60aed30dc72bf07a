/** Listing threads fast: what the rollouts say, kept in a table so that only changed files are read again. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ThreadSummary } from '../protocol/index.js';
import { delay, messageOf } from '../util/index.js';
import { deleteDatabase, isBusy, isDamaged, openDatabase } from './database.js';
import { type ThreadRow, ThreadTable } from './thread-table.js';

/** A rollout by its name. */
export type RolloutName = { readonly path: string; readonly thread_id: string; readonly archived: boolean };

/** The files behind the index; they are the truth. */
export interface RolloutSource {
  /** All of them. A thread may have several; the one whose name sorts last counts. */
  list(): Promise<readonly RolloutName[]>;
  /** What a file says; null when it holds no thread. */
  summarize(file: RolloutName): Promise<ThreadSummary | null>;
  /** Threads that run a turn at this moment, with the process that does. */
  running(): ReadonlyMap<string, number>;
}

export type ThreadFilter = {
  /** Directory of the latest turn. */
  readonly cwd?: string;
  readonly model_provider?: string;
  /** Default: threads that are not archived. */
  readonly archived?: 'no' | 'only' | 'both';
  /** Updated at or after this time. */
  readonly since_ms?: number;
  readonly limit?: number;
};

export interface ThreadIndex {
  /** Newest first, as the rollouts are at this moment. A thread whose process died in a turn is `interrupted`. */
  list(filter?: ThreadFilter): Promise<ThreadSummary[]>;
  close(): Promise<void>;
}

export type IndexOptions = {
  /** Folder of the database. Nothing is opened or made before the first list. */
  readonly dir: string;
  readonly rollouts: RolloutSource;
  /** Told once when there can be no database (everything works without, more slowly), and of files that can't be read. */
  readonly warn: (message: string) => void;
};

/** An index of threads. No error of the database ever reaches the caller. */
export function openThreadIndex(options: IndexOptions): ThreadIndex {
  return new CachedIndex(options);
}

export const INDEX_FILE = 'threads.sqlite';

/** Summaries read at the same time. */
const READERS = 16;

class CachedIndex implements ThreadIndex {
  readonly #options: IndexOptions;
  readonly #path: string;
  #table: Promise<ThreadTable | null> | null = null;
  #broken = false;

  constructor(options: IndexOptions) {
    this.#options = options;
    this.#path = join(options.dir, INDEX_FILE);
  }

  async list(filter: ThreadFilter = {}): Promise<ThreadSummary[]> {
    const known = new Map(((await this.#use(table => table.all())) ?? []).map(row => [row.summary.id, row]));
    const files = newestPerThread(await this.#options.rollouts.list());
    const rows = await this.#currentRows(files, known);
    const changed = rows.filter(row => known.get(row.summary.id) !== row);
    const gone = [...known.keys()].filter(id => !files.has(id));
    if (changed.length > 0 || gone.length > 0) await this.#use(table => table.change(changed, gone));
    return withRunners(
      select(
        rows.map(row => row.summary),
        filter,
      ),
      this.#options.rollouts.running(),
    );
  }

  async close(): Promise<void> {
    const table = this.#table;
    this.#table = null;
    (await table)?.close();
  }

  /** Rows as they are where nothing changed, new ones for files that are new or were written to. */
  async #currentRows(files: Map<string, RolloutName>, known: Map<string, ThreadRow>): Promise<ThreadRow[]> {
    const rows: ThreadRow[] = [];
    const unread: RolloutName[] = [];
    for (const file of files.values()) {
      const row = known.get(file.thread_id);
      if (row !== undefined && isCurrent(row, file)) rows.push(row);
      else unread.push(file);
    }
    const readNext = async () => {
      for (let file = unread.pop(); file !== undefined; file = unread.pop()) {
        const row = await this.#read(file);
        if (row !== null) rows.push(row);
      }
    };
    await Promise.all(Array.from({ length: READERS }, readNext));
    return rows;
  }

  async #read(file: RolloutName): Promise<ThreadRow | null> {
    try {
      // Taken first: what is appended meanwhile makes the row old, not wrong.
      const state = fileState(file.path);
      const summary = await this.#options.rollouts.summarize(file);
      return summary === null ? null : { summary, ...state };
    } catch (error) {
      this.#options.warn(`${file.path} is not listed: ${messageOf(error)}`);
      return null;
    }
  }

  /** Undefined when there is no database, or it stays busy; a damaged one is made anew. */
  async #use<T>(action: (table: ThreadTable) => T): Promise<T | undefined> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const table = await this.#opened();
      if (table === null) return undefined;
      try {
        return action(table);
      } catch (error) {
        if (isBusy(error)) await delay(20);
        else this.#dismiss(table, error);
      }
    }
    return undefined;
  }

  #opened(): Promise<ThreadTable | null> {
    if (this.#broken) return Promise.resolve(null);
    this.#table ??= openDatabase(this.#path, database => new ThreadTable(database)).catch((error: unknown) => {
      this.#giveUp(error);
      return null;
    });
    return this.#table;
  }

  #dismiss(table: ThreadTable, error: unknown): void {
    table.close();
    this.#table = null;
    if (isDamaged(error)) deleteDatabase(this.#path);
    else this.#giveUp(error);
  }

  #giveUp(error: unknown): void {
    this.#broken = true;
    this.#options.warn(
      `The index of threads, ${this.#path}, cannot be used: ${messageOf(error)}. Threads are listed from their files.`,
    );
  }
}

function newestPerThread(files: readonly RolloutName[]): Map<string, RolloutName> {
  const newest = new Map<string, RolloutName>();
  for (const file of files) {
    const other = newest.get(file.thread_id);
    if (other === undefined || nameOf(other) < nameOf(file)) newest.set(file.thread_id, file);
  }
  return newest;
}

function nameOf(file: RolloutName): string {
  return file.path.slice(file.path.lastIndexOf('/') + 1);
}

function fileState(path: string): { size: number; modified_us: number } {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return { size: stat?.size ?? -1, modified_us: Math.round((stat?.mtimeMs ?? 0) * 1000) };
  } catch {
    // It cannot be looked at now: the row counts as old and the file is tried again next time.
    return { size: -1, modified_us: 0 };
  }
}

function isCurrent(row: ThreadRow, file: RolloutName): boolean {
  if (row.size === -1 || row.summary.rollout_path !== file.path || row.summary.archived !== file.archived) return false;
  const state = fileState(file.path);
  return state.size === row.size && state.modified_us === row.modified_us;
}

function withRunners(threads: ThreadSummary[], running: ReadonlyMap<string, number>): ThreadSummary[] {
  return threads.map(thread => {
    const pid = running.get(thread.id);
    return pid === undefined ? thread : { ...thread, status: 'running', runner_pid: pid };
  });
}

function select(threads: ThreadSummary[], filter: ThreadFilter): ThreadSummary[] {
  const archived = filter.archived ?? 'no';
  return threads
    .filter(
      thread =>
        (archived === 'both' || thread.archived === (archived === 'only')) &&
        (filter.cwd === undefined || thread.cwd === filter.cwd) &&
        (filter.model_provider === undefined || thread.model_provider === filter.model_provider) &&
        (filter.since_ms === undefined || thread.updated_at_ms >= filter.since_ms),
    )
    .sort((a, b) => b.updated_at_ms - a.updated_at_ms || (a.id < b.id ? 1 : -1))
    .slice(0, filter.limit);
}
