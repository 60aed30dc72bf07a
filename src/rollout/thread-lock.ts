/**
 * One writer per thread, across processes.
 *
 * Whoever wants a thread puts a file of his own beside the others of that thread; its name says who he is. Then he looks:
 * if another living process has a file too, he takes his own away and tries again later. Two takers at the same moment
 * see each other, so that at most one goes on. A dead process holds nothing, since its name is checked, not its file;
 * what it left is removed by whoever comes next.
 */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { delay, hasCode, messageOf, ownIdentity, type ProcessIdentity, processState } from '../util/index.js';
import { isThreadId } from './thread-files.js';

export interface ThreadLock {
  /** Lets others in at once. Idempotent, never throws. */
  release(): void;
}

export type LockResult =
  | { readonly type: 'locked'; readonly lock: ThreadLock }
  /** `held_by` is a process id; ids of other machines and containers mean nothing here. */
  | { readonly type: 'busy'; readonly held_by: number };

export type LockOptions = {
  /** How long to wait for the other one; 0 = not at all. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  /** Told when the file system takes no lock files; the caller then goes on without protection. */
  readonly warn: (message: string) => void;
};

/** A holder shows that it lives; only takers who cannot look up its process rely on it. */
const HEARTBEAT_MS = 5_000;
const SILENT_MS = 30_000;
const POLL_MS = 40;
/** With more files than this in the folder, those of other threads are looked at too, for what dead processes left. */
const SWEEP_ABOVE = 32;

/** No file can be had. ENOENT: how a folder that can't be made in a read-only file system is told. */
const NO_LOCKS = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'ENOENT', 'ENOTDIR', 'EEXIST', 'ELOOP'];

type Claim = { readonly name: string; readonly thread_id: string; readonly owner: ProcessIdentity };

/** Takes the thread for this process, or says who has it. Works with local file systems. */
export async function acquireThreadLock(home: string, threadId: string, options: LockOptions): Promise<LockResult> {
  if (!isThreadId(threadId)) throw new Error(`"${threadId}" is no thread id.`);
  const folder = join(home, 'thread-writer-locks');
  const self = ownIdentity();
  const deadline = Date.now() + options.waitMs;
  try {
    for (;;) {
      const holder = findHolder(folder, threadId, null) ?? tryClaim(folder, threadId, self);
      if (typeof holder !== 'number') return { type: 'locked', lock: holder };
      if (Date.now() >= deadline || options.signal?.aborted) return { type: 'busy', held_by: holder };
      // Two takers that got in each other's way must not meet again.
      await delay(POLL_MS * (0.5 + Math.random()), options.signal);
    }
  } catch (error) {
    if (!hasCode(error, ...NO_LOCKS)) throw error;
    options.warn(`Cannot lock thread ${threadId} in ${folder}: ${messageOf(error)}. It is used without a lock.`);
    return { type: 'locked', lock: { release: () => {} } };
  }
}

/** The threads that are taken now, with the process that has each. Only looks. */
export function heldThreads(home: string): Map<string, number> {
  const folder = join(home, 'thread-writer-locks');
  const live = readClaims(folder).filter(claim => isLive(join(folder, claim.name), claim.owner));
  return new Map(live.map(claim => [claim.thread_id, claim.owner.pid]));
}

function tryClaim(folder: string, threadId: string, self: ProcessIdentity): ThreadLock | number {
  const name = createClaim(folder, threadId, self);
  let rival: number | null = null;
  try {
    rival = findHolder(folder, threadId, name);
  } catch (error) {
    removeFile(join(folder, name));
    throw error;
  }
  if (rival === null) return holdClaim(join(folder, name));
  removeFile(join(folder, name));
  return rival;
}

/** Makes a file with a name nobody has or will have. */
function createClaim(folder: string, threadId: string, self: ProcessIdentity): string {
  for (let attempt = 0; ; attempt++) {
    const unique = Math.random().toString(36).slice(2, 10);
    const name = [threadId, self.host, self.pid, self.start, unique, 'lock'].join('.');
    try {
      closeSync(openSync(join(folder, name), 'wx', 0o600));
      return name;
    } catch (error) {
      if (attempt === 3) throw error;
      if (hasCode(error, 'ENOENT')) mkdirSync(folder, { recursive: true, mode: 0o700 });
      else if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

function holdClaim(path: string): ThreadLock {
  const heartbeat = setInterval(() => {
    try {
      const now = new Date();
      utimesSync(path, now, now);
    } catch {
      // Somebody emptied the folder. The next taker sees no lock, as that person wished.
    }
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    release: () => {
      clearInterval(heartbeat);
      removeFile(path);
    },
  };
}

/** The process of a living claim other than `own`. Claims of dead processes are removed on the way. */
function findHolder(folder: string, threadId: string, own: string | null): number | null {
  let holder: number | null = null;
  const claims = readClaims(folder);
  for (const claim of claims) {
    if (claim.name === own || (claim.thread_id !== threadId && claims.length <= SWEEP_ABOVE)) continue;
    if (!isLive(join(folder, claim.name), claim.owner)) removeFile(join(folder, claim.name));
    else if (claim.thread_id === threadId) holder = claim.owner.pid;
  }
  return holder;
}

function readClaims(folder: string): Claim[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
  return names.map(parseClaim).filter(claim => claim !== null);
}

/** Null for files of other programs. */
function parseClaim(name: string): Claim | null {
  const [threadId, host, pid, start, unique, ending, ...rest] = name.split('.');
  if (threadId === undefined || host === undefined || start === undefined || unique === undefined) return null;
  if (ending !== 'lock' || rest.length > 0 || !/^\d+$/.test(pid ?? '')) return null;
  return { name, thread_id: threadId, owner: { pid: Number(pid), host, start } };
}

function isLive(path: string, owner: ProcessIdentity): boolean {
  switch (processState(owner)) {
    case 'running':
      return true;
    case 'dead':
      return false;
    case 'unknown':
      return Date.now() - modifiedAt(path) < SILENT_MS;
  }
}

/** 0 when the file is gone meanwhile. */
function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It stays behind as the file of a dead process and binds nobody.
  }
}
