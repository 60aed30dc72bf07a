/** Reading a thread back: everything a resume needs, from one file and, for some forks, from the files it builds on. */

import type { HistoryItem } from '../protocol/index.js';
import { messageOf } from '../util/index.js';
import { decodeHistoryItem } from './decode-history-item.js';
import type { HistoryBase, InterpreterLine, JsonObject, SessionMeta, TurnSettings } from './lines.js';
import { type ParsedLine, parseLine } from './parse-line.js';
import { type OnLine, readLines } from './read-lines.js';
import { repairHistory } from './repair-history.js';
import { ImageShelf } from './store-once.js';
import { findRollout, threadIdOf } from './thread-files.js';
import { isReplayEvent, type LastTurn, ThreadReplay, type Usage } from './thread-replay.js';
import type { AppendPoint } from './writer.js';

/** A thread as its rollout tells it. */
export type ThreadRecord = {
  readonly meta: SessionMeta;
  /** Ready for a model: compactions and rollbacks applied, every call answered (see `repairHistory`). */
  readonly history: HistoryItem[];
  /** Of the latest turn; null before the first. */
  readonly settings: TurnSettings | null;
  /** The last full state and the changes after it, in order; empty when none was stored since. */
  readonly world_state: readonly JsonObject[];
  readonly usage: Usage | null;
  /** Lines of our own, in order. */
  readonly notes: readonly InterpreterLine[];
  /** Compactions so far. */
  readonly window: number;
  readonly turns: number;
  readonly last_turn: LastTurn | null;
  /** ISO 8601, of the last line. */
  readonly updated_at: string;
  /** Lines that could not be used; the rest of the thread is whole. */
  readonly problems: readonly Problem[];
  /** For `openRollout`. */
  readonly append_point: AppendPoint;
};

export type Problem = {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
};

/** The file is no thread. The message names it and says what is wrong. */
export class UnreadableRolloutError extends Error {
  constructor(path: string, reason: string, cause?: unknown) {
    super(`Cannot read the thread in ${path}: ${reason}`, { cause });
    this.name = 'UnreadableRolloutError';
  }
}

/** A fork of a fork of a fork … ends somewhere. */
const MAX_DEPTH = 64;
/** The first line may be damaged; nobody looks through a whole file for it. */
const META_WITHIN_LINES = 8;

/**
 * Reads the thread in `path`. `home` is where the files of forked threads are looked up.
 * Throws UnreadableRolloutError when there is nothing to go on with; damaged lines are `problems`.
 */
export async function readRollout(home: string, path: string): Promise<ThreadRecord> {
  const replay = new ThreadReplay();
  const problems: Problem[] = [];
  const own = await replayFile({
    home,
    path,
    onLine: line => replay.apply(line),
    onFork: () => {
      replay.meta = null;
    },
    problems,
    depth: 0,
    until: null,
  });
  if (own.size === 0) throw new UnreadableRolloutError(path, 'the file is empty.');
  const meta = replay.meta ?? metaFromTheRest(path, replay);
  if (meta === null) throw new UnreadableRolloutError(path, 'it has no usable session_meta line.');
  return {
    meta,
    history: repairHistory(replay.history),
    settings: replay.settings,
    world_state: replay.worldState,
    usage: replay.usage,
    notes: replay.notes,
    window: replay.window,
    turns: replay.turns,
    last_turn: replay.lastTurn,
    updated_at: replay.updatedAt ?? meta.timestamp,
    problems,
    append_point: { path, size: own.size, next_ordinal: own.nextOrdinal, image_hashes: replay.images.hashes() },
  };
}

/** One thing of a thread as it happened, whatever a compaction or a rollback made of it later. */
export type TranscriptEntry =
  | { readonly type: 'item'; readonly item: HistoryItem; readonly at: string | null }
  /** The history before this was replaced for the model. */
  | { readonly type: 'compacted'; readonly at: string | null };

