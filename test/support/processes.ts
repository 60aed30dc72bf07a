/** Looking at the processes of this machine. */
import { spawnSync } from 'node:child_process';

/** False also for a process that is dead and only waits to be collected. */
export function isAlive(pid: number | string): boolean {
  return processes().some(one => one.pid === String(pid));
}

/** The living processes with this text in their command line, whatever their namespace. */
export function processesWith(text: string): string[] {
  return processes().flatMap(one => (one.command.includes(text) ? [one.pid] : []));
}

function processes(): { pid: string; command: string }[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,stat=,command='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap(line => {
    const [, pid = '', state = '', command = ''] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === '' || state.startsWith('Z') ? [] : [{ pid, command }];
  });
}

let count = 0;

/** Seconds for a `sleep` that no other test uses, so that it can be found by its command line. */
export function uniqueSeconds(): string {
  count++;
  return `${100_000 + (process.pid % 100_000)}.${String(count).padStart(3, '0')}`;
}
