/** Branch, commit and origin of a work tree, read from its files: no git process, no time to speak of. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { GitInfo } from '../protocol/index.js';

/** null outside of a work tree; what can't be read is left out. */
export function gitInfo(projectRoot: string): GitInfo | null {
  const folder = gitFolder(projectRoot);
  if (folder === null) return null;
  const common = path.resolve(folder, read(path.join(folder, 'commondir'))?.trim() ?? '.');
  const head = read(path.join(folder, 'HEAD'))?.trim() ?? '';
  const ref = /^ref: (refs\/\S+)$/.exec(head)?.[1];
  const commit = ref === undefined ? head : resolveRef(folder, common, ref);
  const origin = originUrl(common);
  return {
    ...(ref?.startsWith('refs/heads/') ? { branch: ref.slice('refs/heads/'.length) } : {}),
    ...(isCommit(commit) ? { commit_hash: commit } : {}),
    ...(origin === null ? {} : { repository_url: origin }),
  };
}

/** The repository of a work tree: a folder, or what a `gitdir:` file of a linked work tree or submodule points to. */
function gitFolder(root: string): string | null {
  const entry = path.join(root, '.git');
  const info = statSync(entry, { throwIfNoEntry: false });
  if (info?.isDirectory()) return entry;
  const pointer = info?.isFile() ? /^gitdir: (.+)$/m.exec(read(entry) ?? '')?.[1] : undefined;
  return pointer === undefined ? null : path.resolve(root, pointer.trim());
}

function resolveRef(folder: string, common: string, ref: string): string {
  const loose = read(path.join(folder, ref)) ?? read(path.join(common, ref));
  if (loose !== null) return loose.trim();
  const packed = read(path.join(common, 'packed-refs')) ?? '';
  return (
    packed
      .split('\n')
      .find(line => line.endsWith(` ${ref}`))
      ?.split(' ')[0] ?? ''
  );
}

function originUrl(common: string): string | null {
  const section = /\[remote "origin"\]([^[]*)/.exec(read(path.join(common, 'config')) ?? '')?.[1];
  const url = section === undefined ? undefined : /^\s*url\s*=\s*(\S+)\s*$/m.exec(section)?.[1];
  // A URL may carry a password or token; nothing of it may reach a file of ours.
  return url?.replace(/^(\w+:\/\/)[^/@]*@/, '$1') ?? null;
}

function isCommit(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Absent or unreadable: the field is left out.
    return null;
  }
}
