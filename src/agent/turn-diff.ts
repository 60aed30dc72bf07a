/** What the patches of one turn changed, as a diff of every touched file between its first and its latest state. */
import { lstat, readFile } from 'node:fs/promises';
import type { Action, EventSink, FileChange } from '../protocol/index.js';
import { type FileState, loadDiffs } from '../util/index.js';

/** Larger files are reported without their content. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

export class TurnDiff {
  readonly #root: string;
  readonly #before = new Map<string, FileState | null>();
  #text = '';

  /** `root`: paths in the diff are relative to it. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Remembers the files of a patch as they are, unless an earlier patch of the turn did. */
  async before(action: Action & { type: 'patch' }): Promise<void> {
    for (const file of touched(action)) {
      if (!this.#before.has(file)) this.#before.set(file, await readState(file));
    }
  }

  /** Emits the diff of the turn so far. */
  async after(emit: EventSink): Promise<void> {
    const { gitDiff } = await loadDiffs();
    this.#text = gitDiff(await this.#files(), this.#root);
    this.repeat(emit);
  }

  /** Emits the diff again, if there is one. */
  repeat(emit: EventSink): void {
    if (this.#text !== '') emit({ type: 'diff.updated', unified_diff: this.#text });
  }

  /** One change per file that differs from its state before the turn. */
  async changes(): Promise<Record<string, FileChange>> {
    if (this.#before.size === 0) return {};
    const { unifiedHunks } = await loadDiffs();
    const changes: Record<string, FileChange> = {};
    for (const { path, before, after } of await this.#files()) {
      const was = before?.content.toString('utf8') ?? null;
      const is = after?.content.toString('utf8') ?? null;
      if (was === is) continue;
      if (was === null) changes[path] = { type: 'add', content: is ?? '' };
      else if (is === null) changes[path] = { type: 'delete', content: was };
      else changes[path] = { type: 'update', unified_diff: unifiedHunks(was, is), move_path: null };
    }
    return changes;
  }

  async #files() {
    return Promise.all(
      [...this.#before].map(async ([path, before]) => ({ path, before, after: await readState(path) })),
    );
  }
}

function touched(action: Action & { type: 'patch' }): string[] {
  return Object.entries(action.changes).flatMap(([path, change]) =>
    change.type === 'update' && change.move_path ? [path, change.move_path] : [path],
  );
}

async function readState(file: string): Promise<FileState | null> {
  try {
    const info = await lstat(file);
    const content = info.size <= MAX_FILE_BYTES ? await readFile(file) : Buffer.from(`[file of ${info.size} bytes]`);
    return { content, mode: info.mode };
  } catch {
    // Missing or unreadable: for a diff both mean that there is nothing to show.
    return null;
  }
}