/** Everything that was ever in the history of a thread, in order. Throws UnreadableRolloutError. */
export async function readTranscript(home: string, path: string): Promise<TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  const shelf = new ImageShelf();
  const onLine = ({ type, payload, timestamp: at }: ParsedLine) => {
    const item = type === 'response_item' ? decodeHistoryItem(payload, shelf) : null;
    if (item !== null) entries.push({ type: 'item', item, at });
    if (type === 'compacted') entries.push({ type: 'compacted', at });
  };
  await replayFile({ home, path, onLine, onFork: () => {}, problems: [], depth: 0, until: null });
  return entries;
}

/** The first line of a file; null when it is damaged. Reads no more than that takes. */
async function readMeta(path: string): Promise<SessionMeta | null> {
  const replay = new ThreadReplay();
  let lines = 0;
  await readChecked(path, bytes => {
    const result = parseLine(bytes, () => false);
    if (result.type === 'line' && result.line.type === 'session_meta') replay.apply(result.line);
    lines++;
    return replay.meta === null && lines < META_WITHIN_LINES;
  });
  return replay.meta;
}

/** A file without its first line is still a thread: its name and its turns say what is needed most. */
function metaFromTheRest(path: string, replay: ThreadReplay): SessionMeta | null {
  const id = threadIdOf(path);
  if (id === null || replay.settings === null) return null;
  return {
    id,
    timestamp: replay.updatedAt ?? new Date(0).toISOString(),
    cwd: replay.settings.cwd,
    originator: '',
    cli_version: '',
    source: 'unknown',
    model_provider: null,
    base_instructions: null,
    git: null,
    interpreter: null,
  };
}

type FileJob = {
  readonly home: string;
  readonly path: string;
  readonly onLine: (line: ParsedLine) => void;
  /** What came so far was another thread's. */
  readonly onFork: () => void;
  readonly problems: Problem[];
  readonly depth: number;
  /** Where the part that counts ends; null = the whole file. */
  readonly until: HistoryBase | null;
};

type FileEnd = { readonly size: number; readonly nextOrdinal: number | null };

/** What a fork builds on comes first; its own first line says what that is. */
async function replayFile(job: FileJob): Promise<FileEnd> {
  const base = (await readMeta(job.path))?.history_base;
  if (base !== undefined) await replayBase(job, base);
  return replayLines(job);
}

async function replayBase(job: FileJob, base: HistoryBase): Promise<void> {
  const file = job.depth < MAX_DEPTH ? await findRollout(job.home, base.thread_id) : null;
  if (file === null) {
    throw new UnreadableRolloutError(
      job.path,
      `it continues thread ${base.thread_id}, whose file is not in ${job.home}. Put that file back.`,
    );
  }
  await replayFile({ ...job, path: file.path, depth: job.depth + 1, until: base });
  job.onFork();
}

async function replayLines({ path, onLine, problems, until }: FileJob): Promise<FileEnd> {
  let number = 0;
  let nextOrdinal: number | null = null;
  const size = await readChecked(path, (bytes, offset) => {
    number++;
    const result = parseLine(bytes, isReplayEvent);
    if (result.type === 'damaged') problems.push({ path, line: number, reason: result.reason });
    if (result.type === 'blank' || result.type === 'damaged') return;
    const ordinal = result.type === 'line' ? result.line.ordinal : result.ordinal;
    if (until !== null && !isBefore(until, ordinal, offset)) return;
    if (ordinal !== null) nextOrdinal = ordinal + 1;
    if (result.type === 'line') onLine(result.line);
  });
  return { size, nextOrdinal };
}

function isBefore(end: HistoryBase, ordinal: number | null, offset: number): boolean {
  if (ordinal !== null && end.end_ordinal !== null) return ordinal < end.end_ordinal;
  return end.end_byte === null || offset < end.end_byte;
}

async function readChecked(path: string, onLine: OnLine): Promise<number> {
  try {
    return await readLines(path, onLine);
  } catch (error) {
    throw new UnreadableRolloutError(path, messageOf(error), error);
  }
}
