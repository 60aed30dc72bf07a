/** The project around a folder: its root, whether it is a git work tree, and whether the person trusts it. */
import { existsSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf } from '../util/index.js';
import { ConfigError } from './errors.js';

export type Trust = 'trusted' | 'untrusted' | null;

/** The nearest folder at or above `dir` that holds one of `markers`, else `dir`. */
export function findProjectRoot(dir: string, markers: readonly string[]): string {
  const root = parentsOf(dir).find(parent => markers.some(marker => hasMarker(parent, marker)));
  return root ?? dir;
}

/** True when a `.git` entry stands in `dir` or above it; its content is not looked at. */
export function inGitWorkTree(dir: string): boolean {
  return parentsOf(dir).some(parent => hasMarker(parent, '.git'));
}

/**
 * While commands run in a sandbox, empty folders such as `.git` may stand in the folders for temporary files: they
 * are mount points, and must not make a project of everything below.
 */
function hasMarker(dir: string, marker: string): boolean {
  if (marker === '') return false;
  const place = path.join(dir, marker);
  if (!existsSync(place)) return false;
  return !['/tmp', '/var/tmp', tmpdir()].includes(dir) || !isEmptyFolder(place);
}

function isEmptyFolder(place: string): boolean {
  try {
    return readdirSync(place).length === 0;
  } catch {
    // A file, or gone by now.
    return false;
  }
}

/** The folders from `root` down to `dir`. */
export function foldersBetween(root: string, dir: string): string[] {
  const parents = parentsOf(dir);
  const end = parents.indexOf(root);
  return parents.slice(0, end + 1).reverse();
}

/**
 * What `[projects]` says: of the folder itself, else of the project root, else of the main repository a git worktree
 * belongs to. `entries`: absolute path -> level.
 */
export function trustOf(dir: string, root: string, entries: ReadonlyMap<string, Trust>): Trust {
  if (entries.size === 0) return null;
  const levels = new Map([...entries].map(([entry, level]) => [canonical(entry), level]));
  const places = [canonical(dir), canonical(root)];
  const main = mainRepository(dir);
  if (main !== null) places.push(canonical(main));
  return places.map(place => levels.get(place) ?? null).find(level => level !== null) ?? null;
}

/** Throws ConfigError unless `dir` is a folder that can be entered. */
export function checkFolder(dir: string): void {
  const stats = statsOf(dir);
  if (stats === undefined) throw new ConfigError(`The working directory ${dir} does not exist.`);
  if (!stats.isDirectory()) throw new ConfigError(`The working directory ${dir} is not a folder.`);
  try {
    statSync(`${dir}/.`);
  } catch (cause) {
    throw new ConfigError(`The working directory ${dir} can't be entered: ${messageOf(cause)}.`, { cause });
  }
}

/** undefined: there is nothing. Throws ConfigError for what can be no path, or leads through something that is no folder. */
function statsOf(dir: string): Stats | undefined {
  try {
    return statSync(dir, { throwIfNoEntry: false });
  } catch (cause) {
    const shown = JSON.stringify(dir.length > 200 ? `${dir.slice(0, 200)}…` : dir);
    throw new ConfigError(`The working directory ${shown} can't be used: ${messageOf(cause).slice(0, 200)}.`, {
      cause,
    });
  }
}

/**
 * The work tree a linked worktree was made from. The repository has to confirm that the worktree is its own: a `.git`
 * file alone could claim the trust of any repository.
 */
function mainRepository(dir: string): string | null {
  const top = parentsOf(dir).find(parent => hasMarker(parent, '.git'));
  if (top === undefined) return null;
  const link = path.join(top, '.git');
  const gitdir = /^gitdir: (.+)$/m.exec(readSmall(link) ?? '')?.[1]?.trim();
  if (gitdir === undefined) return null;
  const own = path.resolve(top, gitdir);
  const common = readSmall(path.join(own, 'commondir'))?.trim();
  const back = readSmall(path.join(own, 'gitdir'))?.trim();
  if (!common || !back || canonical(path.resolve(own, back)) !== canonical(link)) return null;
  const repository = path.resolve(own, common);
  return path.basename(repository) === '.git' ? path.dirname(repository) : repository;
}

function readSmall(file: string): string | null {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'utf8') : null;
  } catch {
    // Not there or not readable: then it says nothing about trust.
    return null;
  }
}

function parentsOf(dir: string): string[] {
  const parents = [dir];
  for (let here = dir; path.dirname(here) !== here; here = path.dirname(here)) parents.push(path.dirname(here));
  return parents;
}

/** With links resolved, as far as the place exists. */
export function canonical(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    // An entry for a folder that is gone (or not readable) still counts by its name.
    return path.resolve(place);
  }
}
