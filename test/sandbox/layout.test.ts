import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { SandboxPolicy } from '../../src/protocol/index.js';
import {
  pathAccess,
  planning,
  protectedPaths,
  readableProblem,
  sandboxEntries,
  writableRoots,
} from '../../src/sandbox/index.js';
import { workspaceWrite } from '../support/policies.js';
import { describeIf } from '../support/requires.js';
import { entry, FULL, makePlace, type Place, profile, READ_ONLY } from './support.js';

function facts(place: Place, changes = {}) {
  return { cwd: place.ws, home: place.home, tmpdir: null, ...changes };
}

/** `write`, or why not. */
function access(place: Place, policy: SandboxPolicy, path: string, changes = {}): string {
  const found = pathAccess(policy, facts(place, changes), path);
  return found.access === 'write' ? 'write' : `${found.access}: ${found.why}`;
}

describe('access to a path', () => {
  test('follows from the mode', () => {
    const place = makePlace();
    const file = join(place.ws, 'a/b');
    expect(access(place, READ_ONLY, file)).toBe('read: read_only');
    expect(access(place, workspaceWrite(), file)).toBe('write');
    expect(access(place, workspaceWrite(), join(place.outside, 'x'))).toBe('read: outside');
    expect(access(place, workspaceWrite(), `${place.ws}x`)).toBe('read: outside');
    expect(access(place, FULL, '/etc/passwd')).toBe('write');
  });

  test('temporary folders and further roots', () => {
    const place = makePlace();
    const tmpdir = join(place.root, 'tmp');
    mkdirSync(tmpdir);
    const inTmp = '/tmp/some-file';
    expect(access(place, workspaceWrite({ exclude_slash_tmp: false }), inTmp)).toBe('write');
    expect(access(place, workspaceWrite({ exclude_slash_tmp: true }), inTmp)).toBe('read: outside');
    expect(access(place, workspaceWrite(), join(tmpdir, 'f'), { tmpdir })).toBe('write');
    expect(access(place, workspaceWrite({ exclude_tmpdir_env_var: true }), join(tmpdir, 'f'), { tmpdir })).toBe(
      'read: outside',
    );
    expect(access(place, workspaceWrite({ writable_roots: [place.outside] }), join(place.outside, 'f'))).toBe('write');
    expect(access(place, workspaceWrite({ writable_roots: [join(place.root, 'no')] }), join(place.root, 'no/f'))).toBe(
      'read: outside',
    );
  });

  test.each(['.git', '.codex', '.openinterpreter', '.agents'])('%s is protected, there or not', name => {
    const place = makePlace();
    expect(access(place, workspaceWrite(), join(place.ws, name))).toBe('read: protected');
    mkdirSync(join(place.ws, name, 'x'), { recursive: true });
    expect(access(place, workspaceWrite(), join(place.ws, name, 'x/y'))).toBe('read: protected');
    expect(access(place, workspaceWrite(), join(place.ws, `${name}ignore`))).toBe('write');
    expect(access(place, workspaceWrite({ writable_roots: [place.outside] }), join(place.outside, name))).toBe(
      'read: protected',
    );
    expect(access(place, workspaceWrite(), join(place.ws, 'sub', name))).toBe('write');
  });

  test('a root inside a protected folder does not open it', () => {
    const place = makePlace();
    const hooks = join(place.ws, '.git/hooks');
    mkdirSync(hooks, { recursive: true });
    expect(access(place, workspaceWrite({ writable_roots: [hooks] }), join(hooks, 'f'))).toBe('read: protected');
  });

  test("the agent's home is protected inside a writable folder", () => {
    const place = makePlace();
    const policy = workspaceWrite({ writable_roots: [place.root] });
    expect(access(place, policy, join(place.home, 'config.toml'))).toBe('read: home');
    expect(access(place, workspaceWrite(), join(place.home, 'x'))).toBe('read: outside');
  });

  test('a workspace inside the home is writable, but not the parts that decide about later commands', () => {
    const place = makePlace();
    const inside = join(place.home, 'worktrees/one');
    for (const folder of [inside, join(place.home, 'rules')]) mkdirSync(folder, { recursive: true });
    expect(access(place, workspaceWrite(), join(inside, 'f'), { cwd: inside })).toBe('write');
    const rules = join(place.home, 'rules');
    expect(access(place, workspaceWrite(), join(rules, 'f'), { cwd: rules })).toBe('read: home');
    expect(access(place, workspaceWrite(), join(place.home, 'f'), { cwd: place.home })).toBe('read: home');
  });

  test('links to roots are followed', () => {
    const place = makePlace();
    const link = join(place.root, 'link');
    symlinkSync(place.ws, link);
    expect(access(place, workspaceWrite(), join(place.ws, 'f'), { cwd: link })).toBe('write');
    expect(access(place, workspaceWrite(), join(place.ws, '.git'), { cwd: link })).toBe('read: protected');
  });

  test('/proc, /dev and /sys are never writable folders', () => {
    const place = makePlace();
    for (const root of ['/proc', '/proc/sys', '/dev', '/sys']) {
      expect(planning.readLayout(workspaceWrite({ writable_roots: [root] }), facts(place)).problems).toEqual([
        `${root} can't be a writable folder: it would open the system itself.`,
      ]);
    }
  });

  test('a mount point of another command that goes meanwhile is seen as what it is', async () => {
    const place = makePlace();
    const path = join(place.ws, '.codex');
    let isOver = false;
    const comesAndGoes = async () => {
      while (!isOver) {
        await mkdir(path);
        await rmdir(path);
      }
    };
    const gone = comesAndGoes();
    const states = new Set<string | undefined>();
    for (let look = 0; look < 3000; look++) {
      await nextRound();
      const { rules } = planning.readLayout(workspaceWrite(), facts(place));
      states.add(rules.find(rule => rule.path === path)?.state);
    }
    isOver = true;
    await gone;
    expect(states).toEqual(new Set(['absent', 'empty']));
  });

  test('a protected name that is a link is a reason not to start', () => {
    const place = makePlace();
    symlinkSync(place.outside, join(place.ws, '.git'));
    expect(planning.readLayout(workspaceWrite(), facts(place)).problems).toEqual([
      `cannot keep ${place.ws}/.git read-only: it is a symlink in a writable directory. Replace the link by a real directory, or run with approval.`,
    ]);
  });
});

