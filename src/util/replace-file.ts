import { randomBytes } from 'node:crypto';
import path from 'node:path';

/**
 * Writes a whole file: beside it, and moved into place, so that nobody ever reads half of it. It has its mode from the
 * first byte. Folders that are missing are made, for this user alone.
 */
export async function replaceFile(file: string, text: string, mode = 0o600): Promise<void> {
  // This room is loaded at the start of the process, where it would cost a millisecond.
  const { mkdir, open, rename, rm } = await import('node:fs/promises');
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      // What the umask took away.
      await handle.chmod(mode);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
