/** What files had in them when a snapshot was taken. */
import { GitError, type GitPath, type GitRepository, pathBytes } from './git.js';
import { diffTrees, type TreeEntry } from './tree-diff.js';
import type { FileContent } from './work-file.js';

/** Null: there was no such file. A text: it can't be told, and why. */
export type FileState = FileContent | null | string;

/** A bound for what is held in memory at a time. */
const BATCH_BYTES = 64 * 1024 * 1024;
/** Attributes with which files in the work tree look different from what git has stored. */
const ATTRIBUTES = ['text', 'eol', 'crlf', 'ident', 'working-tree-encoding', 'filter'];

/**
 * A file that differed from the index is stored byte for byte. One that did not is stored as git has it: it had in it
 * what git makes of that, so line ends and the like are made again; what a filter makes of it is not known to us.
 * Throws GitError.
 */
export async function fileStates(
  repository: GitRepository,
  commit: string,
  wanted: ReadonlyMap<GitPath, TreeEntry | null>,
): Promise<Map<GitPath, FileState>> {
  const exact = new Set((await diffTrees(repository, `${commit}^`, commit)).map(change => change.name));
  const states = new Map<GitPath, FileState>();
  const plain = new Map<GitPath, TreeEntry>();
  const converted = new Map<GitPath, TreeEntry>();
  const attributes = await conversions(
    repository,
    [...wanted.keys()].filter(name => !exact.has(name)),
  );
  for (const [name, entry] of wanted) {
    if (entry === null) states.set(name, null);
    else if (exact.has(name) || entry.mode === '120000' || !attributes.has(name)) plain.set(name, entry);
    else if (attributes.get(name) === 'filter') states.set(name, 'git runs a filter on it');
    else converted.set(name, entry);
  }
  const blobs = await readBlobs(
    repository,
    [...plain.values()].map(entry => entry.id),
  );
  for (const [name, { mode, id }] of plain) {
    const bytes = blobs.get(id);
    states.set(name, bytes === undefined ? 'its content is no longer in the repository' : { mode, bytes });
  }
  for (const [name, { mode, id }] of converted) {
    const path = pathBytes(name).toString('utf8');
    states.set(name, { mode, bytes: await repository.run(['cat-file', '--filters', `--path=${path}`, id]) });
  }
  return states;
}

/** The files that git converts, and whether a filter takes part. */
async function conversions(
  repository: GitRepository,
  names: readonly GitPath[],
): Promise<Map<GitPath, 'filter' | 'native'>> {
  const found = new Map<GitPath, 'filter' | 'native'>();
  if (names.length === 0) return found;
  const automatic = await repository.find(['config', '--get', 'core.autocrlf']);
  if (automatic === 'true') for (const name of names) found.set(name, 'native');
  const input = Buffer.from(`${names.join('\0')}\0`, 'latin1');
  const output = await repository.run(['check-attr', '-z', '--stdin', ...ATTRIBUTES], { input });
  // A value can be empty.
  const fields = output.toString('latin1').split('\0');
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const [name = '', attribute, value] = fields.slice(i, i + 3);
    if (value === 'unspecified' || value === 'unset') continue;
    if (attribute === 'filter' || !found.has(name)) found.set(name, attribute === 'filter' ? 'filter' : 'native');
  }
  return found;
}

async function readBlobs(repository: GitRepository, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const blobs = new Map<string, Buffer>();
  let batch: string[] = [];
  let bytes = 0;
  for (const { id, size } of await blobSizes(repository, [...new Set(ids)])) {
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      await readBatch(repository, batch, blobs);
      batch = [];
      bytes = 0;
    }
    batch.push(id);
    bytes += size;
  }
  if (batch.length > 0) await readBatch(repository, batch, blobs);
  return blobs;
}

/** Objects that are gone are left out. */
async function blobSizes(repository: GitRepository, ids: readonly string[]): Promise<{ id: string; size: number }[]> {
  if (ids.length === 0) return [];
  const output = await repository.run(['cat-file', '--batch-check'], { input: Buffer.from(`${ids.join('\n')}\n`) });
  return output
    .toString('latin1')
    .split('\n')
    .flatMap(line => {
      const [id = '', type, size] = line.split(' ');
      return type === 'blob' ? [{ id, size: Number(size) }] : [];
    });
}

async function readBatch(repository: GitRepository, ids: readonly string[], blobs: Map<string, Buffer>): Promise<void> {
  const output = await repository.run(['cat-file', '--batch'], { input: Buffer.from(`${ids.join('\n')}\n`) });
  let at = 0;
  for (const id of ids) {
    const end = output.indexOf(10, at);
    const size = Number(output.toString('latin1', at, end).split(' ')[2]);
    if (end < 0 || !Number.isInteger(size) || end + 1 + size > output.length) {
      throw new GitError('git cat-file gave an answer that can not be read');
    }
    blobs.set(id, output.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
}