describe('permission profiles', () => {
  const at = (place: Place, policy: SandboxPolicy, path: string) => access(place, policy, join(place.root, path));

  test('the more specific path wins; deny beats write beats read for the same one', () => {
    const place = makePlace();
    for (const folder of ['ws/docs/tmp', 'ws/secret/public']) mkdirSync(join(place.root, folder), { recursive: true });
    const p = (path: string) => join(place.root, path);
    const policy = profile([
      entry('read', '/'),
      entry('write', p('ws')),
      entry('read', p('ws/docs')),
      entry('write', p('ws/docs/tmp')),
      entry('deny', p('ws/secret')),
      entry('read', p('ws/secret/public')),
      entry('write', p('outside')),
      entry('deny', p('outside')),
    ]);
    expect(at(place, policy, 'ws/a')).toBe('write');
    expect(at(place, policy, 'ws/docs/a')).toBe('read: read_only');
    expect(at(place, policy, 'ws/docs/tmp/a')).toBe('write');
    expect(at(place, policy, 'ws/secret/a')).toBe('deny: denied');
    expect(at(place, policy, 'ws/secret/public/a')).toBe('read: read_only');
    expect(at(place, policy, 'outside/a')).toBe('deny: denied');
    expect(at(place, policy, 'home')).toBe('read: outside');
    expect(at(place, policy, 'ws/.git/x')).toBe('read: protected');
  });

  test('an entry for a protected path means it', () => {
    const place = makePlace();
    mkdirSync(join(place.ws, '.git'));
    const policy = profile([entry('read', '/'), entry('write', place.ws), entry('write', join(place.ws, '.git'))]);
    expect(at(place, policy, 'ws/.git/x')).toBe('write');
    expect(at(place, policy, 'ws/.agents/x')).toBe('read: protected');
  });

  test('without an entry for the root folder nothing else can be read', () => {
    const place = makePlace();
    expect(at(place, profile([entry('write', place.ws)]), 'outside/a')).toBe('deny: outside');
  });

  test('globs', () => {
    const place = makePlace();
    const policy = profile([
      entry('read', '/'),
      entry('write', place.ws),
      { access: 'deny', target: { base: place.ws, glob: '**/*.env' } },
      { access: 'read', target: { base: place.ws, glob: '*.lock' } },
    ]);
    expect(at(place, policy, 'ws/a/.env')).toBe('deny: denied');
    expect(at(place, policy, 'ws/a/prod.env/inside')).toBe('deny: denied');
    expect(at(place, policy, 'ws/yarn.lock')).toBe('read: read_only');
    expect(at(place, policy, 'ws/a/yarn.lock')).toBe('write');
    expect(at(place, policy, 'outside/.env')).toBe('read: outside');
    expect(readableProblem(policy, facts(place), join(place.ws, '.env'))).toBe(
      `${place.ws}/.env can't be read: it is denied by the permission profile "p" (no network).`,
    );
    expect(readableProblem(policy, facts(place), join(place.ws, 'x'))).toBeNull();
  });

  test('an absent read-only path is kept from being made', () => {
    const place = makePlace();
    const policy = profile([entry('read', '/'), entry('write', place.ws), entry('read', join(place.ws, 'vendor'))]);
    expect(at(place, policy, 'ws/vendor/x')).toBe('read: read_only');
  });
});

