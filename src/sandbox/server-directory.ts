/**
 * The folder `STATE/servers/<pid>-<start time>-<PID namespace>/` of one running process of ours, and the folders of
 * dead ones: they tell which processes and mount points were left behind.
 */
import { mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, readProcess } from './process-table.js';

export type ServerDirectory = {
  readonly path: string;
  /** Unique to this process: the value that marks its commands. */
  readonly id: string;
};

/** Makes the folder of this process. Throws when the state folder can't be written. */
export function openServerDirectory(stateDir: string): ServerDirectory {
  const self = readProcess('self');
  const id = self ? `${self.pid}-${self.startTime}-${pidNamespace()}` : `${process.pid}-${Date.now()}-none`;
  const path = join(stateDir, 'servers', id);
  mkdirSync(join(path, 'pipes'), { recursive: true, mode: 0o700 });
  return { path, id };
}

/**
 * The folders of processes that are no more. Empty on platforms where that can't be told; folders from other
 * containers that share this home are left alone, since their processes can't be seen from here.
 */
export function deadServerDirectories(stateDir: string): ServerDirectory[] {
  const parent = join(stateDir, 'servers');
  if (readProcess('self') === null) return [];
  const here = pidNamespace();
  return listNames(parent)
    .filter(id => {
      const [pid, startTime, namespace] = id.split('-');
      return pid !== undefined && startTime !== undefined && namespace === here && !isAlive(Number(pid), startTime);
    })
    .map(id => ({ id, path: join(parent, id) }));
}

export function removeServerDirectory(directory: ServerDirectory): void {
  rmSync(directory.path, { recursive: true, force: true });
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    // A kernel without namespaces has one of them.
    return 'none';
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Nothing was ever run here.
    return [];
  }
}
