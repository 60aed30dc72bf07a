/**
 * The folder `STATE/servers/<pid>-<start time>-<host>-<random>/` of one running sandbox of ours, and the folders of dead
 * ones: they tell which processes and mount points were left behind.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownIdentity, processState } from '../util/index.js';

export type ServerDirectory = {
  readonly path: string;
  /** Unique, also within one process: the value that marks its commands. */
  readonly id: string;
};

/** Throws when the state folder can't be written. */
export function openServerDirectory(stateDir: string): ServerDirectory {
  const { pid, start, host } = ownIdentity();
  const id = `${pid}-${start}-${host}-${randomBytes(3).toString('hex')}`;
  const path = join(stateDir, 'servers', id);
  mkdirSync(join(path, 'pipes'), { recursive: true, mode: 0o700 });
  writeFileSync(ownerFile({ id, path }), id, { mode: 0o600 });
  return { path, id };
}

/** Holds the id: what a lock file of this process is a link to. */
export function ownerFile(directory: ServerDirectory): string {
  return join(directory.path, 'owner');
}

/** False as long as the process may live; also when that can't be told, as for another container that shares this home. */
export function isDeadServer(id: string): boolean {
  const [pid, start, host] = id.split('-');
  if (!pid || start === undefined || !host) return false;
  return processState({ pid: Number(pid), start, host }) === 'dead';
}

export function deadServerDirectories(stateDir: string): ServerDirectory[] {
  const parent = join(stateDir, 'servers');
  return listNames(parent)
    .filter(isDeadServer)
    .map(id => ({ id, path: join(parent, id) }));
}

export function removeServerDirectory(directory: ServerDirectory): void {
  rmSync(directory.path, { recursive: true, force: true });
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Nothing was ever run here.
    return [];
  }
}
