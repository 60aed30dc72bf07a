/**
 * Reads from the disk what a policy comes to at this moment. Synchronous on purpose: a few dozen system calls, and
 * nothing of ours can change in between, but for mount points of ended commands, which go in the background.
 */
import {
  accessSync,
  constants,
  lstatSync,
  opendirSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { type CommandSpec, PROTECTED_NAMES, type SandboxPolicy } from '../protocol/index.js';
import { hasCode } from '../util/index.js';
import { isInside } from './find-program.js';
import { gitDirectories } from './git-pointer.js';
import { globToRegExp } from './glob.js';
import { type Access, accessAt, type GlobRule, type Layout, type PathRule, precedence, whyOf } from './layout.js';
import { type PathFacts, writableRoots } from './policy-paths.js';

export type LayoutFacts = PathFacts & {
  /** Further folders that are protected like the agent's home. */
  readonly ownFolders?: readonly string[];
  /** Paths found by the globs of the policy, with their access. */
  readonly matches?: readonly { readonly path: string; readonly access: Access }[];
};

/** The facts of a command. */
export function layoutFacts(spec: CommandSpec, own: { readonly home: string; readonly stateDir: string }): LayoutFacts {
  return {
    cwd: spec.workspace ?? '',
    home: own.home,
    tmpdir: spec.env['TMPDIR'] ?? null,
    ownFolders: [own.stateDir],
  };
}

/** Parts of the agent's home that stay closed even to a workspace inside that home. */
const HOME_PARTS = ['config.toml', 'auth.json', 'hooks.json', 'AGENTS.md', 'rules', 'sessions', 'skills', 'sandbox'];

export function readLayout(policy: SandboxPolicy, facts: LayoutFacts): Layout {
  const problems: string[] = [];
  const asked = askedRules(policy, facts, problems);
  const roots = asked.filter(rule => rule.access === 'write');
  // A profile that names a protected path means it; the roots of a mode never open one.
  const explicit = new Set(policy.type === 'profile' ? asked.map(rule => rule.path) : []);
  const protections = protectedFolders(roots, facts)
    .flatMap(folder => protectedNames(folder, roots, problems))
    .filter(rule => !explicit.has(rule.path));
  const home = homeRules(roots, facts);
  const closed = [...(policy.type === 'profile' ? [] : protections), ...home.parts];
  const rules = oneForEachPath([...asked, ...protections, ...home.whole, ...home.parts]).filter(
    rule => rule.path !== '/' && (rule.access !== 'write' || !isUnder(rule.path, closed)),
  );
  const layout: Layout = {
    base: baseOf(policy, asked),
    rules,
    globs: policy.type === 'profile' ? globRules(policy) : [],
    links: policy.type === 'profile' ? linksTo(policy) : [],
    problems,
  };
  return { ...layout, rules: rules.filter(rule => rule.state !== 'absent' || couldBeMade(rule, layout)) };
}

/** What is not there needs no protection where nothing can be made. */
function couldBeMade(rule: PathRule, layout: Layout): boolean {
  const others = layout.rules.filter(other => other.state !== 'absent');
  return accessAt({ ...layout, rules: others }, dirname(rule.path)).access === 'write';
}

/** The read-only paths inside the writable roots: protected names, git directories, the agent's home. */
export function protectedPaths(policy: SandboxPolicy, facts: LayoutFacts): string[] {
  return readLayout(policy, facts)
    .rules.filter(rule => rule.why === 'protected' || rule.why === 'home')
    .map(rule => rule.path);
}

/** The real path, or null when nothing is there. */
export function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    // Missing, a dangling link, or a folder that we can't enter: the command can't either.
    return null;
  }
}

function baseOf(policy: SandboxPolicy, asked: readonly PathRule[]): Layout['base'] {
  switch (policy.type) {
    case 'read-only':
      return { access: 'read', why: 'read_only' };
    case 'workspace-write':
      return { access: 'read', why: 'outside' };
    case 'danger-full-access':
      return { access: 'write', why: 'outside' };
    case 'profile':
      return { access: asked.find(rule => rule.path === '/')?.access ?? 'deny', why: 'outside' };
  }
}

/** The rules that the policy spells out, as far as their paths exist. */
function askedRules(policy: SandboxPolicy, facts: LayoutFacts, problems: string[]): PathRule[] {
  if (policy.type === 'read-only' || policy.type === 'danger-full-access') return [];
  const written =
    policy.type === 'profile'
      ? policy.filesystem.flatMap(({ access, target }) => ('path' in target ? [{ access, path: target.path }] : []))
      : writableRoots(policy, facts).map(path => ({ access: 'write' as const, path }));
  return oneForEachPath(
    [...written, ...(facts.matches ?? [])].flatMap(({ access, path }) => {
      if (isUnusable(path, access, problems)) return [];
      return askedRule(path, access);
    }),
  );
}

function askedRule(path: string, access: Access): PathRule[] {
  const real = realPathOf(path);
  if (real !== null) return [{ path: real, access, why: whyOf(access), state: kindOf(real) }];
  // A read-only path that is not there must not come into being either; the rest does not matter before it exists.
  const parent = realPathOf(dirname(path));
  if (access !== 'read' || parent === null || !canCreateIn(parent)) return [];
  return [{ path: join(parent, path.slice(path.lastIndexOf(sep) + 1)), access, why: 'read_only', state: 'absent' }];
}

