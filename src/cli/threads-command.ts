/** `interpreter threads list|show|delete|archive|export`: looking after the threads of a home. Returns exit statuses. */
import { statSync, writeFileSync } from 'node:fs';
import type { ThreadSummary } from '../protocol/index.js';
import {
  acquireThreadLock,
  deleteRollout,
  moveRollout,
  type RolloutFile,
  readRollout,
  readRolloutText,
  readTranscript,
} from '../rollout/index.js';
import type { ThreadFilter } from '../state/index.js';
import { allThreads, type ThreadsPlace } from './all-threads.js';
import type { Output } from './output.js';
import { FAILED, refusing } from './refusing.js';
import { resolveThread } from './resolve-thread.js';
import { formatSize, formatThread, formatTranscript, threadTable } from './threads-text.js';
import { type SizedThread, toDelete } from './threads-to-delete.js';

const USAGE = 2;

/** Prints threads as a table, newest first, or as a JSON array. `columns`: width of the terminal; titles are cut to it. */
export async function listThreads(
  place: ThreadsPlace,
  options: ThreadFilter & { readonly json: boolean; readonly columns?: number },
  output: Output,
): Promise<number> {
  const threads = await allThreads(place, options, warnTo(output));
  if (options.json) output.out(`${JSON.stringify(threads, null, 2)}\n`);
  else if (threads.length === 0) output.err('No threads.\n');
  else output.out(threadTable(threads, { now: new Date(), columns: options.columns ?? null }));
  return 0;
}

/** Prints what is known about one thread and what was said in it. `id`: a thread id or the beginning of one. */
export async function showThread(
  place: ThreadsPlace,
  id: string,
  options: { readonly json: boolean },
  output: Output,
): Promise<number> {
  return refusing(output, async () => {
    const file = await resolveThread(place.home, id);
    const record = await readRollout(place.home, file.path);
    const [summary = null] = (await allThreads(place, { archived: 'both' }, warnTo(output))).filter(
      thread => thread.id === file.thread_id,
    );
    if (options.json) {
      const { append_point: _, ...rest } = record;
      output.out(`${JSON.stringify({ summary, ...rest }, null, 2)}\n`);
    } else {
      output.out(formatThread(record, summary, await readTranscript(place.home, file.path)));
    }
    return 0;
  });
}

export type DeleteOptions = {
  /** Thread ids or beginnings of them. */
  readonly ids: readonly string[];
  /** Threads that were not used for so long. */
  readonly olderThanMs?: number;
  /** The threads used last are kept as long as they fit into so many bytes. */
  readonly maxTotalBytes?: number;
  /** Only says what would go. */
  readonly dryRun: boolean;
  readonly json: boolean;
};

/** Deletes the threads that are named, too old, or over the total size; running ones stay. */
export async function deleteThreads(place: ThreadsPlace, options: DeleteOptions, output: Output): Promise<number> {
  const { ids, olderThanMs, maxTotalBytes, dryRun, json } = options;
  if (ids.length === 0 && olderThanMs === undefined && maxTotalBytes === undefined) {
    output.err('Name threads, or say --older-than AGE or --max-total-size SIZE.\n');
    return USAGE;
  }
  return refusing(output, async () => {
    const named = await Promise.all(ids.map(async id => (await resolveThread(place.home, id)).thread_id));
    const threads = (await allThreads(place, { archived: 'both' }, warnTo(output))).map(withSize);
    const rules = {
      ...(olderThanMs === undefined ? {} : { before_ms: Date.now() - olderThanMs }),
      ...(maxTotalBytes === undefined ? {} : { max_total_bytes: maxTotalBytes }),
    };
    const { chosen, kept } = toDelete(threads, named, rules);
    for (const { id, reason } of kept) output.err(`${id} stays: ${reason}\n`);
    const deleted: { id: string; bytes: number }[] = [];
    let status = kept.some(({ id }) => named.includes(id)) ? FAILED : 0;
    for (const id of chosen) {
      const bytes = dryRun
        ? (threads.find(thread => thread.id === id)?.bytes ?? 0)
        : await deleteOne(place, id, output);
      if (bytes === null) status = FAILED;
      else deleted.push({ id, bytes });
    }
    if (json) output.out(`${JSON.stringify({ dry_run: dryRun, deleted }, null, 2)}\n`);
    else output.out(deletionText(deleted, dryRun));
    return status;
  });
}

