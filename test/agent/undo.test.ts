/** Undo through whole turns, with git. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { acquireThreadLock } from '../../src/rollout/index.js';
import { runTurn } from '../support/agent-world.js';
import { describeIf } from '../support/requires.js';
import { textsOf } from '../support/scripted-provider.js';
import { until } from '../support/until.js';
import { doneIn, UndoWorld } from './undo-support.js';

const PATCH =
  '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+changed by the agent\n*** Add File: new/b.txt\n+b\n*** End Patch';

describeIf('git', 'undoing a turn', () => {
  test('puts back what patches and commands changed, and leaves the repository as it was', async () => {
    const commands = [
      'rm gone.txt && rm -r folder && mkdir gone.txt && echo x > gone.txt/inside',
      'echo more >> untracked.txt; chmod +x a.txt; ln -sfn elsewhere link; echo odd > "$(printf \'new\\n"name\\\\\')"',
      'printf "\\377\\376" > "$(printf "bytes-\\377")"; echo built > out/ignored.o',
    ];
    const world = new UndoWorld([[{ patch: PATCH }], ...commands.map(shell => [{ shell }])]);
    world.write('work/.gitignore', '*.o\n');
    world.write('work/a.txt', 'one\n');
    world.write('work/gone.txt', 'to go\r\n');
    world.write('work/folder/deep/c.sh', '#!/bin/sh\n', 0o755);
    symlinkSync('a.txt', path.join(world.cwd, 'link'));
    world.commit();
    world.write('work/a.txt', 'one\nnot committed\n');
    world.write('work/staged.txt', 'staged\n');
    world.git('add', 'staged.txt');
    world.write('work/untracked.txt', 'untracked\n');
    world.write('work/out/ignored.o', 'old');
    const before = world.files();
    const git = world.gitState();
    const thread = await world.thread();
    await runTurn(thread, 'go');
    const after = world.files();
    expect(world.gitState()).toEqual(git);
    const report = await world.undo(thread.id);
    expect(world.files()).toEqual({ ...before, 'out/ignored.o': 'built\n' });
    expect(world.gitState()).toEqual(git);
    expect(doneIn(report)).toEqual({
      'a.txt': 'restored',
      'new/b.txt': 'deleted',
      'gone.txt': 'created',
      'gone.txt/inside': 'deleted',
      'folder/deep/c.sh': 'created',
      'untracked.txt': 'restored',
      link: 'restored',
      'new\n"name\\': 'deleted',
      'bytes-\ufffd': 'deleted',
    });
    expect(existsSync(path.join(world.cwd, 'new'))).toBe(false);
    await world.undo(thread.id, { redo: true });
    expect(world.files()).toEqual(after);
    expect(world.gitState()).toEqual(git);
  });

  test('goes back turn by turn, and forward again', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }], [{ say: 'x' }], [{ shell: 'true' }], [{ say: 'x' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'first');
    await runTurn(thread, 'second changes nothing');
    world.provider.add([{ shell: 'echo 3 > f; echo g > g' }], [{ say: 'x' }]);
    await runTurn(thread, 'third');
    expect(await world.undo(thread.id)).toMatchObject({ type: 'done', turn: 3 });
    expect(world.files()).toEqual({ f: '1\n' });
    expect(await world.undo(thread.id)).toMatchObject({ type: 'done', turn: 1 });
    expect(world.files()).toEqual({});
    expect(await world.undo(thread.id)).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('All turns'),
    });
    expect(await world.undo(thread.id, { redo: true })).toMatchObject({ turn: 1 });
    expect(await world.undo(thread.id, { redo: true })).toMatchObject({ turn: 3 });
    expect(world.files()).toEqual({ f: '3\n', g: 'g\n' });
    expect(await world.undo(thread.id, { redo: true })).toMatchObject({ type: 'refused' });
    expect(await world.undo(thread.id, { turn: 2 })).toEqual({
      type: 'refused',
      message: 'Turn 2 changed no files, or there is no snapshot of it. Turns that can be undone: 1, 3.',
      conflicts: [],
    });
  });

  test('only says what it would do in a dry run', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'go');
    const snapshots = world.snapshots();
    const rollout = readFileSync(thread.settings.rollout_path ?? '', 'utf8');
    expect(await world.undo(thread.id, { dryRun: true })).toEqual({
      type: 'done',
      turn: 1,
      root: world.cwd,
      files: [{ path: 'f', done: 'deleted' }],
      dry_run: true,
    });
    expect(world.files()).toEqual({ f: '1\n' });
    expect(world.snapshots()).toEqual(snapshots);
    expect(readFileSync(thread.settings.rollout_path ?? '', 'utf8')).toBe(rollout);
  });

  test('does not overwrite what changed after the turn unless it is forced to, and that can be taken back too', async () => {
    const world = new UndoWorld([[{ shell: 'echo agent > f; echo agent > g; rm h' }]]);
    for (const name of ['f', 'g', 'h']) world.write(`work/${name}`, 'mine\n');
    world.commit();
    const thread = await world.thread();
    await runTurn(thread, 'go');
    world.write('work/f', 'mine again\n');
    world.write('work/g', 'mine\n');
    world.write('work/other', 'untouched by the turn\n');
    expect(await world.undo(thread.id)).toMatchObject({ type: 'refused', conflicts: ['f'] });
    expect(await world.undo(thread.id, { dryRun: true })).toMatchObject({ type: 'refused', conflicts: ['f'] });
    const present = world.files();
    expect((await world.undo(thread.id, { force: true })).type).toBe('done');
    expect(world.files()).toEqual({ f: 'mine\n', g: 'mine\n', h: 'mine\n', other: 'untouched by the turn\n' });
    await world.undo(thread.id, { redo: true });
    expect(world.files()).toEqual(present);
  });

  test('tells the model in the next turn, also of a server that has the thread open', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }], [{ say: 'done' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'go');
    await world.undo(thread.id);
    await runTurn(thread, 'and now?');
    const [note] = textsOf(world.provider.requests.at(-1), 'developer').filter(text => text.startsWith('<workspace_'));
    expect(note).toContain(
      `Files in ${world.cwd} were put back to what they were before turn 1 of this thread:\n- "f" (deleted)`,
    );
    expect(textsOf(world.provider.requests.at(-1), 'user').at(-1)).toBe('and now?');
  });

  test('is refused when the snapshot is no longer there, or the repository', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'go');
    for (const ref of world.snapshots()) world.git('update-ref', '-d', ref);
    world.git('gc', '-q', '--prune=now');
    expect(await world.undo(thread.id)).toMatchObject({
      message: expect.stringContaining(`The snapshot of turn 1 is no longer in ${world.cwd}`),
    });
    rmSync(path.join(world.cwd, '.git'), { recursive: true });
    expect(await world.undo(thread.id)).toMatchObject({ message: `${world.cwd} is no longer a git work tree.` });
    rmSync(world.cwd, { recursive: true });
    expect(await world.undo(thread.id)).toMatchObject({ message: expect.stringContaining("can't be restored") });
  });

  test('is refused while a turn of the thread runs', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'go');
    const lock = await acquireThreadLock(world.home, thread.id, { waitMs: 0, warn: () => {} });
    expect(await world.undo(thread.id)).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('in use by'),
    });
    if (lock.type === 'locked') lock.lock.release();
    expect((await world.undo(thread.id)).type).toBe('done');
  });

  test('of a turn whose process died takes back everything since its beginning, by force only', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }, { usage: null }], [{ stall: true }]]);
    world.write('work/keep', 'k');
    const thread = await world.thread();
    const file = thread.settings.rollout_path ?? '';
    let crashed = '';
    const stop = new AbortController();
    await runTurn(thread, 'go', {
      signal: stop.signal,
      onEvent: event => {
        if (event.type !== 'usage.updated') return;
        crashed = readFileSync(file, 'utf8');
        setImmediate(() => stop.abort());
      },
    });
    writeFileSync(file, crashed);
    world.write('work/later', 'l');
    expect(await world.undo(thread.id)).toMatchObject({ type: 'refused', message: expect.stringContaining('--force') });
    expect(doneIn(await world.undo(thread.id, { force: true, dryRun: true }))).toEqual({
      f: 'deleted',
      later: 'deleted',
    });
    await world.undo(thread.id, { force: true });
    expect(world.files()).toEqual({ keep: 'k' });
    await world.undo(thread.id, { redo: true });
    expect(world.files()).toEqual({ keep: 'k', f: '1\n', later: 'l' });
  });

  test('works for a turn that was interrupted', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }], [{ stall: true }]]);
    const thread = await world.thread();
    const stop = new AbortController();
    const turn = await runTurn(thread, 'go', {
      signal: stop.signal,
      onEvent: event => void (event.type === 'usage.updated' && setImmediate(() => stop.abort())),
    });
    expect(turn.status).toBe('aborted');
    // On a busy machine there may have been no time for the snapshot at the end.
    expect(doneIn(await world.undo(thread.id, { force: true }))).toEqual({ f: 'deleted' });
  });
});

describeIf('git', 'snapshots', () => {
  test('are taken only when the feature is on and something may write', async () => {
    const world = new UndoWorld([[{ shell: 'cat f' }], [{ say: 'x' }], [{ shell: 'echo 1 > f' }]]);
    await runTurn(await world.thread({ c: ['sandbox_mode=read-only'] }), 'look');
    await runTurn(await world.thread({ c: ['features.undo=false'] }), 'write');
    expect(world.snapshots()).toEqual([]);
    world.provider.add([{ shell: 'true' }]);
    await runTurn(await world.thread(), 'a command that changes nothing');
    expect(world.snapshots()).toEqual([]);
  });

  test('outside a git work tree are not taken, and nobody is bothered', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }]]);
    rmSync(path.join(world.cwd, '.git'), { recursive: true });
    const thread = await world.thread();
    expect((await runTurn(thread, 'go')).warnings).toEqual([]);
    expect(await world.undo(thread.id)).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('This thread has no turn that can be undone'),
    });
  });

  test('in a repository without a commit, in the middle of a merge and in a worktree work as well', async () => {
    const empty = new UndoWorld([[{ shell: 'echo 2 > f; rm g' }]]);
    empty.write('work/f', '1\n');
    empty.write('work/g', 'g\n');
    empty.git('add', 'f');
    const first = await empty.thread();
    await runTurn(first, 'go');
    await empty.undo(first.id);
    expect(empty.files()).toEqual({ f: '1\n', g: 'g\n' });

    const merging = new UndoWorld([[{ shell: 'echo resolved > f; echo 2 > g' }]]);
    merging.write('work/f', 'base\n');
    merging.write('work/g', '1\n');
    merging.commit();
    merging.git('checkout', '-q', '-b', 'other');
    merging.write('work/f', 'other\n');
    merging.commit();
    merging.git('checkout', '-q', 'main');
    merging.write('work/f', 'main\n');
    merging.commit();
    expect(() => merging.git('merge', 'other')).toThrow('Command failed');
    const conflict = merging.files();
    const second = await merging.thread();
    await runTurn(second, 'go');
    expect(doneIn(await merging.undo(second.id))).toEqual({ f: 'restored', g: 'restored' });
    expect(merging.files()).toEqual(conflict);
    expect(merging.git('ls-files', '--unmerged')).not.toBe('');

    const linked = new UndoWorld([[{ shell: 'echo 2 > f' }]]);
    linked.write('work/f', '1\n');
    linked.commit();
    const tree = path.join(linked.root, 'tree');
    linked.git('worktree', 'add', '-q', tree);
    const third = await linked.thread({ cwd: tree });
    await runTurn(third, 'go');
    expect(await linked.undo(third.id)).toMatchObject({ type: 'done', root: tree });
    expect(readFileSync(path.join(tree, 'f'), 'utf8')).toBe('1\n');
  });

  test('keep line ends: those of changed files byte for byte, those of others as git makes them', async () => {
    const world = new UndoWorld([[{ shell: 'echo x > crlf.txt; echo x > dirty.txt; echo x > auto.txt' }]]);
    world.write('work/.gitattributes', 'crlf.txt text eol=crlf\nauto.txt text=auto\n*.lfs filter=x\n');
    world.write('work/crlf.txt', 'a\r\nb\r\n');
    world.write('work/auto.txt', 'a\nb\n');
    world.write('work/dirty.txt', 'clean\n');
    world.commit();
    world.write('work/dirty.txt', 'a\r\nb\n');
    const before = world.files();
    const thread = await world.thread();
    await runTurn(thread, 'go');
    await world.undo(thread.id);
    expect(world.files()).toEqual(before);
  });

  test('do not touch submodules and nested repositories', async () => {
    const world = new UndoWorld([[{ shell: 'echo 2 > sub/f; echo 2 > nested/f; echo 2 > f' }]]);
    const other = path.join(world.root, 'other');
    mkdirSync(other);
    world.git('init', '-q', other);
    world.git('-C', other, '-c', 'user.email=a@b', '-c', 'user.name=a', 'commit', '-q', '--allow-empty', '-m', 'c');
    world.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub');
    world.write('work/f', '1\n');
    world.commit();
    world.git('init', '-q', 'nested');
    world.write('work/nested/f', '1\n');
    const thread = await world.thread();
    await runTurn(thread, 'go');
    expect(doneIn(await world.undo(thread.id))).toEqual({ f: 'restored' });
    expect(world.files()).toMatchObject({ 'sub/f': '2\n', 'nested/f': '2\n', f: '1\n' });
  });

  test('need git, and say so', async () => {
    const world = new UndoWorld([[{ shell: 'echo x > f' }]]);
    const thread = await world.thread();
    await runTurn(thread, 'go');
    expect(await world.undo(thread.id, { env: { ...world.env(), PATH: '/nonexistent' } })).toMatchObject({
      message: `${world.cwd} can't be restored: git: command not found.`,
    });
  });

  test('leave files alone that are too large, and say why there is none at all', async () => {
    const world = new UndoWorld([[{ shell: 'echo x > large; echo x > small' }]]);
    world.write('work/large', Buffer.alloc(17 * 1024 * 1024));
    world.write('work/small', 'before');
    const thread = await world.thread();
    await runTurn(thread, 'go');
    expect(doneIn(await world.undo(thread.id))).toEqual({ small: 'restored' });
    const full = new UndoWorld([[{ shell: 'echo x > f' }], [{ say: 'x' }], [{ shell: 'echo y > f' }]]);
    for (let i = 0; i < 5; i++) full.write(`work/part${i}`, Buffer.alloc(15 * 1024 * 1024, i));
    const crowded = await full.thread();
    const first = await runTurn(crowded, 'go');
    expect(first.warnings).toEqual([expect.stringMatching(/can't be undone later: .* more than 64 MiB/)]);
    expect((await runTurn(crowded, 'go')).warnings).toEqual([]);
    expect(full.files()['f']).toBe('y\n');
  });

  test('of old turns go when there are many', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }]]);
    world.write('work/f', '0');
    world.commit();
    for (let i = 0; i < 120; i++) {
      world.git('update-ref', `refs/open-interpreter/t/0000-${String(i).padStart(3, '0')}/before`, 'HEAD');
    }
    const thread = await world.thread();
    await runTurn(thread, 'go');
    const kept = world.snapshots();
    expect(kept).toHaveLength(101);
    expect(kept).not.toContain('refs/open-interpreter/t/0000-020/before');
    expect(kept).toContain('refs/open-interpreter/t/0000-119/before');
    expect((await world.undo(thread.id)).type).toBe('done');
  });
});

describeIf('git', 'a hostile repository', () => {
  test('has nothing run by a snapshot or an undo', async () => {
    const world = new UndoWorld([[{ shell: 'echo 2 > f; echo 2 > g.x; echo 2 > new.x' }]]);
    const bait = world.write('bait.sh', `#!/bin/sh\ntouch ${world.root}/caught\ncat\n`, 0o755);
    world.write('work/f', '1\n');
    world.write('work/g.x', '1\n');
    world.write('work/racy.x', 'r\n');
    world.commit();
    world.write('work/.gitattributes', '*.x filter=evil diff=evil merge=evil\n');
    for (const hook of ['post-index-change', 'reference-transaction', 'pre-auto-gc', 'post-checkout']) {
      world.write(`work/.git/hooks/${hook}`, readFileSync(bait, 'utf8'), 0o755);
    }
    const keys = [
      'core.fsmonitor',
      'core.pager',
      'core.editor',
      'core.sshCommand',
      'core.alternateRefsCommand',
      'diff.external',
      'diff.evil.textconv',
      'diff.evil.command',
      'filter.evil.clean',
      'filter.evil.smudge',
      'filter.evil.process',
      'gpg.program',
      'credential.helper',
    ];
    for (const key of keys) world.git('config', '--file', path.join(world.cwd, '.git/config'), key, bait);
    world.git('config', '--file', path.join(world.cwd, '.git/config'), 'filter.evil.required', 'true');
    writeFileSync(path.join(world.cwd, 'racy.x'), 'R\n');
    const thread = await world.thread();
    expect((await runTurn(thread, 'go')).warnings).toEqual([]);
    expect(doneIn(await world.undo(thread.id))).toEqual({
      f: 'restored',
      'g.x': 'left_alone: git runs a filter on it',
      'new.x': 'deleted',
    });
    await world.undo(thread.id, { redo: true, force: true });
    expect(existsSync(path.join(world.root, 'caught'))).toBe(false);
  });

  test('can not lead an undo out of the work tree by links', async () => {
    const world = new UndoWorld([[{ shell: 'echo 2 > dir/f; echo 2 > link' }]]);
    world.write('work/dir/f', '1\n');
    world.write('work/link', '1\n');
    world.write('outside/f', 'outside\n');
    world.commit();
    const thread = await world.thread();
    await runTurn(thread, 'go');
    rmSync(path.join(world.cwd, 'dir'), { recursive: true });
    symlinkSync(path.join(world.root, 'outside'), path.join(world.cwd, 'dir'));
    rmSync(path.join(world.cwd, 'link'));
    symlinkSync(path.join(world.root, 'outside/f'), path.join(world.cwd, 'link'));
    const report = await world.undo(thread.id, { force: true });
    expect(doneIn(report)).toEqual({ 'dir/f': 'left_alone: dir is no longer a folder', link: 'restored' });
    expect(readFileSync(path.join(world.root, 'outside/f'), 'utf8')).toBe('outside\n');
    expect(readFileSync(path.join(world.cwd, 'link'), 'utf8')).toBe('1\n');
  });

  test('can not have a file deleted that was there before and only looked new', async () => {
    const world = new UndoWorld([[{ shell: 'echo > .gitignore; echo x > new' }]]);
    world.write('work/.gitignore', '.env\n');
    world.write('work/.env', 'PRECIOUS=1\n');
    world.commit();
    // The clock of the file system has to have moved on.
    await until(() => Date.now() - statSync(path.join(world.cwd, '.env')).ctimeMs > 100);
    const thread = await world.thread();
    await runTurn(thread, 'go');
    expect(doneIn(await world.undo(thread.id))).toEqual({
      '.env': 'left_alone: it is older than the turn',
      '.gitignore': 'restored',
      new: 'deleted',
    });
    expect(world.files()['.env']).toBe('PRECIOUS=1\n');
  });

  test('that claims a work tree elsewhere gets no snapshot', async () => {
    const world = new UndoWorld([[{ shell: 'echo 1 > f' }]]);
    world.git('config', 'core.worktree', world.root);
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn.status).toBe('completed');
    expect(world.git('for-each-ref', 'refs/open-interpreter')).toBe('');
  });
});

describeIf('git', 'files', () => {
  test('keep their permissions, and folders that can not be written are told', async () => {
    const world = new UndoWorld([[{ shell: 'echo 2 > private; rm tool; echo 2 > tool' }]]);
    world.write('work/private', '1\n');
    world.write('work/tool', '1\n', 0o755);
    chmodSync(path.join(world.cwd, 'private'), 0o600);
    world.commit();
    const thread = await world.thread();
    await runTurn(thread, 'go');
    await world.undo(thread.id);
    expect(world.files()).toEqual({ private: '1\n', tool: 'x 1\n' });
    expect(readdirSync(world.cwd).sort()).toEqual(['.git', 'private', 'tool']);
  });
});
