/** `interpreter threads undo`: what it prints and its exit status. */
import { expect, test } from 'vitest';
import { type UndoFlags, undoCommand } from '../../src/cli/undo-command.js';
import { UndoWorld } from '../agent/undo-support.js';
import { runTurn } from '../support/agent-world.js';
import { describeIf } from '../support/requires.js';

async function undo(world: UndoWorld, id: string, flags: Partial<UndoFlags> = {}) {
  let out = '';
  let err = '';
  const output = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
  };
  const all = { redo: false, dryRun: false, force: false, json: false, ...flags };
  const status = await undoCommand({ home: world.home, env: world.env() }, id, all, output);
  return { out, err, status };
}

describeIf('git', 'threads undo', () => {
  test('says what it would do, does it, and takes it back', async () => {
    const world = new UndoWorld([[{ shell: 'echo 2 > f; echo 1 > g; rm h' }]]);
    world.write('work/f', '1\n');
    world.write('work/h', '1\n');
    const thread = await world.thread();
    await runTurn(thread, 'go');
    const short = thread.id.slice(0, 20);
    expect(await undo(world, short, { dryRun: true })).toEqual({
      out: `Turn 1 in ${world.cwd}:\n  would be restored  f\n  would be deleted   g\n  would be created   h\nNothing was changed.\n`,
      err: '',
      status: 0,
    });
    expect(await undo(world, short)).toEqual({
      out: `Turn 1 in ${world.cwd}:\n  restored  f\n  deleted   g\n  created   h\nTo take this back: interpreter threads undo ${thread.id} --redo\n`,
      err: '',
      status: 0,
    });
    const redone = await undo(world, short, { redo: true, json: true });
    expect(JSON.parse(redone.out)).toMatchObject({ type: 'done', turn: 1, dry_run: false });
    expect(world.files()).toEqual({ f: '2\n', g: '1\n' });
    world.write('work/f', 'mine\n');
    expect(await undo(world, short)).toEqual({
      out: '',
      err: 'Files of turn 1 have changed since; --force overwrites them.\n  f\n',
      status: 1,
    });
    expect((await undo(world, short, { force: true, turn: 1 })).status).toBe(0);
    expect(world.files()).toEqual({ f: '1\n', h: '1\n' });
  });

  test('ends with status 1 and a line for an unknown thread', async () => {
    const world = new UndoWorld();
    expect(await undo(world, '01a22728-edd7-72e1-a004-b508dc2ec8f3')).toEqual({
      out: '',
      err: `No thread with the id 01a22728-edd7-72e1-a004-b508dc2ec8f3 was found in ${world.home}.\n`,
      status: 1,
    });
  });
});
