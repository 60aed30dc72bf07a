/** Verifies a whole patch against the files on disk and works out what is to be written. Reads, never writes. */
import type { FileChange } from '../../protocol/index.js';
import { loadDiffs } from '../../util/index.js';
import { editBytes } from './edit-bytes.js';
import type { Hunk } from './patch.js';
import {
  type After,
  absolutePath,
  type Before,
  type PlannedFile,
  PlannedFiles,
  type ReadGuard,
} from './planned-files.js';
import { PatchRefusal } from './refusal.js';

/** Longer contents of deleted files are cut in what people are shown. */
const MAX_SHOWN_BYTES = 256 * 1024;

/** One file to write or remove. */
export type PlannedWrite = {
  /** Absolute, as named in the patch. */
  readonly path: string;
  /** Links resolved. */
  readonly real: string;
  readonly before: Before;
  /** null = it is removed. */
  readonly after: (After & { type: 'file' }) | null;
};

export type PatchPlan = {
  readonly cwd: string;
  readonly writes: readonly PlannedWrite[];
  /** Keyed by absolute path as named in the patch. */
  readonly changes: Record<string, FileChange>;
  /** `A path`, `M path`, `D path`, with the paths as written in the patch. */
  readonly summary: readonly string[];
};

export type PlanOptions = {
  /** Relative paths of the patch start here; absolute. */
  readonly cwd: string;
  /** Default: everything may be read. */
  readonly readGuard?: ReadGuard;
};

/** All hunks are applied in memory, in their order, or none: throws PatchRefusal with what is wrong. */
export async function planPatch(hunks: readonly Hunk[], options: PlanOptions): Promise<PatchPlan> {
  const files = new PlannedFiles(options.readGuard ?? (() => null));
  for (const hunk of hunks) await applyHunk(hunk, files, options.cwd);
  return toPlan(files, options.cwd, summarize(hunks));
}

/** What has to be done on disk for the files to become as planned. */
export async function toPlan(files: PlannedFiles, cwd: string, summary: readonly string[]): Promise<PatchPlan> {
  const touched = files.all().filter(file => file.after.type !== 'untouched' && !isNothing(file));
  refuseNesting(touched);
  return {
    cwd,
    writes: touched.filter(file => !sameContent(file)).map(toWrite),
    changes: await describeChanges(touched),
    summary,
  };
}

function applyHunk(hunk: Hunk, files: PlannedFiles, cwd: string): Promise<void> {
  const path = absolutePath(cwd, hunk.path);
  switch (hunk.type) {
    case 'add':
      return applyAdd(files, path, hunk.content);
    case 'delete':
      return applyDelete(files, path);
    case 'update':
      return applyUpdate(files, path, hunk, cwd);
  }
}

async function applyAdd(files: PlannedFiles, path: string, content: string): Promise<void> {
  const file = await files.at(path);
  if (await isOccupied(file)) {
    throw new PatchRefusal(
      `cannot add ${path}: the file exists already. Use '*** Update File' to change it, or delete it first to replace it`,
    );
  }
  file.after = { type: 'file', bytes: Buffer.from(content), like: statOf(file) };
}

/** True for a file that is there and not empty at this point of the patch. */
async function isOccupied(file: PlannedFile): Promise<boolean> {
  if (file.after.type === 'file') return file.after.bytes.length > 0;
  return file.after.type === 'untouched' && file.before.type === 'file' && file.before.stat.size > 0n;
}

async function applyDelete(files: PlannedFiles, path: string): Promise<void> {
  const file = await files.entry(path);
  if (!exists(file)) throw new PatchRefusal(`cannot delete ${path}: ${whyMissing(file)}`);
  if (
    file.after.type === 'untouched' &&
    file.before.type === 'file' &&
    file.before.stat.size <= BigInt(MAX_SHOWN_BYTES)
  ) {
    await files.content(file).catch((error: unknown) => {
      // Only to show it: what can't be read, or is no text, can be deleted all the same.
      if (!(error instanceof PatchRefusal)) throw error;
    });
  }
  file.after = { type: 'absent', why: 'it was deleted earlier in this patch' };
  file.movedFrom = null;
}

