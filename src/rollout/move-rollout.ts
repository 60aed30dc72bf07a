/** Deleting, archiving and restoring the files of a thread. The caller holds the thread's lock. */
import { promises as fs } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../util/index.js';
import { archivedPath, listRollouts, type RolloutFile, restoredPath } from './thread-files.js';

/** Deletes all files of the thread (a reverted one has several) and the folders they leave empty. Returns the bytes. */
export async function deleteRollout(home: string, threadId: string): Promise<number> {
  let bytes = 0;
  for (const file of await filesOf(home, threadId)) {
    bytes += (await fs.stat(file.path)).size;
    await fs.rm(file.path);
    await removeEmptyFolders(home, dirname(file.path));
  }
  return bytes;
}

/** Moves all files of the thread to the archive, or back. Files that are there already stay. */
export async function moveRollout(home: string, threadId: string, where: 'archive' | 'sessions'): Promise<void> {
  for (const file of await filesOf(home, threadId)) {
    const target = where === 'archive' ? archivedPath(home, file.path) : restoredPath(home, file.path);
    if (target === null || target === file.path || file.archived === (where === 'archive')) continue;
    await fs.mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await fs.rename(file.path, target);
    await removeEmptyFolders(home, dirname(file.path));
  }
}

async function filesOf(home: string, threadId: string): Promise<RolloutFile[]> {
  return (await listRollouts(home)).filter(file => file.thread_id === threadId);
}

/** Day, month and year folders, as far as they are empty. */
async function removeEmptyFolders(home: string, folder: string): Promise<void> {
  const sessions = join(home, 'sessions');
  for (let at = folder; at.startsWith(`${sessions}/`); at = dirname(at)) {
    try {
      await fs.rmdir(at);
    } catch (error) {
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) return;
      throw error;
    }
  }
}
