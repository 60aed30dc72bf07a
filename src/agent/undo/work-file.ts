/** What stands at a path of the work tree now. */
import { constants, promises as fs, type Stats } from 'node:fs';
import { hasCode } from '../../util/index.js';

export type FileMode = '100644' | '100755' | '120000';
export type FileContent = { readonly mode: FileMode; readonly bytes: Buffer };

/** `other`: a folder, a pipe, a device. */
export type Kind = 'missing' | 'file' | 'link' | 'other';

export async function statOf(place: Buffer): Promise<Stats | null> {
  try {
    return await fs.lstat(place);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

export function kindOf(stats: Stats | null): Kind {
  if (stats === null) return 'missing';
  if (stats.isFile()) return 'file';
  return stats.isSymbolicLink() ? 'link' : 'other';
}

export function modeOf(stats: Stats): FileMode {
  if (stats.isSymbolicLink()) return '120000';
  return (stats.mode & 0o100) === 0 ? '100644' : '100755';
}

/** The content of a file, or where a link points. */
export async function readContent(place: Buffer, stats: Stats): Promise<Buffer> {
  if (stats.isSymbolicLink()) return fs.readlink(place, { encoding: 'buffer' });
  const file = await fs.open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}