describeIf('git', 'worktrees', () => {
  test('the git directories they lead to are protected where they could be written', () => {
    const place = makePlace();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        cwd: place.outside,
        stdio: 'ignore',
      });
    git('init', '-q', 'main');
    git('-C', 'main', 'commit', '-q', '--allow-empty', '-m', 'x');
    git('-C', 'main', 'worktree', 'add', '-q', '-f', place.ws, '-b', 'wt');
    const main = join(place.outside, 'main/.git');
    expect(protectedPaths(workspaceWrite(), facts(place))).toEqual(
      ['.agents', '.codex', '.git', '.openinterpreter'].map(name => join(place.ws, name)),
    );
    const wide = workspaceWrite({ writable_roots: [place.outside] });
    expect(protectedPaths(wide, facts(place))).toEqual(expect.arrayContaining([main, join(main, 'worktrees/ws')]));
    expect(access(place, wide, join(main, 'hooks/x'))).toBe('read: protected');
  });
});

describe('what is shown of a policy', () => {
  test('writable folders and entries', () => {
    const policy = workspaceWrite({ writable_roots: ['/x', '/w'], exclude_slash_tmp: false });
    const where = { cwd: '/w', tmpdir: '/t' };
    expect(writableRoots(policy, where)).toEqual(['/w', '/x', '/tmp', '/t']);
    expect(writableRoots(READ_ONLY, where)).toEqual([]);
    expect(writableRoots(FULL, where)).toEqual(['/']);
    expect(sandboxEntries(workspaceWrite(), { cwd: '/w', tmpdir: null })).toEqual([
      { access: 'read', path: '/' },
      { access: 'write', path: '/w' },
      ...['.git', '.codex', '.openinterpreter', '.agents'].map(name => ({ access: 'read', path: `/w/${name}` })),
    ]);
    expect(sandboxEntries(profile([{ access: 'deny', target: { base: '/w', glob: '**/.env' } }]), where)).toEqual([
      { access: 'deny', path: '/w/**/.env' },
    ]);
  });
});

test('a file as a writable root is itself all that opens', () => {
  const place = makePlace();
  const file = join(place.outside, 'f');
  writeFileSync(file, '');
  const policy = workspaceWrite({ writable_roots: [file] });
  expect([access(place, policy, file), access(place, policy, join(place.outside, 'g'))]).toEqual([
    'write',
    'read: outside',
  ]);
});
