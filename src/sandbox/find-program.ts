/** Finds programs by name: for commands as a shell would, for our own tools only where nobody else can put them. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';

/** The file that `name` stands for, or null. A name with a slash is relative to `cwd`. */
export function findExecutable(name: string, path: string | undefined, cwd: string): string | null {
  if (name === '') return null;
  if (name.includes('/')) return isExecutable(resolve(cwd, name)) ? resolve(cwd, name) : null;
  for (const directory of pathEntries(path)) {
    const candidate = resolve(cwd, directory, name);
    if (isExecutable(candidate)) return candidate;
  }
  return null;
}

export type TrustedProgram = { readonly path: string } | { readonly path: null; readonly rejected: readonly string[] };

export type Candidate = { readonly path: string; readonly real: string };

/**
 * The programs of this name on the absolute entries of PATH. The first one can be run outside of any sandbox when it
 * is trusted: see `chooseTrusted`.
 */
export function findCandidates(name: string, path: string | undefined): Candidate[] {
  return pathEntries(path).flatMap(directory => {
    const candidate = join(directory, name);
    if (!isAbsolute(directory) || !isExecutable(candidate)) return [];
    return [{ path: candidate, real: realpathSync.native(candidate) }];
  });
}

/**
 * The first candidate that lies outside of all `untrusted` folders (real paths of what commands may write), and that
 * nobody but root and we may change.
 */
export function chooseTrusted(candidates: readonly Candidate[], untrusted: readonly string[]): TrustedProgram {
  const isTrusted = ({ path, real }: Candidate) =>
    !untrusted.some(root => isInside(real, root) || isInside(path, root)) && isOurs(real);
  const found = candidates.find(isTrusted);
  return found ? { path: found.path } : { path: null, rejected: candidates.map(candidate => candidate.path) };
}

/** As `chooseTrusted`, for a program that is looked for once. */
export function findTrustedProgram(name: string, path: string | undefined): string | null {
  return chooseTrusted(findCandidates(name, path), []).path;
}

/** A shell that can redirect numbers above 9, where there is one. */
export function bashPath(path: string | undefined): string {
  return ['/bin/bash', '/usr/bin/bash'].find(isExecutable) ?? findTrustedProgram('bash', path) ?? '/bin/sh';
}

/** True when `path` is `root` or lies under it. Both are absolute and normalized. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function pathEntries(path: string | undefined): string[] {
  return (path ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter).filter(entry => entry !== '');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not for us.
    return false;
  }
}

/** Owned by root or us, and neither it nor its folder is writable by others. */
function isOurs(file: string): boolean {
  return [file, dirname(file)].every(path => {
    const { uid, mode } = statSync(path);
    return (uid === 0 || uid === process.getuid?.()) && (mode & 0o022) === 0;
  });
}
