/** The beginning of a text file, without waiting for anything: a pipe or a device is no file. */
import { constants, promises as fs } from 'node:fs';

/** At most `maxBytes`, decoded as UTF-8. Rejects when it can't be read or is no regular file. */
export async function readHead(path: string, maxBytes: number): Promise<string> {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
    const buffer = Buffer.alloc(maxBytes);
    let length = 0;
    while (length < maxBytes) {
      const { bytesRead } = await file.read(buffer, length, maxBytes - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    // A character that was cut in two at the end decodes to a replacement mark.
    return buffer.toString('utf8', 0, length).replace(length === maxBytes ? /\ufffd$/ : /$^/, '');
  } finally {
    await file.close();
  }
}
