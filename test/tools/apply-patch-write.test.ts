import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SandboxPolicy } from '../../src/protocol/index.js';
import { workspaceWrite } from '../support/policies.js';
import { applyPatch, directory, patchText, putFiles, snapshot, update, workspace } from './apply-patch-support.js';

const WORKSPACE_WRITE = workspaceWrite({ exclude_tmpdir_env_var: true });

const isRoot = process.getuid?.() === 0;

function attempt(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    // Not there, or not allowed here.
    return false;
  }
}

/** Makes a file or directory unchangeable for whoever runs the test; false where that is not possible. */
function freeze(file: string): boolean {
  const done = isRoot ? attempt('chattr', '+i', file) : attempt('chmod', 'a-w', file);
  onTestFinished(() => void (isRoot ? attempt('chattr', '-i', file) : attempt('chmod', 'u+w', file)));
  return done;
}

describe('what happens between plan and write', () => {
  const PATCH = patchText(
    '*** Update File: a',
    '-a',
    '+A',
    '*** Update File: sub/b',
    '-b',
    '+B',
    '*** Add File: sub/n',
    '+n',
    '*** Delete File: d',
    '*** Update File: m',
    '*** Move to: m2',
  );
  const BEFORE = { a: 'a\n', 'sub/b': 'b\n', d: 'd\n', m: 'm\n' };
  const table: Record<string, [(root: string) => void, RegExp]> = {
    'a file is changed': [root => fs.writeFileSync(`${root}/sub/b`, 'b\nmine\n'), /sub\/b was changed meanwhile/],
    'a file is changed to the same size': [
      root => fs.writeFileSync(`${root}/sub/b`, 'x\n'),
      /sub\/b was changed meanwhile/,
    ],
    'a file is removed': [root => fs.rmSync(`${root}/sub/b`), /sub\/b was changed meanwhile/],
    'a file to delete is changed': [root => fs.writeFileSync(`${root}/d`, 'more\n'), /\/d was changed meanwhile/],
    'a new file appears': [root => fs.writeFileSync(`${root}/sub/n`, 'mine\n'), /sub\/n was changed meanwhile/],
    'the target of a move appears': [root => fs.writeFileSync(`${root}/m2`, 'mine\n'), /\/m2 was changed meanwhile/],
    'a file becomes a directory': [
      root => {
        fs.rmSync(`${root}/a`);
        fs.mkdirSync(`${root}/a`);
      },
      /\/a was changed meanwhile/,
    ],
    'a file becomes a link': [
      root => {
        fs.renameSync(`${root}/sub/b`, `${root}/elsewhere`);
        fs.symlinkSync('../elsewhere', `${root}/sub/b`);
      },
      /sub\/b was changed meanwhile/,
    ],
    'a new file becomes a dangling link': [
      root => fs.symlinkSync('/var/tmp/nowhere', `${root}/sub/n`),
      /sub\/n was changed/,
    ],
    'a directory becomes a link': [
      root => {
        fs.renameSync(`${root}/sub`, `${root}/moved`);
        fs.symlinkSync('moved', `${root}/sub`);
      },
      /\/sub was a directory and has meanwhile been replaced/,
    ],
  };
  it.each(Object.entries(table))('nothing is written when %s', async (_, [meanwhile, message]) => {
    const root = workspace(BEFORE);
    let changed = {};
    const { output, is_error, events } = await applyPatch(root, PATCH, {
      meanwhile: () => {
        meanwhile(root);
        changed = snapshot(root);
      },
    });
    expect(output).toMatch(/^Exit code: 1\nWall time: 0 seconds\nOutput:\n/);
    expect(output).toMatch(message);
    expect(output).toMatch(/No file was changed\n$/);
    expect({ is_error, files: snapshot(root) }).toEqual({ is_error: true, files: changed });
    expect(events).toMatchObject([
      { type: 'item.completed', item: { status: 'failed', stderr: expect.stringMatching(message) } },
    ]);
  });

  it('a file that was only touched is written', async () => {
    const root = workspace({ a: 'a\n' });
    await applyPatch(root, update('a', '-a', '+A'), { meanwhile: () => fs.utimesSync(`${root}/a`, 1, 1) });
    expect(snapshot(root)).toEqual({ a: 'A\n' });
  });

  it('a mode that was changed is kept', async () => {
    const root = workspace({ a: 'a\n' });
    await applyPatch(root, update('a', '-a', '+A'), { meanwhile: () => fs.chmodSync(`${root}/a`, 0o711) });
    expect(fs.statSync(`${root}/a`).mode & 0o7777).toBe(0o711);
  });

  it('an interrupted turn writes nothing', async () => {
    const root = workspace({ a: 'a\n' });
    const { output } = await applyPatch(root, update('a', '-a', '+A'), { signal: AbortSignal.abort() });
    expect(output).toMatch(/interrupted; no file was changed/);
    expect(snapshot(root)).toEqual({ a: 'a\n' });
  });
});

