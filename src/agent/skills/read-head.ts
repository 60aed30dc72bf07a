/** The beginning of a text file, without waiting for anything: a pipe or a device is no file. */
import { constants, promises as fs } from 'node:fs';

/** At most `maxBytes`, decoded as UTF-8. Rejects when it can't be read or is no regular file. */
export async function readHead(path: string, maxBytes: number): Promise<string> {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('it is not a regular file');
    const size = Math.min(maxBytes, stats.size);
    const buffer = Buffer.alloc(size);
    let length = 0;
    while (length < size) {
      const { bytesRead } = await file.read(buffer, length, size - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    // A character that was cut in two at the end decodes to a replacement mark.
    return buffer.toString('utf8', 0, length).replace(size < stats.size ? /\ufffd$/ : /$^/, '');
  } finally {
    await file.close();
  }
}
