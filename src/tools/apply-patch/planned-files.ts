/** The files of a patch as they are on disk and as its hunks leave them, one after the other, in memory. */
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../../util/index.js';
import { linkTarget, resolveEntryPath, resolveRealPath } from './real-path.js';
import { PatchRefusal, refusalFrom } from './refusal.js';

/** Larger files can be deleted and moved away, not edited. */
const MAX_EDITED_BYTES = 32 * 1024 * 1024;

/** What was on disk. `bytes` is null where the content was not read. */
export type Before =
  | { readonly type: 'absent' }
  | { readonly type: 'file'; readonly stat: BigIntStats; bytes: Buffer | null }
  | { readonly type: 'link'; readonly target: string };

/** What will be there. `like`: mode and owner to take over. `untouched`: as before, whatever that is. */
export type After =
  | { readonly type: 'untouched' }
  /** `why` is for a later hunk that still wants the file. */
  | { readonly type: 'absent'; readonly why: string }
  | { readonly type: 'file'; readonly bytes: Buffer; readonly like: BigIntStats | null };

export type PlannedFile = {
  /** Absolute, as the patch first named it. */
  readonly path: string;
  readonly real: string;
  readonly before: Before;
  after: After;
  /** For a moved file: the file it comes from, and what that held. */
  movedFrom: { readonly file: PlannedFile; readonly bytes: Buffer } | null;
};

/** Reason why the content of a real path must not be read; null = it may. */
export type ReadGuard = (realPath: string) => string | null;

export class PlannedFiles {
  readonly #byRealPath = new Map<string, PlannedFile>();
  readonly #readGuard: ReadGuard;

  constructor(readGuard: ReadGuard) {
    this.#readGuard = readGuard;
  }

  /** In the order in which they were first named. */
  all(): PlannedFile[] {
    return [...this.#byRealPath.values()];
  }

  /** The file a path leads to, links followed. Throws PatchRefusal. */
  async at(file: string): Promise<PlannedFile> {
    const own = await resolve(file, resolveEntryPath);
    const planned = this.#byRealPath.get(own);
    if (planned && (planned.before.type !== 'link' || planned.after.type !== 'untouched')) return planned;
    return this.#load(await resolve(own, resolveRealPath), file);
  }

  /** The directory entry of a path: a link itself. Throws PatchRefusal. */
  async entry(file: string): Promise<PlannedFile> {
    return this.#load(await resolve(file, resolveEntryPath), file);
  }

  /** What the file holds at this point of the patch; null when it does not exist. Throws PatchRefusal. */
  async content(file: PlannedFile): Promise<Buffer | null> {
    switch (file.after.type) {
      case 'file':
        return file.after.bytes;
      case 'absent':
        return null;
      case 'untouched':
        if (file.before.type !== 'file') return null;
        file.before.bytes ??= await this.#read(file, file.before.stat);
        return file.before.bytes;
    }
  }

  async #load(real: string, named: string): Promise<PlannedFile> {
    const known = this.#byRealPath.get(real);
    if (known) return known;
    const file: PlannedFile = {
      path: named,
      real,
      before: await readBefore(real, named),
      after: { type: 'untouched' },
      movedFrom: null,
    };
    this.#byRealPath.set(real, file);
    return file;
  }

  async #read(file: PlannedFile, stat: BigIntStats): Promise<Buffer> {
    const denied = this.#readGuard(file.real);
    if (denied !== null) throw new PatchRefusal(`cannot read ${file.path}: ${denied}`);
    if (stat.size > BigInt(MAX_EDITED_BYTES)) {
      throw new PatchRefusal(
        `${file.path} has ${stat.size} bytes; a patch can edit files of up to ${MAX_EDITED_BYTES}. Use a command instead`,
      );
    }
    const bytes = await readRegularFile(file.real, file.path);
    if (bytes.subarray(0, 8000).includes(0)) {
      throw new PatchRefusal(
        `${file.path} is not a text file (it has NUL bytes; UTF-16 has them too), so that a patch can't edit it. Use a command instead`,
      );
    }
    return bytes;
  }
}

async function resolve(file: string, how: (file: string) => Promise<string>): Promise<string> {
  try {
    return await how(file);
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) {
      throw new PatchRefusal(`${file}: a part of this path is a file, not a directory`, { cause: error });
    }
    throw refusalFrom(error, `cannot reach ${file}`);
  }
}

async function readBefore(real: string, named: string): Promise<Before> {
  let stat: BigIntStats;
  try {
    stat = await lstat(real, { bigint: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { type: 'absent' };
    throw refusalFrom(error, `cannot reach ${named}`);
  }
  if (stat.isFile()) return { type: 'file', stat, bytes: null };
  if (stat.isDirectory()) throw new PatchRefusal(`${named} is a directory; a patch changes files only`);
  const target = await linkTarget(real);
  if (target === null) throw new PatchRefusal(`${named} is not a regular file (a device, pipe or socket)`);
  return { type: 'link', target };
}

/** Never waits, should the file have become a pipe. */
async function readRegularFile(real: string, named: string): Promise<Buffer> {
  try {
    const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw refusalFrom(error, `cannot read ${named}`);
  }
}

/** The absolute form of a path in a patch. Throws PatchRefusal. */
export function absolutePath(cwd: string, written: string): string {
  if (written.endsWith('/')) throw new PatchRefusal(`${written} names a directory; a patch changes files only`);
  return path.resolve(cwd, written);
}