/** Moves threads to the archive, where lists leave them out, or back (`restore`). */
export async function archiveThreads(
  place: ThreadsPlace,
  options: { readonly ids: readonly string[]; readonly restore: boolean },
  output: Output,
): Promise<number> {
  return refusing(output, async () => {
    let status = 0;
    for (const id of options.ids) {
      const { thread_id: threadId } = await resolveThread(place.home, id);
      const moved = await holding(place, threadId, output, () =>
        moveRollout(place.home, threadId, options.restore ? 'sessions' : 'archive'),
      );
      if (moved === null) status = FAILED;
      else output.out(`${threadId} ${options.restore ? 'restored' : 'archived'}\n`);
    }
    return status;
  });
}

export const EXPORT_FORMATS = ['markdown', 'json', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/**
 * Writes a whole thread to `file` (mode 0600) or, without one, to the output: Markdown to read, JSON with everything that
 * was ever in its history, or the rollout as it is.
 */
export async function exportThread(
  place: ThreadsPlace,
  options: { readonly id: string; readonly format: ExportFormat; readonly file?: string },
  output: Output,
): Promise<number> {
  return refusing(output, async () => {
    const rollout = await resolveThread(place.home, options.id);
    const text = await exported(place.home, rollout, options.format);
    if (options.file === undefined) {
      output.out(text);
      return 0;
    }
    writeFileSync(options.file, text, { mode: 0o600 });
    output.err(`${rollout.thread_id} written to ${options.file}\n`);
    return 0;
  });
}

async function exported(home: string, rollout: RolloutFile, format: ExportFormat): Promise<string> {
  switch (format) {
    case 'markdown':
      return formatTranscript(await readRollout(home, rollout.path), await readTranscript(home, rollout.path));
    case 'json': {
      const { meta, settings, usage, last_turn: lastTurn } = await readRollout(home, rollout.path);
      const transcript = await readTranscript(home, rollout.path);
      return `${JSON.stringify({ meta, settings, usage, last_turn: lastTurn, transcript }, null, 2)}\n`;
    }
    case 'jsonl':
      return readRolloutText(rollout.path);
  }
}

const warnTo = (output: Output) => (message: string) => output.err(`warning: ${message}\n`);

function withSize(thread: ThreadSummary): SizedThread {
  return { ...thread, bytes: statSync(thread.rollout_path, { throwIfNoEntry: false })?.size ?? 0 };
}

/** The bytes that were freed; null when the thread is in use, which was said. */
async function deleteOne(place: ThreadsPlace, threadId: string, output: Output): Promise<number | null> {
  return holding(place, threadId, output, () => deleteRollout(place.home, threadId));
}

/** Does something while no process runs the thread; null, and a line on stderr, when one does. */
async function holding<T>(
  place: ThreadsPlace,
  threadId: string,
  output: Output,
  action: () => Promise<T>,
): Promise<T | null> {
  const taken = await acquireThreadLock(place.home, threadId, { waitMs: 0, warn: warnTo(output) });
  if (taken.type === 'busy') {
    output.err(`${threadId} stays: it is in use by process ${taken.held_by}\n`);
    return null;
  }
  try {
    return await action();
  } finally {
    taken.lock.release();
  }
}

function deletionText(deleted: readonly { id: string; bytes: number }[], dryRun: boolean): string {
  const total = deleted.reduce((sum, { bytes }) => sum + bytes, 0);
  const verb = dryRun ? 'would be deleted' : 'deleted';
  const lines = deleted.map(({ id, bytes }) => `${id} ${verb} (${formatSize(bytes)})\n`);
  return `${lines.join('')}${deleted.length} ${deleted.length === 1 ? 'thread' : 'threads'} ${verb}, ${formatSize(total)}\n`;
}