/** /dev and /proc are made anew for each command; the host's own would be a way out. */
function isUnusable(path: string, access: Access, problems: string[]): boolean {
  const system = ['/dev', '/proc'].find(folder => path === folder) ?? (isInside(path, '/proc') ? '/proc' : undefined);
  if (system === undefined && !(isInside(path, '/sys') && access === 'write')) return false;
  if (access === 'write') problems.push(`${path} can't be a writable folder: it would open the system itself.`);
  return true;
}

/** Whose protected names count: each writable folder, and the workspace inside one. */
function protectedFolders(roots: readonly PathRule[], facts: LayoutFacts): string[] {
  const workspace = realPathOf(facts.cwd);
  const folders = roots.filter(root => root.state !== 'file' && root.path !== '/').map(root => root.path);
  return [...new Set([...folders, ...(workspace !== null && isUnder(workspace, roots) ? [workspace] : [])])];
}

function protectedNames(folder: string, roots: readonly PathRule[], problems: string[]): PathRule[] {
  const rules: PathRule[] = [];
  const canCreate = canCreateIn(folder);
  for (const name of PROTECTED_NAMES) {
    const path = `${folder}/${name}`;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) {
      problems.push(
        `cannot keep ${path} read-only: it is a symlink in a writable directory. Replace the link by a real directory, or run with approval.`,
      );
      const target = realPathOf(path);
      if (target !== null) rules.push(readOnly(target, 'protected'));
    }
    if (found === undefined && !canCreate) continue;
    rules.push({ path, access: 'read', why: 'protected', state: stateOf(path, found) });
    if (name === '.git' && found?.isFile()) {
      const repository = gitDirectories(path).filter(directory => isUnder(directory, roots));
      rules.push(...repository.map(directory => readOnly(directory, 'protected')));
    }
  }
  return rules;
}

/**
 * The agent's home where it lies in a writable folder. A workspace may itself lie in the home; the parts that decide
 * about later commands (configuration, rules, records) stay closed then too.
 */
function homeRules(roots: readonly PathRule[], facts: LayoutFacts): { whole: PathRule[]; parts: PathRule[] } {
  const home = realPathOf(facts.home);
  const own = (facts.ownFolders ?? []).flatMap(folder => realPathOf(folder) ?? []);
  const holdsRoot = (folder: string) => roots.some(root => isInside(root.path, folder));
  const parts = home !== null && holdsRoot(home) ? HOME_PARTS.map(part => join(home, part)).filter(lstatExists) : [];
  return {
    whole: home !== null && isUnder(home, roots) ? [readOnly(home, 'home')] : [],
    parts: [...parts.filter(holdsRoot), ...own.filter(folder => holdsRoot(folder) || isUnder(folder, roots))].map(
      folder => readOnly(folder, 'home'),
    ),
  };
}

function readOnly(path: string, why: 'protected' | 'home'): PathRule {
  return { path, access: 'read', why, state: stateOf(path, lstatSync(path, { throwIfNoEntry: false })) };
}

function isUnder(path: string, rules: readonly PathRule[]): boolean {
  return rules.some(rule => isInside(path, rule.path));
}

/** Parents first; where several rules name one path, the one with the highest precedence. */
function oneForEachPath(rules: readonly PathRule[]): PathRule[] {
  const byPath = new Map<string, PathRule>();
  for (const rule of rules) {
    const other = byPath.get(rule.path);
    if (!other || precedence(rule) > precedence(other)) byPath.set(rule.path, rule);
  }
  return [...byPath.values()].toSorted((a, b) => depthOf(a.path) - depthOf(b.path) || (a.path < b.path ? -1 : 1));
}

function depthOf(path: string): number {
  return path === '/' ? 0 : path.split(sep).length - 1;
}

function stateOf(path: string, found: Stats | undefined): PathRule['state'] {
  if (found === undefined) return 'absent';
  if (!found.isDirectory()) return 'file';
  return directoryState(path);
}

function kindOf(real: string): 'directory' | 'file' {
  return statSync(real, { throwIfNoEntry: false })?.isDirectory() ? 'directory' : 'file';
}

function directoryState(path: string): PathRule['state'] {
  try {
    const directory = opendirSync(path);
    try {
      return directory.readSync() === null ? 'empty' : 'directory';
    } finally {
      directory.closeSync();
    }
  } catch (error) {
    // The mount point of a command that has ended meanwhile is gone. What can't be read a bind keeps as it is.
    return hasCode(error, 'ENOENT') ? 'absent' : 'directory';
  }
}

function canCreateIn(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    // What we can't make there, a command of ours can't make either.
    return false;
  }
}

function lstatExists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function globRules(policy: SandboxPolicy & { type: 'profile' }): GlobRule[] {
  return policy.filesystem.flatMap(({ access, target }) => {
    if (!('glob' in target)) return [];
    const base = realPathOf(target.base) ?? target.base;
    return [{ access, base, glob: target.glob, pattern: globToRegExp(target.glob) }];
  });
}

/** All links on the way to the paths of a profile. */
function linksTo(policy: SandboxPolicy & { type: 'profile' }): Layout['links'] {
  const links = new Map<string, string>();
  for (const { target } of policy.filesystem) {
    if ('path' in target) addLinks(target.path, links);
  }
  return [...links].map(([path, target]) => ({ path, target }));
}

function addLinks(path: string, links: Map<string, string>): void {
  const names = path.split(sep).filter(Boolean);
  for (let count = 1; count <= names.length; count++) {
    const prefix = `/${names.slice(0, count).join('/')}`;
    if (links.has(prefix) || !lstatSync(prefix, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    const target = readlinkSync(prefix);
    links.set(prefix, target);
  }
}
