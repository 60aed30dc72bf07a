/** What a list shows of a thread, from the first and last part of its file. */
import { promises as fs } from 'node:fs';
import { type ApprovalPolicy, NO_USAGE, type ThreadStatus, type ThreadSummary } from '../protocol/index.js';
import { promptText } from './contextual.js';
import { parseLine } from './parse-line.js';
import { readLines, readRange, splitLines } from './read-lines.js';
import type { RolloutFile } from './thread-files.js';
import { isReplayEvent, type LastTurn, ThreadReplay } from './thread-replay.js';
import { isPacked } from './unpack.js';

/** Smaller files are read whole. */
const WHOLE = 256 * 1024;
/** Where the first prompt is looked for. */
const HEAD = 4 * 1024 * 1024;
/** The last part read; four times as much while the last turn's settings are not in it. */
const TAIL = 64 * 1024;
const MAX_TAIL = 16 * 1024 * 1024;
const TITLE_LENGTH = 200;

/** Null when the file holds no line to show. Throws when it cannot be read. */
export async function summarizeRollout(file: RolloutFile): Promise<ThreadSummary | null> {
  const head = new ThreadReplay();
  const { size } = await fs.stat(file.path);
  if (size <= WHOLE || isPacked(file.path)) {
    await readLines(file.path, bytes => applyLine(head, bytes));
    return toSummary(file, head, head);
  }
  await readLines(file.path, (bytes, offset) => {
    applyLine(head, bytes);
    return offset < HEAD && (head.meta === null || titleOf(head) === null);
  });
  return toSummary(file, head, await readTail(file.path, size));
}

async function readTail(path: string, size: number): Promise<ThreadReplay> {
  for (let length = TAIL; ; length *= 4) {
    const start = Math.max(0, size - length);
    const tail = new ThreadReplay();
    // The first line of the part is cut, and passed over as damaged.
    splitLines(await readRange(path, { start, end: size }), start, bytes => applyLine(tail, bytes));
    if ((tail.settings !== null && tail.lastTurn !== null) || start === 0 || length >= MAX_TAIL) return tail;
  }
}

function applyLine(replay: ThreadReplay, bytes: Buffer): void {
  const result = parseLine(bytes, isReplayEvent);
  if (result.type === 'line') replay.apply(result.line);
}

function toSummary(file: RolloutFile, head: ThreadReplay, tail: ThreadReplay): ThreadSummary | null {
  const { meta } = head;
  const settings = tail.settings ?? head.settings;
  const updated = tail.updatedAt ?? head.updatedAt;
  if (updated === null || (meta === null && settings === null)) return null;
  return {
    id: file.thread_id,
    rollout_path: file.path,
    cwd: settings?.cwd ?? meta?.cwd ?? '',
    title: titleOf(head) ?? '',
    model: settings?.model ?? null,
    model_provider: meta?.model_provider ?? null,
    approval_policy: settings ? approvalName(settings.approval_policy) : null,
    sandbox_policy: settings?.sandbox_policy.type ?? null,
    source: meta?.source ?? 'unknown',
    status: statusOf(tail.lastTurn ?? head.lastTurn),
    runner_pid: null,
    usage: (tail.usage ?? head.usage)?.total ?? NO_USAGE,
    created_at_ms: timeOf(meta?.timestamp ?? updated),
    updated_at_ms: timeOf(updated),
    archived: file.archived,
    git: meta?.git ?? null,
    forked_from_id: meta?.forked_from_id ?? null,
    history_base_id: meta?.history_base?.thread_id ?? null,
  };
}

/** First line of the first prompt; null when none was seen. */
function titleOf(replay: ThreadReplay): string | null {
  for (const item of replay.history) {
    const text = promptText(item);
    if (text !== null) return threadTitle(text);
  }
  return null;
}

/** The title of a thread that begins with this prompt. */
function threadTitle(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0] ?? '';
  if (line.length <= TITLE_LENGTH) return line;
  const halfOfAPair = /[\ud800-\udbff]$/;
  return `${line.slice(0, TITLE_LENGTH - 1).replace(halfOfAPair, '')}…`;
}

/** A policy's name for lists. */
function approvalName(policy: ApprovalPolicy): string {
  return typeof policy === 'string' ? policy : 'granular';
}

function statusOf(turn: LastTurn | null): ThreadStatus {
  switch (turn?.end) {
    case undefined:
    case 'completed':
      return 'idle';
    case 'failed':
      return 'failed';
    case 'aborted':
    case 'interrupted':
      return 'interrupted';
  }
}

function timeOf(timestamp: string): number {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? 0 : time;
}
