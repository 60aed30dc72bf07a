/** Bytes for a child as a file that no longer has a name. */
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A descriptor at the start of `bytes`, opened for reading only. The caller closes it. Throws on a full disk. */
export function scratchFile(directory: string, bytes: string | Uint8Array): number {
  const path = join(directory, `bytes-${process.hrtime.bigint()}`);
  const writer = openSync(path, 'wx', 0o600);
  try {
    const reader = openSync(path, 'r');
    try {
      writeFileSync(writer, bytes);
      return reader;
    } catch (error) {
      closeSync(reader);
      throw error;
    }
  } finally {
    closeSync(writer);
    unlinkSync(path);
  }
}
