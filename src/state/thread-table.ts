/**
 * The table of threads. A row is a summary and the size and time its rollout had when the summary was true; who runs
 * a thread is not kept, since that is true for a moment only.
 */
import { NO_USAGE, type ThreadStatus, type ThreadSummary } from '../protocol/index.js';
import type { Database, SqlValue, Statement } from './database.js';

export type ThreadRow = {
  readonly summary: ThreadSummary;
  /** Of the rollout, in bytes; -1 = not known. */
  readonly size: number;
  /** Its modification time in microseconds; whole, so that it comes back as it was. */
  readonly modified_us: number;
};

/** Grows with every change of the table; a file with another number is not ours to read. */
const VERSION = 1;

const COLUMNS = {
  id: 'TEXT PRIMARY KEY',
  rollout_path: 'TEXT NOT NULL',
  rollout_size: 'INTEGER NOT NULL',
  rollout_modified_us: 'INTEGER NOT NULL',
  cwd: 'TEXT NOT NULL',
  title: 'TEXT NOT NULL',
  model: 'TEXT',
  model_provider: 'TEXT',
  approval_policy: 'TEXT',
  sandbox_policy: 'TEXT',
  source: 'TEXT NOT NULL',
  status: 'TEXT NOT NULL',
  input_tokens: 'INTEGER NOT NULL',
  cached_input_tokens: 'INTEGER NOT NULL',
  cache_write_input_tokens: 'INTEGER NOT NULL',
  output_tokens: 'INTEGER NOT NULL',
  reasoning_output_tokens: 'INTEGER NOT NULL',
  total_tokens: 'INTEGER NOT NULL',
  created_at_ms: 'INTEGER NOT NULL',
  updated_at_ms: 'INTEGER NOT NULL',
  archived: 'INTEGER NOT NULL',
  git_branch: 'TEXT',
  git_commit_hash: 'TEXT',
  git_repository_url: 'TEXT',
  forked_from_id: 'TEXT',
  history_base_id: 'TEXT',
} as const;

type Column = keyof typeof COLUMNS;
type SqlRow = { readonly [key in Column]: SqlValue };

const NAMES = Object.keys(COLUMNS) as Column[];
const PLACES = Object.fromEntries(NAMES.map((name, place) => [name, place])) as Readonly<Record<Column, number>>;

export class ThreadTable {
  readonly #database: Database;
  readonly #all: Statement;
  readonly #put: Statement;
  readonly #remove: Statement;

  /** Makes the table where it is missing. Throws when the file is of a newer version. */
  constructor(database: Database) {
    prepareTable(database);
    this.#database = database;
    // As one text: a thousand rows of values, each handed over by itself, take most of the time of a list.
    this.#all = database.prepare(`SELECT json_group_array(json_array(${NAMES.join(', ')})) AS rows FROM threads`);
    const places = NAMES.map(() => '?').join(', ');
    this.#put = database.prepare(`INSERT OR REPLACE INTO threads (${NAMES.join(', ')}) VALUES (${places})`);
    this.#remove = database.prepare('DELETE FROM threads WHERE id = ?');
  }

  all(): ThreadRow[] {
    const [result] = this.#all.all() as { rows: string }[];
    const rows = JSON.parse(result?.rows ?? '[]') as SqlValue[][];
    return rows.map(values => fromSql(values));
  }

  /** All or nothing. */
  change(puts: readonly ThreadRow[], removals: readonly string[]): void {
    if (puts.length === 0 && removals.length === 0) return;
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const row of puts) {
        const sql = toSql(row);
        this.#put.run(...NAMES.map(name => sql[name]));
      }
      for (const id of removals) this.#remove.run(id);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#undo();
      throw error;
    }
  }

  #undo(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // After some errors, such as a full disk, the engine has undone it already.
    }
  }

  close(): void {
    this.#database.close();
  }
}

function prepareTable(database: Database): void {
  const version = Number(firstValue(database, 'PRAGMA user_version'));
  if (version === VERSION) return;
  if (version > VERSION) throw new Error(`it was made by a newer version of this program (${version})`);
  const columns = NAMES.map(name => `${name} ${COLUMNS[name]}`).join(', ');
  database.exec(`CREATE TABLE IF NOT EXISTS threads (${columns}); PRAGMA user_version = ${VERSION}`);
}

function firstValue(database: Database, sql: string): unknown {
  const row = database.prepare(sql).all()[0];
  return typeof row === 'object' && row !== null ? Object.values(row)[0] : undefined;
}

function toSql({ summary, size, modified_us }: ThreadRow): SqlRow {
  const { runner_pid: _pid, git, usage, archived, ...plain } = summary;
  return {
    ...plain,
    ...usage,
    rollout_size: size,
    rollout_modified_us: modified_us,
    archived: archived ? 1 : 0,
    git_branch: git?.branch ?? null,
    git_commit_hash: git?.commit_hash ?? null,
    git_repository_url: git?.repository_url ?? null,
  };
}

/** `values` in the order of the columns. */
function fromSql(values: readonly SqlValue[]): ThreadRow {
  const value = (column: Column) => values[PLACES[column]] ?? null;
  const text = (column: Column) => (value(column) === null ? null : String(value(column)));
  const count = (column: Column) => Number(value(column) ?? 0);
  const summary: ThreadSummary = {
    id: text('id') ?? '',
    rollout_path: text('rollout_path') ?? '',
    cwd: text('cwd') ?? '',
    title: text('title') ?? '',
    model: text('model'),
    model_provider: text('model_provider'),
    approval_policy: text('approval_policy'),
    sandbox_policy: text('sandbox_policy'),
    source: text('source') ?? '',
    status: statusOf(value('status')),
    runner_pid: null,
    usage: {
      ...NO_USAGE,
      input_tokens: count('input_tokens'),
      cached_input_tokens: count('cached_input_tokens'),
      cache_write_input_tokens: count('cache_write_input_tokens'),
      output_tokens: count('output_tokens'),
      reasoning_output_tokens: count('reasoning_output_tokens'),
      total_tokens: count('total_tokens'),
    },
    created_at_ms: count('created_at_ms'),
    updated_at_ms: count('updated_at_ms'),
    archived: value('archived') === 1,
    git: gitOf(text('git_branch'), text('git_commit_hash'), text('git_repository_url')),
    forked_from_id: text('forked_from_id'),
    history_base_id: text('history_base_id'),
  };
  return { summary, size: count('rollout_size'), modified_us: count('rollout_modified_us') };
}

function statusOf(value: SqlValue): ThreadStatus {
  return value === 'interrupted' || value === 'failed' ? value : 'idle';
}

function gitOf(branch: string | null, hash: string | null, url: string | null): ThreadSummary['git'] {
  if (branch === null && hash === null && url === null) return null;
  return {
    ...(branch === null ? {} : { branch }),
    ...(hash === null ? {} : { commit_hash: hash }),
    ...(url === null ? {} : { repository_url: url }),
  };
}
