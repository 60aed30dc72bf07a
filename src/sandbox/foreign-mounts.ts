/** Which of some paths are mount points for other processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Looks into one process of each mount namespace that is not ours, as far as we may see them. */
export function mountedElsewhere(paths: readonly string[]): Set<string> {
  const wanted = new Set(paths);
  const found = new Set<string>();
  const seen = new Set([namespaceOf('self')]);
  for (const pid of readdirSync('/proc')) {
    if (pid < '1' || pid > ':') continue;
    const namespace = namespaceOf(pid);
    if (namespace === null || seen.has(namespace)) continue;
    seen.add(namespace);
    for (const point of mountPointsOf(pid)) if (wanted.has(point)) found.add(point);
  }
  return found;
}

function namespaceOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    // Gone, or another user's.
    return null;
  }
}

function mountPointsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
      .split('\n')
      .flatMap(line => line.split(' ')[4] ?? [])
      .map(unescape);
  } catch {
    // It ended, and its mounts with it.
    return [];
  }
}

/** Blanks, tabs, line ends and backslashes are written as octal numbers. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
