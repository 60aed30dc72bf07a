/** Notices that nobody reads our output any more, also while we have nothing to write: whoever asked is gone. */
import { fstatSync, readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { hasCode } from '../../util/index.js';

const EVERY_MS = 400;
/** Looking for the readers of a pipe takes some milliseconds. */
const SEARCH_EVERY_MS = 5000;

/** Calls `onGone` once, within half a second of it. Returns the way to stop watching. Files and terminals are always read. */
export function watchReader(fd: number, onGone: () => void): () => void {
  const gone = goneCheck(fd);
  if (gone === null) return () => {};
  const timer = setInterval(() => {
    if (!gone()) return;
    clearInterval(timer);
    onGone();
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function goneCheck(fd: number): (() => boolean) | null {
  const stats = fstatSync(fd);
  if (stats.isSocket()) return () => isClosedSocket(fd);
  // What writes to a pipe can't see who reads it; with the death of our parent it becomes worth a search.
  if (stats.isFIFO() && process.platform === 'linux') return pipeCheck(fd);
  return null;
}

/** Writing nothing to a socket fails when the other end is closed. */
function isClosedSocket(fd: number): boolean {
  try {
    writeSync(fd, '');
    return false;
  } catch (error) {
    return hasCode(error, 'EPIPE', 'ECONNRESET');
  }
}

function pipeCheck(fd: number): () => boolean {
  const parent = process.ppid;
  const pipe = readlinkSync(`/proc/self/fd/${fd}`);
  let searched = Number.NEGATIVE_INFINITY;
  return () => {
    if (process.ppid === parent || performance.now() - searched < SEARCH_EVERY_MS) return false;
    searched = performance.now();
    return !hasReader(pipe);
  };
}

/** Whether a process that we may look at has this pipe (`pipe:[123]`) open for reading. */
function hasReader(pipe: string): boolean {
  return names('/proc')
    .filter(name => /^\d+$/.test(name))
    .some(pid => names(`/proc/${pid}/fd`).some(fd => readsFrom(pid, fd, pipe)));
}

function readsFrom(pid: string, fd: string, pipe: string): boolean {
  try {
    if (readlinkSync(`/proc/${pid}/fd/${fd}`) !== pipe) return false;
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'))?.[1] ?? '1';
    // The last two bits say: 0 reading, 1 writing, 2 both.
    return (Number.parseInt(flags, 8) & 3) !== 1;
  } catch {
    // Closed or ended meanwhile.
    return false;
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Ended meanwhile, or another person's process.
    return [];
  }
}
