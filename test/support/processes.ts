/** Looking at the processes of this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** False also for a process that is dead and only waits to be collected. */
export function isAlive(pid: number | string): boolean {
  return processes().some(one => one.pid === String(pid));
}

/** The living processes with exactly this command line, whatever their namespace. */
export function processesOf(command: string): string[] {
  return processes().flatMap(one => (one.command === command ? [one.pid] : []));
}

/** The living processes but this one whose command line holds `text`. */
export function processesWith(text: string): string[] {
  return processes().flatMap(({ pid, command }) =>
    command.includes(text) && pid !== String(process.pid) ? [pid] : [],
  );
}

type Process = { readonly pid: string; readonly command: string };

/** Without those that are dead and wait to be collected: they have no command line any more. */
function processes(): Process[] {
  if (existsSync('/proc/self/cmdline')) return fromProc();
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,stat=,command='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap(line => {
    const [, pid = '', state = '', command = ''] = /^\s*(\d+)\s+(\S+)\s+(.*?)\s*$/.exec(line) ?? [];
    return pid === '' || state.startsWith('Z') ? [] : [{ pid, command }];
  });
}

function fromProc(): Process[] {
  return readdirSync('/proc').flatMap(pid => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return command === '' ? [] : [{ pid, command }];
    } catch {
      // Gone meanwhile.
      return [];
    }
  });
}

let count = 0;

/** Seconds for a `sleep` that no other test uses, so that it can be found by its command line. */
export function uniqueSeconds(): string {
  count++;
  return `${100_000 + (process.pid % 100_000)}.${String(count).padStart(3, '0')}`;
}