describe('what a file keeps', () => {
  const modeOf = (file: string) => fs.statSync(file).mode & 0o7777;

  it.each([0o644, 0o755, 0o750, 0o600, 0o444, 0o4755])('mode %o, updated and moved', async mode => {
    const root = workspace({ u: 'a\n', m: 'a\n' });
    for (const name of ['u', 'm']) fs.chmodSync(path.join(root, name), mode);
    await applyPatch(
      root,
      patchText('*** Update File: u', '-a', '+b', '*** Update File: m', '*** Move to: x/m', '-a', '+b'),
    );
    expect([modeOf(`${root}/u`), modeOf(`${root}/x/m`)]).toEqual([mode, mode]);
  });

  it.skipIf(!isRoot)('its owner', async () => {
    const root = workspace({ a: 'a\n' });
    fs.chownSync(`${root}/a`, 1234, 4321);
    await applyPatch(root, update('a', '-a', '+b'));
    expect(fs.statSync(`${root}/a`)).toMatchObject({ uid: 1234, gid: 4321 });
  });

  it('the mode of a new file is that of any new file', async () => {
    const root = workspace();
    await applyPatch(root, patchText('*** Add File: n', '+x'));
    fs.writeFileSync(`${root}/other`, '');
    expect(modeOf(`${root}/n`)).toBe(modeOf(`${root}/other`));
  });

  it('another name of the same file keeps the old content', async () => {
    const root = workspace({ a: 'a\n' });
    fs.linkSync(`${root}/a`, `${root}/twin`);
    await applyPatch(root, update('a', '-a', '+b'));
    expect(snapshot(root)).toEqual({ a: 'b\n', twin: 'a\n' });
  });

  it('a file that does not change is not rewritten', async () => {
    const root = workspace({ a: 'a\n', b: 'b\n' });
    const before = fs.statSync(`${root}/a`);
    await applyPatch(root, patchText('*** Update File: a', ' a', '*** Update File: b', '-b', '+B'));
    expect(fs.statSync(`${root}/a`)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect(snapshot(root)).toEqual({ a: 'a\n', b: 'B\n' });
  });
});

describe('a write that fails midway', () => {
  it('is undone: contents, modes, directories, the very same files', async context => {
    const root = workspace({ a: 'a\n', d: 'd\n', 'stuck/s': 's\n', m: 'm\n' });
    fs.chmodSync(`${root}/a`, 0o751);
    // For root the file itself, for others its directory.
    if (!freeze(isRoot ? `${root}/stuck/s` : `${root}/stuck`)) context.skip();
    const before = snapshot(root);
    const inode = fs.statSync(`${root}/a`).ino;
    const { output, is_error } = await applyPatch(
      root,
      patchText(
        '*** Update File: a',
        '-a',
        '+A',
        '*** Delete File: d',
        '*** Add File: new/dir/n',
        '+n',
        '*** Update File: m',
        '*** Move to: m2',
        '-m',
        '+M',
        '*** Delete File: stuck/s',
      ),
    );
    expect(output).toMatch(/cannot write .*stuck\/s: .* \(E(PERM|ACCES)\). No file was changed/);
    expect({ is_error, files: snapshot(root) }).toEqual({ is_error: true, files: before });
    expect(fs.statSync(`${root}/a`)).toMatchObject({ ino: inode, mode: 0o100751 });
  });

  it('because the disk is full leaves everything as it was', async context => {
    const root = directory();
    if (!attempt('mount', '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', root)) context.skip();
    onTestFinished(() => void attempt('umount', root));
    putFiles(root, { a: 'a\n', b: 'b\n' });
    const big = Array.from({ length: 6000 }, (_, i) => `+line ${i} ${'x'.repeat(50)}`);
    const { output } = await applyPatch(
      root,
      patchText('*** Update File: a', '-a', '+A', '*** Update File: b', '-b', ...big),
    );
    expect(output).toMatch(/cannot write .*\/b: no space left on device \(ENOSPC\). No file was changed/);
    expect(snapshot(root)).toEqual({ a: 'a\n', b: 'b\n' });
  });

  it('a file whose directory takes no new files is written in place', async context => {
    const root = workspace({ 'fixed/f': 'a long first line\nb\n', o: 'o\n' });
    if (!freeze(`${root}/fixed`)) context.skip();
    const inode = fs.statSync(`${root}/fixed/f`).ino;
    await applyPatch(
      root,
      patchText('*** Update File: fixed/f', '-a long first line', '+A', '*** Update File: o', '-o', '+O'),
    );
    expect(snapshot(root)).toEqual({ fixed: '/', 'fixed/f': 'A\nb\n', o: 'O\n' });
    expect(fs.statSync(`${root}/fixed/f`).ino).toBe(inode);
  });

  it('a file that is a mount point is written in place', async context => {
    const root = workspace({ f: 'a\n' });
    const source = workspace({ g: 'a\n' });
    if (!attempt('mount', '--bind', `${source}/g`, `${root}/f`)) context.skip();
    onTestFinished(() => void attempt('umount', `${root}/f`));
    const { output } = await applyPatch(root, update('f', '-a', '+b'));
    expect(output).toMatch(/^Exit code: 0/);
    expect(snapshot(source)).toEqual({ g: 'b\n' });
  });
});

describe('under a sandbox policy', () => {
  const confined = { policy: WORKSPACE_WRITE };

  it('nothing is written outside of the writable folders, whoever let the call through', async () => {
    const root = workspace({ a: 'a\n' });
    const outside = workspace({ v: 'v\n' });
    fs.symlinkSync(outside, `${root}/out`);
    for (const target of [`${outside}/n`, 'out/n', `../${path.basename(outside)}/n`]) {
      const { output, events } = await applyPatch(
        root,
        patchText('*** Update File: a', '-a', '+A', `*** Add File: ${target}`, '+x'),
        confined,
      );
      expect(output).toMatch(/^Exit code: 1\n.*\nOutput:\npatch rejected: .*\/n: .*outside of the writable folders/);
      expect(events).toMatchObject([{ type: 'item.completed', item: { status: 'failed' } }]);
    }
    expect([snapshot(root), snapshot(outside)]).toEqual([{ a: 'a\n', out: `-> ${outside}` }, { v: 'v\n' }]);
  });

  it.each(['.git/config', '.git/hooks/pre-commit', '.openinterpreter/x', '.agents/x', '.codex/x'])(
    '%s is protected',
    async name => {
      const root = workspace({ '.git/config': 'a\n' });
      const before = snapshot(root);
      const { output } = await applyPatch(root, patchText(`*** Add File: ${name}x`, '+x'), confined);
      expect(output).toMatch(/patch rejected: .*protected/);
      expect(snapshot(root)).toEqual(before);
    },
  );

  it('read-only lets nothing through', async () => {
    const root = workspace({ a: 'a\n' });
    const { output } = await applyPatch(root, update('a', '-a', '+b'), { policy: { type: 'read-only' } });
    expect(output).toMatch(/patch rejected: .*read-only/);
    expect(snapshot(root)).toEqual({ a: 'a\n' });
  });

  it('new content never gets the rights of the owner', async () => {
    const root = workspace({ a: 'a\n' });
    fs.chmodSync(`${root}/a`, 0o6755);
    await applyPatch(root, update('a', '-a', '+b'), confined);
    expect(fs.statSync(`${root}/a`).mode & 0o7777).toBe(0o755);
  });

  it('a file with other names is not written in place', async context => {
    const root = workspace({ 'fixed/f': 'a\n' });
    fs.linkSync(`${root}/fixed/f`, `${directory()}/twin`);
    if (!freeze(`${root}/fixed`)) context.skip();
    const { output } = await applyPatch(root, update('fixed/f', '-a', '+b'), confined);
    expect(output).toMatch(/other names \(hard links\).*No file was changed/);
    expect(snapshot(root)).toEqual({ fixed: '/', 'fixed/f': 'a\n' });
  });

  it('a file that a profile hides is not quoted', async () => {
    const root = workspace({ '.env': 'SECRET=1\n' });
    const policy: SandboxPolicy = {
      type: 'profile',
      name: 'p',
      filesystem: [
        { access: 'write', target: { path: root } },
        { access: 'deny', target: { glob: '**/.env', base: root } },
      ],
      network: { type: 'off' },
      allow_unix_sockets: false,
    };
    const { output } = await applyPatch(root, update('.env', '-SECRE=1', '+x'), { policy });
    expect(output).toMatch(/^apply_patch verification failed: cannot read .*\.env: .*denied/);
    expect(output).not.toMatch('SECRET');
  });
});

// Elsewhere directories can't be held open; there the path is compared before and after.
it.runIf(process.platform === 'linux')(
  'a directory that is swapped for a link all the time never lets a patch out',
  async () => {
    const root = workspace({ 'd/f': '0\n' });
    const outside = workspace({ f: '0\n' });
    const swapper = spawn(process.execPath, ['test/fixtures/swap-directory.mjs', `${root}/d`, outside]);
    onTestFinished(async () => {
      if (swapper.exitCode !== null) return;
      const gone = once(swapper, 'exit');
      swapper.kill('SIGKILL');
      await gone;
    });
    const counts = { written: 0, refused: 0 };
    for (let i = 0; counts.written < 50 || counts.refused < 50; i++) {
      expect(swapper.exitCode).toBeNull();
      const patch = patchText(
        `*** Add File: d/n${i}`,
        '+x',
        '*** Update File: d/f',
        '-0',
        '+1',
        '*** Update File: d/f',
        '-1',
        '+0',
      );
      const { is_error } = await applyPatch(root, patch, { policy: WORKSPACE_WRITE });
      counts[is_error ? 'refused' : 'written']++;
    }
    expect(snapshot(outside)).toEqual({ f: '0\n' });
  },
  60_000,
);
