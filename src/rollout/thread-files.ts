/** Where rollouts are: names, folders, and finding one by its thread id. */
import { promises as fs } from 'node:fs';
import { basename, join } from 'node:path';
import { hasCode } from '../util/index.js';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const THREAD_ID = new RegExp(`^${UUID}$`);
/** Start time, thread id, and for a reverted thread the id of the rollout. */
const FILE_NAME = new RegExp(
  `^rollout-\\d{4}-\\d{2}-\\d{2}T\\d{2}-\\d{2}-\\d{2}-(${UUID})(?:_(${UUID}))?\\.jsonl(?:\\.zst)?$`,
);
const DAY_MS = 86_400_000;

export type RolloutFile = {
  readonly path: string;
  readonly thread_id: string;
  readonly archived: boolean;
};

/** True for a lower-case UUID. Nothing else is ever looked up in the file system. */
export function isThreadId(text: string): boolean {
  return THREAD_ID.test(text);
}

/** The thread that a file name belongs to; null for other files. */
export function threadIdOf(path: string): string | null {
  return FILE_NAME.exec(basename(path))?.[1] ?? null;
}

/** The file of a new thread. Date and time are local, as people look for them. */
export function rolloutPath(home: string, threadId: string, startedAt: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = [String(startedAt.getFullYear()), two(startedAt.getMonth() + 1), two(startedAt.getDate())];
  const time = [startedAt.getHours(), startedAt.getMinutes(), startedAt.getSeconds()].map(two).join('-');
  return join(home, 'sessions', ...day, `rollout-${day.join('-')}T${time}-${threadId}.jsonl`);
}

/** Where a thread's file goes when it is archived. */
export function archivedPath(home: string, path: string): string {
  return join(home, 'archived_sessions', basename(path));
}

/** Where an archived file goes back to; null when its name has no date. */
export function restoredPath(home: string, path: string): string | null {
  const name = basename(path);
  const [, year, month, day] = /^rollout-(\d{4})-(\d{2})-(\d{2})T/.exec(name) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  return join(home, 'sessions', year, month, day, name);
}

/**
 * The file that holds a thread, archived ones included; null when there is none or `threadId` is no thread id.
 * The folder is guessed from the time in the id first; only when that fails everything is searched.
 */
export async function findRollout(home: string, threadId: string): Promise<RolloutFile | null> {
  if (!isThreadId(threadId)) return null;
  for (const folder of likelyFolders(home, threadId)) {
    const found = newest(await filesIn(folder, false), threadId);
    if (found) return found;
  }
  return newest(await listRollouts(home), threadId);
}

/** All rollouts of a home, archived ones last. Only names are read. */
export async function listRollouts(home: string): Promise<RolloutFile[]> {
  const days: string[] = [];
  const sessions = join(home, 'sessions');
  for (const year of await numbered(sessions)) {
    for (const month of await numbered(year)) days.push(...(await numbered(month)));
  }
  const active = await Promise.all(days.map(day => filesIn(day, false)));
  return [...active.flat(), ...(await filesIn(join(home, 'archived_sessions'), true))];
}

/** The first 48 bits of a version 7 id are the time it was made; local dates differ from it by a day at most. */
function likelyFolders(home: string, threadId: string): string[] {
  if (threadId[14] !== '7') return [];
  const time = Number.parseInt(threadId.replaceAll('-', '').slice(0, 12), 16);
  return [0, -DAY_MS, DAY_MS].map(shift => {
    const [year = '', month = '', day = ''] = new Date(time + shift).toISOString().slice(0, 10).split('-');
    return join(home, 'sessions', year, month, day);
  });
}

/** Of several files of one thread the latest revert counts; rollout ids sort by time. */
function newest(files: readonly RolloutFile[], threadId: string): RolloutFile | null {
  const own = files.filter(file => file.thread_id === threadId);
  return own.sort((a, b) => (rolloutId(a.path) < rolloutId(b.path) ? 1 : -1))[0] ?? null;
}

function rolloutId(path: string): string {
  return FILE_NAME.exec(basename(path))?.[2] ?? '';
}

async function filesIn(folder: string, archived: boolean): Promise<RolloutFile[]> {
  const found: RolloutFile[] = [];
  for (const name of await namesIn(folder)) {
    const threadId = threadIdOf(name);
    if (threadId !== null) found.push({ path: join(folder, name), thread_id: threadId, archived });
  }
  return found;
}

/** Sub-folders for years, months and days, in order. */
async function numbered(folder: string): Promise<string[]> {
  const names = await namesIn(folder);
  return names
    .filter(name => /^\d{2,4}$/.test(name))
    .sort()
    .map(name => join(folder, name));
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
