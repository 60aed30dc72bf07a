import { describe, expect, test } from 'vitest';
import { planning } from '../../src/sandbox/index.js';

const { mountPointsOf, planBwrap, planInnerBwrap } = planning;
type PlanFacts = planning.PlanFacts;
type Layout = planning.Layout;
type PathRule = planning.PathRule;

const rule = (access: PathRule['access'], path: string, rest: Partial<PathRule> = {}): PathRule => ({
  path,
  access,
  why: access === 'deny' ? 'denied' : 'read_only',
  state: 'directory',
  ...rest,
});
const guard = (path: string, state: PathRule['state'] = 'directory') => rule('read', path, { why: 'protected', state });

function layout(rules: PathRule[], base: Layout['base']['access'] = 'read'): Layout {
  return { base: { access: base, why: 'outside' }, rules, globs: [], links: [], problems: [] };
}

function plan(rules: PathRule[], changes: Partial<PlanFacts> = {}) {
  return planBwrap({
    layout: layout(rules),
    network: 'off',
    isRoot: false,
    tty: false,
    cwd: '/w',
    rootFds: new Map(),
    filter: { type: 'here', seccompFd: 3, statusFd: 4 },
    ...changes,
  });
}

/** The mounts of a plan as lines, without what is in all of them. */
function mounts(args: readonly string[]): string[] {
  const from = args.indexOf('/proc') + 1;
  return args
    .slice(from, args.indexOf('--seccomp'))
    .join(' ')
    .replace(/ --(?!remount-ro)/g, '\n--')
    .replace(/(--perms \d+)\n/g, '$1 ')
    .split('\n');
}

const words = (...lines: string[]): string[] => lines.flatMap(line => line.split(' '));

describe('the plan', () => {
  test('of a workspace, whole', () => {
    expect(plan([rule('write', '/w'), guard('/w/.git'), guard('/w/.agents', 'absent')])).toEqual(
      words(
        '--die-with-parent --new-session --unshare-user --unshare-pid --unshare-ipc --unshare-uts',
        '--unshare-cgroup-try --unshare-net --cap-drop ALL',
        '--ro-bind / / --dev /dev --proc /proc',
        '--bind /w /w',
        '--perms 0555 --tmpfs /w/.agents',
        '--ro-bind /w/.git /w/.git',
        '--seccomp 3 --json-status-fd 4 --chdir /w',
      ),
    );
  });

  test('for root makes /proc read-only: parts of it obey user 0', () => {
    expect(plan([], { isRoot: true }).join(' ')).toContain('--proc /proc --remount-ro /proc');
    expect(plan([])).not.toContain('--remount-ro');
  });

  test('on a terminal stays in its session', () => {
    expect(plan([], { tty: true })).not.toContain('--new-session');
  });

  test('with the network keeps the namespace of the machine and still has a filter', () => {
    const args = plan([], { network: 'on' });
    expect(args).not.toContain('--unshare-net');
    expect(args).toContain('--seccomp');
  });

  test('binds folders by descriptor where there is one', () => {
    expect(mounts(plan([rule('write', '/w')], { rootFds: new Map([['/w', 5]]) }))).toEqual(['--bind-fd 5 /w']);
  });

  test('an empty protected folder is covered, never used as the source of a mount', () => {
    const rules = [rule('write', '/w'), guard('/w/.git', 'empty'), guard('/w/x'), guard('/w/.agents', 'absent')];
    expect(mounts(plan(rules.slice(0, 2)))).toEqual(['--bind /w /w', '--perms 0555 --tmpfs /w/.git']);
    expect(mountPointsOf(layout(rules))).toEqual(['/w/.git', '/w/.agents']);
  });

  test('a writable folder inside another does not hide the protection of the outer one, and cannot be moved away', () => {
    const rules = [rule('write', '/t'), guard('/t/.git'), rule('write', '/t/a/b/w'), guard('/t/a/b/w/.git')];
    expect(mounts(plan(rules))).toEqual([
      '--bind /t /t',
      '--ro-bind /t/.git /t/.git',
      '--bind /t/a /t/a',
      '--bind /t/a/b /t/a/b',
      '--bind /t/a/b/w /t/a/b/w',
      '--ro-bind /t/a/b/w/.git /t/a/b/w/.git',
    ]);
  });

  test('nothing is pinned where nothing can be written', () => {
    expect(mounts(plan([rule('write', '/a/b/w')]))).toEqual(['--bind /a/b/w /a/b/w']);
  });

  test('denied files and folders', () => {
    const rules = [rule('write', '/w'), rule('deny', '/w/.env', { state: 'file' }), rule('deny', '/w/s')];
    expect(mounts(plan(rules))).toEqual([
      '--bind /w /w',
      '--ro-bind /dev/null /w/.env',
      '--perms 0000 --tmpfs /w/s --remount-ro /w/s',
    ]);
  });

  test('a folder that is denied but for a part of it is closed after that part was mounted', () => {
    expect(mounts(plan([rule('deny', '/s'), rule('read', '/s/pub')]))).toEqual([
      '--perms 0111 --tmpfs /s',
      '--ro-bind /s/pub /s/pub --remount-ro /s',
    ]);
  });

  test('without the root folder only what is named can be seen, and links to it are made anew', () => {
    const base: Layout = { ...layout([rule('read', '/usr')], 'deny'), links: [{ path: '/bin', target: 'usr/bin' }] };
    const args = plan([], { layout: base });
    expect(args.join(' ')).toContain(
      '--symlink usr/bin /bin --dev /dev --proc /proc --ro-bind /usr /usr --remount-ro /',
    );
    expect(args.join(' ')).not.toContain('bind / /');
  });

  test('with the root folder writable, /dev, /proc and /sys come after it', () => {
    const args = plan([], { layout: layout([], 'write'), isRoot: true });
    const at = (text: string) => args.join(' ').indexOf(text);
    expect(at('--bind / /')).toBeGreaterThan(0);
    for (const later of ['--dev /dev', '--proc /proc', '--remount-ro /proc', '--ro-bind-try /sys /sys']) {
      expect(at(later)).toBeGreaterThan(at('--bind / /'));
    }
  });

  test('with a bridge the outer sandbox has the socket and no filter, the inner one the filter', () => {
    const outer = plan([], { filter: { type: 'bridge', socket: '/s/proxy.sock' }, isRoot: true }).join(' ');
    expect(outer).toContain('--cap-drop ALL --cap-add CAP_SETFCAP');
    expect(outer).toContain('--ro-bind /s/proxy.sock /dev/proxy.sock');
    expect(outer).not.toContain('--seccomp');
    const inner = planInnerBwrap({ isRoot: false, cwd: '/w', filter: { type: 'here', seccompFd: 3, statusFd: 4 } });
    expect(inner).toEqual(
      words(
        '--die-with-parent --unshare-user --unshare-pid --cap-drop ALL --bind / /',
        '--dev /dev --proc /proc --seccomp 3 --json-status-fd 4 --chdir /w',
      ),
    );
  });
});
