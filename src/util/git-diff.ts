/** One diff of several files in the form of `git diff`, made without git. Loaded by `loadDiffs`. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { unifiedHunks } from './unified-diff.js';

export { unifiedHunks } from './unified-diff.js';

/** A file as it was or is. `mode`: as `lstat` gives it; for a symbolic link `content` is where it points. */
export type FileState = { readonly content: Buffer; readonly mode: number };

/** `path` is absolute; null = there was or is no such file. */
export type FileComparison = {
  readonly path: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
};

/** Files as they stand in the diff, by name; unchanged ones are left out. Paths are relative to `root` where possible. */
export function gitDiff(files: readonly FileComparison[], root: string): string {
  return files
    .map(file => ({ ...file, path: shownPath(file.path, root) }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
    .flatMap(splitTypeChange)
    .map(fileDiff)
    .join('');
}

/** The id git gives to a blob: 40 hex digits. */
export function gitBlobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

const NO_BLOB = '0'.repeat(40);

function shownPath(file: string, root: string): string {
  const relative = path.relative(root, file);
  const inside =
    relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
  return (inside ? relative : file.replace(/^[/\\]+/, '')).split(path.sep).join('/');
}

/** A file that became a link (or the other way round) is one removed and one added, as in git. */
function splitTypeChange(file: FileComparison): FileComparison[] {
  const { before, after } = file;
  if (!before || !after || isLink(before) === isLink(after)) return [file];
  return [
    { ...file, after: null },
    { ...file, before: null },
  ];
}

function fileDiff({ path: name, before, after }: FileComparison): string {
  const oldId = before ? gitBlobId(before.content) : NO_BLOB;
  const newId = after ? gitBlobId(after.content) : NO_BLOB;
  const oldMode = before ? gitMode(before) : null;
  const newMode = after ? gitMode(after) : null;
  if (oldId === newId && oldMode === newMode) return '';
  const lines = [`diff --git ${quotePath(`a/${name}`)} ${quotePath(`b/${name}`)}`];
  if (oldMode === null) lines.push(`new file mode ${newMode}`);
  else if (newMode === null) lines.push(`deleted file mode ${oldMode}`);
  else if (oldMode !== newMode) lines.push(`old mode ${oldMode}`, `new mode ${newMode}`);
  if (oldId !== newId) lines.push(`index ${oldId}..${newId}${oldMode === newMode ? ` ${oldMode}` : ''}`);
  return `${lines.join('\n')}\n${contentDiff(name, before, after)}`;
}

function contentDiff(name: string, before: FileState | null, after: FileState | null): string {
  const oldContent = before?.content ?? Buffer.alloc(0);
  const newContent = after?.content ?? Buffer.alloc(0);
  if (oldContent.equals(newContent)) return '';
  const oldName = fileLine('a', name, before);
  const newName = fileLine('b', name, after);
  if (isBinary(oldContent) || isBinary(newContent)) {
    return `Binary files ${oldName.trimEnd()} and ${newName.trimEnd()} differ\n`;
  }
  return `--- ${oldName}\n+++ ${newName}\n${unifiedHunks(oldContent, newContent)}`;
}

const isLink = (file: FileState) => (file.mode & 0o170000) === 0o120000;

function gitMode(file: FileState): string {
  if (isLink(file)) return '120000';
  return file.mode & 0o100 ? '100755' : '100644';
}

/** Git's own rule: a NUL among the first 8000 bytes. */
function isBinary(content: Buffer): boolean {
  return content.subarray(0, 8000).includes(0);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['"', '\\"'],
  ['\\', '\\\\'],
]);

/** As with `core.quotePath=false`: only what would break the line is escaped, other characters stay readable. */
function quotePath(name: string): string {
  const special = /[\u0000-\u001f\u007f"\\]/g;
  const escaped = name.replace(
    special,
    char => ESCAPES.get(char) ?? `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return escaped === name ? name : `"${escaped}"`;
}

/** The name in a `---` or `+++` line; git ends one that has a blank with a tab, so that readers find its end. */
function fileLine(prefix: 'a' | 'b', name: string, file: FileState | null): string {
  if (!file) return '/dev/null';
  return quotePath(`${prefix}/${name}`) + (name.includes(' ') ? '\t' : '');
}
