/** The processes of this machine as Linux shows them in /proc. Elsewhere the table is empty. */
import { readdirSync, readFileSync } from 'node:fs';

export type ProcessInfo = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot; together with the pid it names a process for ever. */
  readonly startTime: string;
  readonly zombie: boolean;
};

/** False on platforms where only the groups of processes are known. */
export function hasProcessTable(): boolean {
  return process.platform === 'linux';
}

/** Everything in /proc at this moment. Synchronous: it also runs in exit handlers, and takes a few milliseconds. */
export function readProcesses(): ProcessInfo[] {
  const found: ProcessInfo[] = [];
  for (const name of processNames()) {
    const info = readProcess(Number(name));
    if (info) found.push(info);
  }
  return found;
}

/** One process, or null when it is gone. */
export function readProcess(pid: number | 'self'): ProcessInfo | null {
  const stat = readProcFile(pid, 'stat');
  if (!stat) return null;
  const text = stat.toString('latin1');
  // The name in parentheses may itself hold blanks and parentheses: fields are counted from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return null;
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime,
    zombie: state === 'Z' || state === 'X',
  };
}

/** True while the process with this pid and this start time exists and is no zombie. */
export function isAlive(pid: number, startTime: string): boolean {
  const info = readProcess(pid);
  return info !== null && info.startTime === startTime && !info.zombie;
}

/** True when the environment the process was started with holds `entry` (`NAME=value`, or its beginning). */
export function hasEnvironment(pid: number, entry: string): boolean {
  const environ = readProcFile(pid, 'environ');
  if (!environ) return false;
  const at = environ.indexOf(entry);
  return at === 0 || (at > 0 && environ[at - 1] === 0);
}

function processNames(): string[] {
  try {
    return readdirSync('/proc').filter(name => name >= '1' && name <= ':');
  } catch {
    // No /proc on this platform.
    return [];
  }
}

function readProcFile(pid: number | 'self', name: string): Buffer | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`);
  } catch {
    // It ended meanwhile, or belongs to somebody else.
    return null;
  }
}
