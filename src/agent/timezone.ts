/** The time zone of this process. */
import { readlinkSync } from 'node:fs';
import { type Env, hasCode } from '../util/index.js';

/**
 * An IANA name such as `Europe/Berlin`. Read where the system keeps it, since asking Intl loads the time zone data of
 * ICU: some 70 ms in the first call of a process.
 */
export function timezoneName(env: Env): string {
  const chosen = env['TZ']?.replace(/^:/, '');
  if (chosen && /^[A-Za-z]+(?:[/_+-][A-Za-z0-9]+)*$/.test(chosen)) return chosen;
  return systemZone() ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function systemZone(): string | null {
  try {
    return /zoneinfo(?:\.default)?\/(.+)$/.exec(readlinkSync('/etc/localtime'))?.[1] ?? null;
  } catch (error) {
    // A Linux system without that file, such as most containers, runs in UTC. Elsewhere Intl knows.
    return process.platform === 'linux' && hasCode(error, 'ENOENT') ? 'Etc/UTC' : null;
  }
}
