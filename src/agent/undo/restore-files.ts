/** Puts files of the work tree into an earlier state; never through a link, and never over what was not expected. */
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { hasCode, messageOf } from '../../util/index.js';
import type { FileState } from './file-states.js';
import { type GitPath, pathBytes } from './git.js';
import { type FileContent, kindOf, modeOf, readContent, statOf } from './work-file.js';

export type Step = {
  readonly name: GitPath;
  /** What should stand there now. */
  readonly expected: FileState;
  readonly wanted: FileState;
  /** A file that was not touched since then is never deleted: it only looks new, e.g. because it was ignored before. */
  readonly since_ms: number;
};

/** Clocks of file systems go in steps. */
const CLOCK_STEP_MS = 20;

/** Whether nothing would be lost: the file is as expected, or as wanted already. */
export async function isAsExpected(top: string, { name, expected, wanted }: Step): Promise<boolean> {
  const place = placeOf(top, name);
  const stats = await statOf(place);
  const kind = kindOf(stats);
  const present =
    stats !== null && (kind === 'file' || kind === 'link')
      ? { mode: modeOf(stats), bytes: await readContent(place, stats) }
      : null;
  // A folder in the place of a file stops the file from coming, and nothing in it is lost.
  if (present === null && kind !== 'missing' && !stats?.isDirectory()) return false;
  return [expected, wanted].some(state => {
    if (typeof state === 'string') return false;
    if (state === null || present === null) return state === present;
    return state.mode === present.mode && state.bytes.equals(present.bytes);
  });
}

/** Null when the file is now as wanted, or why it was left alone. Files that go have to be done before those that come. */
export async function restoreFile(top: string, { name, wanted, since_ms }: Step): Promise<string | null> {
  if (typeof wanted === 'string') return wanted;
  try {
    const folders = await checkFolders(top, name, wanted !== null);
    if (folders !== null) return folders === 'missing' ? null : folders;
    if (wanted === null) return await remove(top, name, since_ms);
    await write(placeOf(top, name), wanted);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** The folders above a file have to be folders: a link could lead anywhere. */
async function checkFolders(top: string, name: GitPath, make: boolean): Promise<string | null> {
  const folders = name.split('/').slice(0, -1);
  for (let depth = 1; depth <= folders.length; depth++) {
    const folder = folders.slice(0, depth).join('/');
    const stats = await statOf(placeOf(top, folder));
    if (stats?.isDirectory()) continue;
    if (stats !== null) return `${pathBytes(folder).toString('utf8')} is no longer a folder`;
    if (!make) return 'missing';
    await fs.mkdir(placeOf(top, folder));
  }
  return null;
}

const OCCUPIED = 'something else stands in its place';

/** Folders that become empty go with their last file, as git does it. */
async function remove(top: string, name: GitPath, sinceMs: number): Promise<string | null> {
  const place = placeOf(top, name);
  const stats = await statOf(place);
  if (stats === null) return null;
  if (kindOf(stats) === 'other') return OCCUPIED;
  if (stats.ctimeMs < sinceMs - CLOCK_STEP_MS) return 'it is older than the turn';
  await fs.unlink(place);
  const folders = name.split('/').slice(0, -1);
  for (; folders.length > 0; folders.pop()) {
    try {
      await fs.rmdir(placeOf(top, folders.join('/')));
    } catch (error) {
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return null;
      throw error;
    }
  }
  return null;
}

async function write(place: Buffer, { mode, bytes }: FileContent): Promise<void> {
  const stats = await statOf(place);
  if (kindOf(stats) === 'other') throw new Error(OCCUPIED);
  const unique = `.interpreter-undo-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const temporary = Buffer.concat([place.subarray(0, place.lastIndexOf('/') + 1), Buffer.from(unique)]);
  try {
    if (mode === '120000') await fs.symlink(bytes, temporary);
    else {
      await fs.writeFile(temporary, bytes, { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 });
      if (stats?.isFile()) await fs.chmod(temporary, keptMode(stats.mode, mode === '100755'));
    }
    await fs.rename(temporary, place);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
}

/** The permissions a file had, but for those to execute it, which git keeps. */
function keptMode(mode: number, executable: boolean): number {
  const rest = mode & 0o666;
  return executable ? rest | ((rest & 0o444) >> 2) : rest;
}

function placeOf(top: string, name: GitPath): Buffer {
  return Buffer.concat([Buffer.from(`${top}${path.sep}`), pathBytes(name)]);
}
