/** The change that a review is about, as a diff. */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { type FileComparison, type FileState, loadDiffs, truncateMiddle } from '../../util/index.js';
import type { ReviewSubject } from './exec-job.js';
import { type Git, GitError } from './guarded-git.js';

export type ReviewDiff = {
  /** What the diff is, in words. */
  readonly subject: string;
  /** Added and removed lines and the name of each file; untracked files by name. */
  readonly files: string;
  /** Cut in its middle when it is very large. */
  readonly diff: string;
};

const MAX_DIFF_BYTES = 256 * 1024;
const MAX_LIST_BYTES = 16 * 1024;
/** Untracked files that are shown with their content. */
const MAX_NEW_FILES = 200;
const MAX_NEW_FILE_BYTES = 128 * 1024;

const PLAIN = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--ignore-submodules=dirty',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/** Throws GitError, also for a branch or commit that does not exist. */
export async function reviewDiff(git: Git, subject: Exclude<ReviewSubject, { type: 'custom' }>): Promise<ReviewDiff> {
  switch (subject.type) {
    case 'uncommitted': {
      const tree = await git(['rev-parse', '--verify', '-q', 'HEAD']).catch(() => emptyTree(git));
      return workTreeDiff(git, tree.trim(), 'the uncommitted changes of the work tree: staged, unstaged and untracked');
    }
    case 'base': {
      const base = await commitOf(git, subject.branch);
      const fork = (await git(['merge-base', base, 'HEAD'])).trim();
      return workTreeDiff(
        git,
        fork,
        `what this branch changes since it left ${subject.branch} (at ${fork.slice(0, 12)})`,
      );
    }
    case 'commit': {
      const commit = await commitOf(git, subject.sha);
      const title = subject.title ?? (await git(['log', '-1', '--format=%s', commit])).trim();
      const parent = await git(['rev-parse', '--verify', '-q', `${commit}^1`]).catch(() => null);
      const range = parent === null ? ['--root', '--no-commit-id', commit] : [parent.trim(), commit];
      return {
        subject: `commit ${commit.slice(0, 12)}: ${title}`,
        files: capped(await git(['diff-tree', '-r', '--numstat', ...PLAIN, ...range]), MAX_LIST_BYTES),
        diff: capped(await git(['diff-tree', '-r', '-p', ...PLAIN, ...range]), MAX_DIFF_BYTES),
      };
    }
  }
}

async function workTreeDiff(git: Git, from: string, subject: string): Promise<ReviewDiff> {
  const root = (await git(['rev-parse', '--show-toplevel'])).replace(/\n$/, '');
  const tracked = await git(['diff', '-p', ...PLAIN, from, '--']);
  const list = await git(['diff', '--numstat', ...PLAIN, from, '--']);
  const untracked = (await git(['ls-files', '--others', '--exclude-standard', '--full-name', '-z', '--', ':/']))
    .split('\0')
    .filter(name => name !== '');
  const { gitDiff } = await loadDiffs();
  const added = untracked.slice(0, MAX_NEW_FILES).flatMap((name): FileComparison[] => {
    const after = newFile(path.join(root, name));
    return after ? [{ path: path.join(root, name), before: null, after }] : [];
  });
  return {
    subject,
    files: capped(list + untracked.map(name => `untracked\t${name}\n`).join(''), MAX_LIST_BYTES),
    diff: capped(tracked + gitDiff(added, root), MAX_DIFF_BYTES),
  };
}

/** A link is shown by its name: what it points to may lie anywhere. */
function newFile(file: string): FileState | null {
  try {
    const { mode, size } = lstatSync(file);
    const type = mode & 0o170000;
    if (type === 0o120000) return { mode, content: Buffer.from(readlinkSync(file)) };
    if (type !== 0o100000 || size > MAX_NEW_FILE_BYTES) return null;
    return { mode, content: readFileSync(file) };
  } catch {
    // It is gone or can't be read; the list names it.
    return null;
  }
}

async function commitOf(git: Git, name: string): Promise<string> {
  try {
    return (await git(['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`])).trim();
  } catch (error) {
    if (!(error instanceof GitError) || error.exitCode === null) throw error;
    throw new GitError(`there is no commit or branch ${name}`, error.exitCode);
  }
}

function emptyTree(git: Git): Promise<string> {
  return git(['hash-object', '-t', 'tree', '--stdin']);
}

function capped(text: string, bytes: number): string {
  return truncateMiddle(text, bytes, removed => `\n[... ${removed} bytes left out: look at these files yourself ...]\n`)
    .text;
}
