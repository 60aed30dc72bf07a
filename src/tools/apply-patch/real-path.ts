/** Where a path really leads, links resolved, also for what does not exist yet. */
import { lstat, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../../util/index.js';

/** As in the kernel. */
const MAX_LINKS = 40;

/**
 * The real path of an absolute path. What does not exist is added to the real path of its nearest existing parent; a
 * link to something missing leads to that missing file. Throws the system error of a path that can't be resolved.
 */
export async function resolveRealPath(file: string, links = 0): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || links > MAX_LINKS) throw error;
  }
  const parent = path.dirname(file);
  if (parent === file) return file;
  const here = path.join(await resolveRealPath(parent, links), path.basename(file));
  const target = await linkTarget(here);
  return target === null ? here : resolveRealPath(path.resolve(path.dirname(here), target), links + 1);
}

/** The real path of the directory entry itself: a link as the last component is not followed. */
export async function resolveEntryPath(file: string): Promise<string> {
  const parent = path.dirname(file);
  return parent === file ? file : path.join(await resolveRealPath(parent), path.basename(file));
}

/** Where a symbolic link points, as written; null for everything else. */
export async function linkTarget(file: string): Promise<string | null> {
  try {
    return (await lstat(file)).isSymbolicLink() ? await readlink(file) : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
