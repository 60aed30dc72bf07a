/** Names of processes that stay true when process numbers are used again, after a reboot, and across containers. */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { hasCode } from './errors.js';

export type ProcessIdentity = {
  readonly pid: number;
  /** What its number is valid within: one boot of one machine, one container. */
  readonly host: string;
  /** Its start time, opaque; "" where the platform does not tell. */
  readonly start: string;
};

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, host: ownHost(), start: startTime(process.pid) ?? '' };
}

/**
 * Whether that process still lives. A zombie is dead. `unknown`: it belongs to another machine or container, or the
 * platform does not tell when a process started; a sign of life (a fresh file time) has to decide then.
 */
export function processState(identity: ProcessIdentity): 'running' | 'dead' | 'unknown' {
  if (identity.host !== ownHost()) return 'unknown';
  if (identity.start !== '') return startTime(identity.pid) === identity.start ? 'running' : 'dead';
  try {
    process.kill(identity.pid, 0);
    return 'unknown';
  } catch (error) {
    return hasCode(error, 'ESRCH') ? 'dead' : 'unknown';
  }
}

let host: string | undefined;

/** Eight hex digits for "this boot of this kernel, this process namespace", which last as long as this process. */
function ownHost(): string {
  host ??= describeHost();
  return host;
}

function describeHost(): string {
  const parts =
    process.platform === 'linux'
      ? [readText('/proc/sys/kernel/random/boot_id'), readLink('/proc/self/ns/pid')]
      : [process.platform, hostname()];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8);
}

/** Clock ticks between boot and the start of a process (field 22 of its stat file); null when it is gone or a zombie. */
function startTime(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  // The name in parentheses may itself hold blanks and parentheses: fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const dead = fields[0] === 'Z' || fields[0] === 'X';
  return dead ? null : (fields[19] ?? null);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // No such process, or a platform without /proc: an empty text says so.
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // As above.
    return '';
  }
}
