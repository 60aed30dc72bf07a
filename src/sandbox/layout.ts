/** A policy as rules about real paths: the one thing that mounts, patches and reads are all decided by. */
import { relative, sep } from 'node:path';
import { isInside } from './find-program.js';

export type Access = 'write' | 'read' | 'deny';

/** Why a path may not be written: outside of every rule, a protected name, a rule, the agent's home, a denial. */
export type Why = 'outside' | 'protected' | 'read_only' | 'home' | 'denied';

export type PathRule = {
  /** Real and absolute. */
  readonly path: string;
  readonly access: Access;
  readonly why: Why;
  /** `empty`: a folder without entries. `absent` only for rules that keep something from being made. */
  readonly state: 'directory' | 'file' | 'empty' | 'absent';
};

export type GlobRule = {
  readonly access: Access;
  readonly base: string;
  readonly glob: string;
  readonly pattern: RegExp;
};

export type Layout = {
  /** What holds where no rule does. */
  readonly base: { readonly access: Access; readonly why: Why };
  /** Parents before children, none for `/`. The rule with the longest path that holds a path decides; one rule for a path. */
  readonly rules: readonly PathRule[];
  /** A match is a rule for the matched path. */
  readonly globs: readonly GlobRule[];
  /** Links that lead to the paths of rules; they are made anew where the root folder itself can't be seen. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Why this policy can't be kept here; nothing may run then. */
  readonly problems: readonly string[];
};

export type PathAccess = { readonly access: 'write' } | { readonly access: 'read' | 'deny'; readonly why: Why };

/** `path` is real and absolute; it need not exist. */
export function accessAt(layout: Layout, path: string): PathAccess {
  let best: Rule = { path: '', ...layout.base };
  const consider = (rule: Rule) => {
    if (rule.path.length < best.path.length) return;
    if (rule.path.length > best.path.length || precedence(rule) > precedence(best)) best = rule;
  };
  for (const rule of layout.rules) if (isInside(path, rule.path)) consider(rule);
  for (const glob of layout.globs) {
    const match = longestMatch(glob, path);
    if (match !== null) consider({ path: match, access: glob.access, why: whyOf(glob.access) });
  }
  return best.access === 'write' ? { access: 'write' } : { access: best.access, why: best.why };
}

type Rule = Pick<PathRule, 'path' | 'access' | 'why'>;

/** Of two rules for one path the higher wins: deny beats protection beats write beats read. */
export function precedence(rule: Pick<PathRule, 'access' | 'why'>): number {
  if (rule.access === 'deny') return 3;
  if (rule.why === 'protected' || rule.why === 'home') return 2;
  return rule.access === 'write' ? 1 : 0;
}

export function whyOf(access: Access): Why {
  return access === 'deny' ? 'denied' : 'read_only';
}

/** The path itself, or the nearest of its parents below the base, that the glob matches. */
function longestMatch(rule: GlobRule, path: string): string | null {
  if (!isInside(path, rule.base)) return null;
  const names = relative(rule.base, path).split(sep);
  for (let count = names.length; count > 0; count--) {
    const inner = names.slice(0, count).join('/');
    if (inner !== '' && rule.pattern.test(inner)) return `${rule.base === '/' ? '' : rule.base}/${inner}`;
  }
  return null;
}