async function applyUpdate(
  files: PlannedFiles,
  path: string,
  hunk: Hunk & { type: 'update' },
  cwd: string,
): Promise<void> {
  const file = await files.at(path);
  const bytes = await files.content(file);
  if (bytes === null) throw new PatchRefusal(`cannot update ${path}: ${whyMissing(file)}`);
  const edited = editBytes(bytes, hunk.chunks, path);
  if (!edited.ok) throw new PatchRefusal(edited.message);
  const after: After = { type: 'file', bytes: edited.bytes, like: statOf(file) };
  if (hunk.moveTo === null) {
    file.after = after;
    return;
  }
  const target = absolutePath(cwd, hunk.moveTo);
  const moved = await files.at(target);
  if (moved === file) {
    file.after = after;
    return;
  }
  if (exists(moved)) throw new PatchRefusal(`cannot move ${path} to ${target}: that file exists already`);
  const source = await files.entry(path);
  const original = file.before.type === 'file' ? file.before.bytes : null;
  moved.after = after;
  moved.movedFrom = file.movedFrom ?? (original ? { file: source, bytes: original } : null);
  source.after = { type: 'absent', why: `it was moved to ${target} earlier in this patch` };
  source.movedFrom = null;
}

function exists(file: PlannedFile): boolean {
  return file.after.type === 'file' || (file.after.type === 'untouched' && file.before.type !== 'absent');
}

function whyMissing(file: PlannedFile): string {
  return file.after.type === 'absent' ? file.after.why : 'the file does not exist';
}

/** A replaced or moved file keeps its mode and owner. */
export function statOf(file: PlannedFile) {
  if (file.after.type === 'file') return file.after.like;
  return file.before.type === 'file' ? file.before.stat : null;
}

/** Made and removed again by the same patch. */
function isNothing(file: PlannedFile): boolean {
  return file.before.type === 'absent' && file.after.type === 'absent';
}

function sameContent({ before, after }: PlannedFile): boolean {
  return before.type === 'file' && after.type === 'file' && before.bytes !== null && before.bytes.equals(after.bytes);
}

function toWrite({ path, real, before, after }: PlannedFile): PlannedWrite {
  return { path, real, before, after: after.type === 'file' ? after : null };
}

/** Two new files can't be one below the other. */
function refuseNesting(files: readonly PlannedFile[]): void {
  const written = files.filter(file => file.after.type === 'file');
  for (const outer of written) {
    const inner = written.find(file => file.real.startsWith(`${outer.real}/`));
    if (inner) throw new PatchRefusal(`${outer.path} can't be a file and the directory of ${inner.path}`);
  }
}

async function describeChanges(files: readonly PlannedFile[]): Promise<Record<string, FileChange>> {
  const changes: Record<string, FileChange> = {};
  const movedTo = new Map<PlannedFile, PlannedFile>();
  for (const file of files) {
    if (file.movedFrom?.file.after.type === 'absent') movedTo.set(file.movedFrom.file, file);
  }
  const moved = new Set(movedTo.values());
  for (const file of files) {
    if (!moved.has(file)) changes[file.path] = await describe(file, movedTo.get(file));
  }
  return changes;
}

async function describe(file: PlannedFile, movedTo: PlannedFile | undefined): Promise<FileChange> {
  if (movedTo?.movedFrom) {
    return updateOf(movedTo.movedFrom.bytes, movedTo.after, movedTo.path);
  }
  if (file.after.type !== 'file') return { type: 'delete', content: shownContent(file.before) };
  const before = file.before.type === 'file' ? file.before : null;
  if (!before || before.stat.size === 0n) return { type: 'add', content: file.after.bytes.toString('utf8') };
  return updateOf(before.bytes ?? Buffer.alloc(0), file.after, null);
}

async function updateOf(before: Buffer, after: After, move_path: string | null): Promise<FileChange> {
  const bytes = after.type === 'file' ? after.bytes : before;
  if (before.equals(bytes)) return { type: 'update', unified_diff: '', move_path };
  const { unifiedHunks } = await loadDiffs();
  return { type: 'update', unified_diff: unifiedHunks(before, bytes), move_path };
}

function shownContent(before: Before): string {
  switch (before.type) {
    case 'absent':
      return '';
    case 'link':
      return before.target;
    case 'file':
      return before.bytes ? before.bytes.toString('utf8') : `(${before.stat.size} bytes that are not shown)\n`;
  }
}

function summarize(hunks: readonly Hunk[]): string[] {
  const lines = hunks.map(hunk => {
    switch (hunk.type) {
      case 'add':
        return `A ${hunk.path}`;
      case 'delete':
        return `D ${hunk.path}`;
      case 'update':
        return `M ${hunk.moveTo ?? hunk.path}`;
    }
  });
  return ['A', 'M', 'D'].flatMap(kind => [...new Set(lines.filter(line => line.startsWith(kind)))]);
}
