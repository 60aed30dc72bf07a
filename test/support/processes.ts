import { readFileSync } from 'node:fs';

/** False also for a process that is dead and only waits to be collected. */
export function isAlive(pid: number | string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // Gone.
    return false;
  }
}
