/**
 * A snapshot: a commit of the work tree as it is, tracked files and untracked ones that are not ignored, byte for byte.
 * It stands outside all branches, under a ref of its own. Its parent is a commit of the index, whose parent is HEAD.
 * Neither the work tree nor the index of the repository is touched; submodules and nested repositories are left out.
 */
import { createHash } from 'node:crypto';
import { promises as fs, type Stats } from 'node:fs';
import path from 'node:path';
import { hasCode } from '../../util/index.js';
import { GitError, type GitPath, type GitRepository, pathBytes, shownPath } from './git.js';
import { ImportStream } from './import-stream.js';
import { kindOf, modeOf, readContent, statOf } from './work-file.js';

export type Snapshot = {
  readonly commit: string;
  /** Files that were too large; nothing is known about them. */
  readonly left_out: readonly GitPath[];
};

/** Content that was stored before and need not be read again, by path. */
export type StoredFiles = Map<GitPath, { readonly version: string; readonly id: string }>;

export type SnapshotOptions = {
  readonly repository: GitRepository;
  readonly ref: string;
  readonly message: string;
  /** A folder for temporary files that only we can write to. */
  readonly temporary: string;
  readonly stored: StoredFiles;
};

/** Of one file and of all that changed since the last commit. */
const MAX_FILE = 16 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 20_000;

/** Throws GitError when it can't be made, or would be too large. */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const folder = await fs.mkdtemp(path.join(options.temporary, 'undo-'));
  try {
    return await new Taking(options, path.join(folder, 'index')).run();
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

class Taking {
  readonly #options: SnapshotOptions;
  /** A copy: git may bring an index up to date where it only reads. */
  readonly #index: string;
  readonly #leftOut: GitPath[] = [];
  readonly #fresh: StoredFiles = new Map();
  #bytes = 0;
  /** What the repository names its objects by. */
  #hash = 'sha1';

  constructor(options: SnapshotOptions, index: string) {
    this.#options = options;
    this.#index = index;
  }

  async run(): Promise<Snapshot> {
    await copyIfThere(this.#options.repository.index, this.#index);
    const [tree, head, changed, untracked] = await Promise.all([
      this.#tree(),
      this.#options.repository.find(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']),
      this.#git(['diff-files', '-z', '--raw', '--no-renames', '--no-ext-diff', '--ignore-submodules=all']),
      this.#git(['ls-files', '-z', '--others', '--exclude-standard']),
    ]);
    const names = new Set([...rawPaths(changed), ...parts(untracked)]);
    if (names.size > MAX_FILES) throw new GitError(`more than ${MAX_FILES} files are new or changed`);
    this.#hash = tree.length === 64 ? 'sha256' : 'sha1';
    return this.#commit(tree, head, [...names]);
  }

  async #git(args: readonly string[]): Promise<string> {
    return (await this.#options.repository.run(args, { index: this.#index })).toString('latin1');
  }

  /** In the middle of a merge the index has no tree: files in conflict are left out of it, and count as changed. */
  async #tree(): Promise<string> {
    const write = ['write-tree', '--missing-ok'];
    const { repository } = this.#options;
    const { code, stdout } = await repository.ask(write, { index: this.#index, allow: [128] });
    if (code === 0) return stdout.toString('latin1').trim();
    // Others read the first copy at the same time.
    const index = `${this.#index}-merged`;
    await copyIfThere(repository.index, index);
    const unmerged = parts((await repository.run(['ls-files', '-z', '--unmerged'], { index })).toString('latin1'));
    const names = new Set(unmerged.map(line => line.slice(line.indexOf('\t') + 1)));
    const input = Buffer.from([...names].join('\0'), 'latin1');
    await repository.run(['update-index', '-z', '--force-remove', '--stdin'], { index, input });
    return (await repository.run(write, { index })).toString('latin1').trim();
  }

  async #commit(tree: string, head: string | null, names: readonly GitPath[]): Promise<Snapshot> {
    const { repository, ref, message, stored } = this.#options;
    const stream = new ImportStream();
    const index = stream.commit(ref, `${message}: index`, head);
    stream.tree(tree);
    const commit = stream.commit(ref, message, index);
    const found = await Promise.all(names.map(async name => ({ name, stats: await statOf(this.#place(name)) })));
    // Where a folder became a file or the other way round, the old one has to go first.
    for (const { name, stats } of found) if (!isContent(stats) && !name.endsWith('/')) stream.remove(name);
    for (const { name, stats } of found) if (stats !== null && isContent(stats)) await this.#add(stream, name, stats);
    const printed = await repository.run(['fast-import', '--quiet', '--force'], { input: stream.end(commit) });
    for (const [name, file] of this.#fresh) stored.set(name, file);
    return { commit: printed.toString('latin1').trim(), left_out: this.#leftOut };
  }

  async #add(stream: ImportStream, name: GitPath, stats: Stats): Promise<void> {
    const { repository, stored } = this.#options;
    if (repository.signal.aborted) throw new GitError('it took too long or was interrupted');
    const version = [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(':');
    const known = stored.get(name);
    if (known?.version === version) return stream.file(name, modeOf(stats), known.id);
    if (stats.size > MAX_FILE) {
      this.#leftOut.push(name);
      return stream.remove(name);
    }
    let bytes: Buffer;
    try {
      bytes = await readContent(this.#place(name), stats);
    } catch (error) {
      throw new GitError(`${shownPath(name)} could not be read: ${(error as Error).message}`, { cause: error });
    }
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES) {
      throw new GitError(
        `new and changed files have more than ${MAX_BYTES / 1024 / 1024} MiB; ignore what is no source`,
      );
    }
    stream.file(name, modeOf(stats), bytes);
    // A file that was just written may change again without showing it.
    if (Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) > 2000) {
      this.#fresh.set(name, { version, id: this.#blobId(bytes) });
    }
  }

  #blobId(bytes: Buffer): string {
    return createHash(this.#hash).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  }

  #place(name: GitPath): Buffer {
    return Buffer.concat([Buffer.from(`${this.#options.repository.top}/`), pathBytes(name)]);
  }
}

function isContent(stats: Stats | null): boolean {
  const kind = kindOf(stats);
  return kind === 'file' || kind === 'link';
}

/**
 * The copy has to be as old as the original: git looks twice at files that were changed in the second in which the index
 * was written, since they may have changed again without showing it.
 */
async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    const { mtimeMs } = await fs.stat(from);
    await fs.copyFile(from, to);
    const seconds = Math.floor(mtimeMs / 1000);
    await fs.utimes(to, seconds, seconds);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw new GitError(`the index could not be copied: ${(error as Error).message}`);
  }
}

/** The paths of `--raw -z` records: `:modes ids status`, path. */
function rawPaths(output: string): GitPath[] {
  return parts(output).filter((_, i) => i % 2 === 1);
}

/** What stands between NULs. */
export function parts(output: string): string[] {
  return output.split('\0').filter(part => part !== '');
}
