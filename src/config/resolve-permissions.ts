/** Permission profiles: `[permissions.<name>]` with everything special in it turned into paths. */
import path from 'node:path';
import type { FilesystemEntry, NetworkPermissions, SandboxPolicy } from '../protocol/index.js';
import type { Env } from '../util/index.js';
import { ConfigError } from './errors.js';
import type { MergedLayers } from './layer.js';
import { nearestKey } from './nearest-key.js';
import type { Surroundings } from './read-layers.js';

type Permissions = NonNullable<MergedLayers['values']['permissions']>[string];
type Access = FilesystemEntry['access'];

/** What programs need to start at all. */
const MINIMAL = [
  '/bin',
  '/dev',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/opt',
  '/proc',
  '/sbin',
  '/sys',
  '/usr',
  '/run/systemd/resolve',
  '/nix/store',
  '/System',
  '/Library',
  '/private/etc',
  '/var/db',
];
const BUILT_IN = [':read-only', ':workspace', ':danger-full-access'] as const;

/**
 * A profile of `[permissions]`, by name. `configured`: the name comes from `default_permissions`, so that mistakes are shown there. `roots`: further
 * writable folders. Throws ConfigError.
 */
export function resolvePermissions(
  name: string,
  configured: boolean,
  around: Surroundings,
  env: Env,
  roots: readonly string[],
): SandboxPolicy {
  const chain = chainOf(name, configured ? ['default_permissions'] : [], around.merged, []);
  const profiles = chain.flatMap(one => (typeof one === 'string' ? [] : [one]));
  const base = chain.find(one => typeof one === 'string');
  const workspace = [around.cwd, ...workspaceRoots(profiles), ...roots];
  const places: Places = { workspace, tmpdir: env['TMPDIR'] || null };
  const filesystem = [
    ...baseEntries(base, places),
    ...profiles.flatMap(profile => entriesOf(profile, places)),
    ...roots.map((root): FilesystemEntry => ({ access: 'write', target: { path: root } })),
  ];
  return {
    type: 'profile',
    name,
    filesystem: searchedTo(globDepth(profiles), lastOfEach(filesystem)),
    network: networkOf(profiles, base === ':danger-full-access'),
    allow_unix_sockets: profiles.some(profile => profile.network?.dangerously_allow_all_unix_sockets === true),
  };
}

/** The profile and what it extends, from the base up; a string is a built-in one. */
function chainOf(
  name: string,
  askedAt: readonly string[],
  merged: MergedLayers,
  seen: readonly string[],
): (Permissions | string)[] {
  if ((BUILT_IN as readonly string[]).includes(name)) return [name];
  const all = merged.values.permissions ?? {};
  if (seen.includes(name)) {
    throw merged.errorAt(askedAt, `the permission profile \`${name}\` extends itself`);
  }
  const profile = Object.hasOwn(all, name) ? all[name] : undefined;
  if (profile === undefined) {
    const known = [...BUILT_IN, ...Object.keys(all)];
    const near = nearestKey(name, known);
    const hint = near === null ? `Known: ${known.join(', ')}` : `Did you mean \`${near}\`?`;
    const message = `The permission profile \`${name}\` does not exist. ${hint}`;
    throw askedAt.length === 0 ? new ConfigError(message) : merged.errorAt(askedAt, message);
  }
  if (profile.extends === undefined) return [profile];
  return [...chainOf(profile.extends, ['permissions', name, 'extends'], merged, [...seen, name]), profile];
}

type Places = { readonly workspace: readonly string[]; readonly tmpdir: string | null };

function baseEntries(base: string | undefined, places: Places): FilesystemEntry[] {
  if (base === undefined) return [];
  if (base === ':danger-full-access') return [entry('/', 'write')];
  const read = entry('/', 'read');
  if (base === ':read-only') return [read];
  const tmp = places.tmpdir === null ? [] : [places.tmpdir];
  return [read, ...[...places.workspace, '/tmp', ...tmp].map(place => entry(place, 'write'))];
}

function entriesOf(profile: Permissions, places: Places): FilesystemEntry[] {
  return Object.entries(profile.filesystem ?? {}).flatMap(([name, access]) => {
    if (access === undefined || typeof access === 'number') return [];
    return pathsOf(name, places).flatMap(base => {
      if (typeof access === 'string') return [entry(base, access)];
      return Object.entries(access).map(([below, one]) => entryBelow(base, below, one));
    });
  });
}

function pathsOf(name: string, places: Places): readonly string[] {
  switch (name) {
    case ':root':
      return ['/'];
    case ':minimal':
      return MINIMAL;
    case ':workspace_roots':
      return places.workspace;
    case ':tmpdir':
      return places.tmpdir === null ? [] : [places.tmpdir];
    case ':slash_tmp':
      return ['/tmp'];
    default:
      return [name];
  }
}

function entryBelow(base: string, below: string, access: Access): FilesystemEntry {
  if (!isGlob(below)) return entry(path.resolve(base, below), access);
  return { access, target: { glob: below, base } };
}

/** An absolute name; with wildcards it is cut into the folder before the first one and the rest. */
function entry(name: string, access: Access): FilesystemEntry {
  if (!isGlob(name)) return { access, target: { path: name } };
  const parts = name.split('/');
  const first = parts.findIndex(isGlob);
  return { access, target: { base: parts.slice(0, first).join('/') || '/', glob: parts.slice(first).join('/') } };
}

/** How many levels down globs are looked for; the nearest profile that says so decides. */
function globDepth(profiles: readonly Permissions[]): number | undefined {
  return profiles
    .map(profile => profile.filesystem?.['glob_scan_max_depth'])
    .findLast(depth => typeof depth === 'number');
}

function searchedTo(max_depth: number | undefined, entries: readonly FilesystemEntry[]): readonly FilesystemEntry[] {
  if (max_depth === undefined) return entries;
  return entries.map(({ access, target }) => ({
    access,
    target: 'glob' in target ? { ...target, max_depth } : target,
  }));
}

function isGlob(name: string): boolean {
  return /[*?[\]{}]/.test(name);
}

/** A later entry for the same target replaces an earlier one: a profile corrects what it extends. */
function lastOfEach(entries: readonly FilesystemEntry[]): FilesystemEntry[] {
  return [...new Map(entries.map(one => [JSON.stringify(one.target), one])).values()];
}

function workspaceRoots(profiles: readonly Permissions[]): string[] {
  const roots = new Map(profiles.flatMap(profile => Object.entries(profile.workspace_roots ?? {})));
  return [...roots].flatMap(([root, on]) => (on ? [root] : []));
}

function networkOf(profiles: readonly Permissions[], on: boolean): NetworkPermissions {
  const enabled = profiles.map(profile => profile.network?.enabled).findLast(one => one !== undefined) ?? on;
  if (!enabled) return { type: 'off' };
  const domains = new Map(profiles.flatMap(profile => Object.entries(profile.network?.domains ?? {})));
  if (domains.size === 0) return { type: 'on' };
  const withRule = (rule: 'allow' | 'deny') => [...domains].flatMap(([domain, one]) => (one === rule ? [domain] : []));
  return { type: 'domains', allow: withRule('allow'), deny: withRule('deny') };
}
