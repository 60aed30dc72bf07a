/** One SQLite file: Node's own engine where this version has it, else the package with the same API. Loaded on first use. */
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { delay } from '../util/index.js';

export type SqlValue = string | number | null;

export interface Statement {
  run(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** The results of SQLite this room acts on: code, and the engine's words where an error comes without its code. */
const BUSY = { code: 5, words: /database is locked/ };
const CORRUPT = { code: 11, words: /malformed/ };
const NOT_A_DATABASE = { code: 26, words: /not a database/ };

/** With the waits of the engine, about a second when somebody holds the file. */
const OPEN_ATTEMPTS = 6;

/**
 * Opens or makes the file (mode 0600) for use by many processes. `use` makes its tables and statements; a damaged
 * file is deleted and made anew, so nothing may be kept here that is not kept elsewhere.
 */
export async function openDatabase<T>(path: string, use: (database: Database) => T): Promise<T> {
  const Driver = await loadDriver();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt++) {
    try {
      return openOnce(Driver, path, use);
    } catch (error) {
      if (attempt === OPEN_ATTEMPTS) throw error;
      if (isDamaged(error)) deleteDatabase(path);
      else if (!isBusy(error)) throw error;
      // Switching to the write-ahead log does not wait for others by itself.
      await delay(10 + Math.random() * 40);
    }
  }
}

/** True when another process held the file for longer than this one waits. */
export function isBusy(error: unknown): boolean {
  return is(error, BUSY);
}

/** True when the file is not usable as a database. */
export function isDamaged(error: unknown): boolean {
  return is(error, CORRUPT) || is(error, NOT_A_DATABASE);
}

/** Deletes the file and what belongs to it. */
export function deleteDatabase(path: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
}

function is(error: unknown, result: { code: number; words: RegExp }): boolean {
  if (!(error instanceof Error)) return false;
  // The upper bytes of a code say more about the same.
  if ('errcode' in error && typeof error.errcode === 'number') return (error.errcode & 0xff) === result.code;
  return result.words.test(error.message);
}

type Driver = new (path: string) => Database;

function openOnce<T>(DatabaseSync: Driver, path: string, use: (database: Database) => T): T {
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 150; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    return use(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

async function loadDriver(): Promise<Driver> {
  if (!hasOwnEngine()) return (await import('@photostructure/sqlite')).DatabaseSync as Driver;
  // Named by a variable: older versions of Node, and the types of the oldest one, do not know it.
  const name: string = 'node:sqlite';
  const module = await withoutExperimentalWarning(() => import(name) as Promise<{ DatabaseSync: Driver }>);
  return module.DatabaseSync;
}

/** Without a flag since 22.13. */
function hasOwnEngine(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 13);
}

/** The engine announces on stderr that its API may change; users of this program can do nothing about that. */
async function withoutExperimentalWarning<T>(load: () => Promise<T>): Promise<T> {
  const emit = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return await load();
  } finally {
    process.emitWarning = emit;
  }
}
