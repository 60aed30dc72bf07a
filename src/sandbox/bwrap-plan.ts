/**
 * The arguments of bubblewrap for a layout. Pure: what is on the disk was read before, and nothing is made here. The
 * order is the promise: namespaces, the read-only root, private /dev and /proc, then the rules from parents to
 * children, so that no later mount can hide an earlier one.
 */
import { dirname } from 'node:path';
import { accessAt, type Layout, type PathRule } from './layout.js';

export type PlanFacts = {
  readonly layout: Layout;
  readonly network: 'off' | 'on';
  /** Some of /proc answers to user 0, whatever the capabilities. */
  readonly isRoot: boolean;
  /** A terminal of its own is the session; it can't be left. */
  readonly tty: boolean;
  /** Real path of the command's directory. */
  readonly cwd: string;
  /** Descriptors of writable folders, by path: they are bound by descriptor, so that no link can get in between. */
  readonly rootFds: ReadonlyMap<string, number>;
  readonly filter: Filter;
};

/** `bridge`: a second sandbox inside the first one takes the filter, and the bridge between them needs unix sockets. */
export type Filter =
  | { readonly type: 'here'; readonly seccompFd: number; readonly statusFd: number | null }
  | { readonly type: 'bridge'; readonly socket: string };

/** Where the bridge finds the socket of the proxy. */
export const BRIDGE_SOCKET = '/dev/proxy.sock';

/** Everything before `--`. */
export function planBwrap(facts: PlanFacts): string[] {
  const rules = withPins(facts.layout);
  return [
    ...namespaces(facts),
    ...baseMounts(facts),
    ...rules.flatMap(rule => mountOf(rule, rules, facts)),
    ...lateRemounts(rules, facts.layout),
    ...filterArguments(facts.filter),
    '--chdir',
    facts.cwd,
  ];
}

/** Folders that must exist while the command runs and mean nothing. */
export function mountPointsOf(layout: Layout): string[] {
  return layout.rules.filter(rule => rule.access === 'read' && isMade(rule)).map(rule => rule.path);
}

function namespaces(facts: PlanFacts): string[] {
  return [
    '--die-with-parent',
    ...(facts.tty ? [] : ['--new-session']),
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(facts.network === 'off' ? ['--unshare-net'] : []),
    '--cap-drop',
    'ALL',
    // To map user 0 once more, the inner sandbox needs this one; it then drops it too.
    ...(facts.filter.type === 'bridge' && facts.isRoot ? ['--cap-add', 'CAP_SETFCAP'] : []),
  ];
}

function filterArguments(filter: Filter): string[] {
  if (filter.type === 'bridge') return ['--ro-bind', filter.socket, BRIDGE_SOCKET];
  return [
    '--seccomp',
    String(filter.seccompFd),
    ...(filter.statusFd === null ? [] : ['--json-status-fd', String(filter.statusFd)]),
  ];
}

/**
 * The inner sandbox behind a bridge: it sees the same mounts, which it can't change, and has processes and a filter of
 * its own, so that the command can neither reach the bridge nor a unix socket.
 */
export function planInnerBwrap(
  facts: Pick<PlanFacts, 'isRoot' | 'cwd'> & { readonly filter: Filter & { type: 'here' } },
): string[] {
  return [
    '--die-with-parent',
    '--unshare-user',
    '--unshare-pid',
    '--cap-drop',
    'ALL',
    '--bind',
    '/',
    '/',
    ...privateSystem(facts.isRoot),
    ...filterArguments(facts.filter),
    '--chdir',
    facts.cwd,
  ];
}

function baseMounts({ layout, isRoot, filter }: PlanFacts): string[] {
  return [
    ...rootMount(layout),
    ...(isRoot && filter.type === 'bridge' ? OUTER_SYSTEM_OF_ROOT : privateSystem(isRoot)),
    // With a writable root folder, /sys would come along, and parts of it obey user 0.
    ...(layout.base.access === 'write' ? ['--ro-bind-try', '/sys', '/sys'] : []),
  ];
}

/**
 * The kernel gives the inner sandbox a /proc of its own only where some /proc is visible in full, and for root
 * bubblewrap covers parts of a new one. So the machine's own lies aside, where the inner /dev covers it.
 */
const OUTER_SYSTEM_OF_ROOT = ['--dev', '/dev', '--proc', '/proc', '--bind', '/proc', '/dev/.proc'];

function privateSystem(isRoot: boolean): string[] {
  return [
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    // Much of it (sys, irq, acpi, ...) takes orders from user 0 without asking for a capability.
    ...(isRoot ? ['--remount-ro', '/proc'] : []),
  ];
}

function rootMount(layout: Layout): string[] {
  switch (layout.base.access) {
    case 'read':
      return ['--ro-bind', '/', '/'];
    case 'write':
      return ['--bind', '/', '/'];
    case 'deny':
      return layout.links.flatMap(({ path, target }) => ['--symlink', target, path]);
  }
}

function mountOf(rule: PathRule, rules: readonly PathRule[], facts: PlanFacts): string[] {
  const { path } = rule;
  switch (rule.access) {
    case 'write': {
      const fd = facts.rootFds.get(path);
      return fd === undefined ? ['--bind', path, path] : ['--bind-fd', String(fd), path];
    }
    case 'read':
      // A private folder that refuses to be written; mounting it read-only as well would double the cost of a start.
      return isMade(rule) ? ['--perms', '0555', '--tmpfs', path] : ['--ro-bind', path, path];
    case 'deny':
      // A device on a bind mount can't be opened, whatever the mode and the user.
      if (rule.state === 'file') return ['--ro-bind', '/dev/null', path];
      return holdsOthers(rule, rules)
        ? ['--perms', '0111', '--tmpfs', path]
        : ['--perms', '0000', '--tmpfs', path, '--remount-ro', path];
  }
}

/** An empty folder may be the mount point of another command: it is covered like one that is not there. */
function isMade(rule: PathRule): boolean {
  return rule.state === 'absent' || (rule.state === 'empty' && rule.why !== 'home');
}

/** Folders that other mounts were put into can only be closed afterwards. */
function lateRemounts(rules: readonly PathRule[], layout: Layout): string[] {
  const late = rules.filter(rule => rule.access === 'deny' && rule.state !== 'file' && holdsOthers(rule, rules));
  return [...late.map(rule => rule.path).toReversed(), ...(layout.base.access === 'deny' ? ['/'] : [])].flatMap(
    path => ['--remount-ro', path],
  );
}

function holdsOthers(rule: PathRule, rules: readonly PathRule[]): boolean {
  return rules.some(other => other !== rule && other.path.startsWith(`${rule.path}/`));
}

/**
 * A rule holds for a path only as long as the path stays where it is. Each writable folder between a writable root and
 * the path of a rule is therefore mounted onto itself: a mount point can't be renamed or removed.
 */
function withPins(layout: Layout): PathRule[] {
  const rules = layout.rules.filter(rule => rule.access !== 'deny' || rule.state !== 'absent');
  const paths = new Set(rules.map(rule => rule.path));
  const pins = new Map<string, PathRule>();
  for (const rule of rules) {
    for (let path = dirname(rule.path); path !== '/' && !paths.has(path); path = dirname(path)) {
      if (accessAt(layout, path).access !== 'write') break;
      pins.set(path, { path, access: 'write', why: 'outside', state: 'directory' });
    }
  }
  return [...rules, ...pins.values()].toSorted(
    (a, b) => depthOf(a.path) - depthOf(b.path) || (a.path < b.path ? -1 : 1),
  );
}

function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1;
}
