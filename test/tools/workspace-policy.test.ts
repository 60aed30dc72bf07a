import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { AgentWorld, runTurn } from '../support/agent-world.js';
import { describeIf } from '../support/requires.js';
import { outputOf } from '../support/scripted-provider.js';

const WORKSPACE_WRITE = { c: ['sandbox_mode="workspace-write"'] };

test('a patch behind `cd DIR &&` does not make DIR a writable folder', async () => {
  const world = new AgentWorld();
  const outside = path.join(world.root, 'outside');
  mkdirSync(outside);
  const patch = '*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch';
  world.provider.add([{ shell: `cd ${outside} && apply_patch <<'EOF'\n${patch}\nEOF`, id: 'p' }]);
  await runTurn(await world.thread(WORKSPACE_WRITE), 'go');
  expect(outputOf(world.provider.requests[1], 'p')).toMatch(/rejected/);
  expect(existsSync(path.join(outside, 'new.txt'))).toBe(false);
});

describeIf('bubblewrap', 'in the sandbox', () => {
  test('commands may write in the workspace, also from a folder of it, and not in a `workdir` outside of it', async () => {
    const world = new AgentWorld();
    for (const folder of ['work/sub', 'outside']) mkdirSync(path.join(world.root, folder));
    world.provider.add([
      { shell: 'echo one > one', args: { workdir: 'sub' } },
      { shell: 'echo two > ../two', args: { workdir: 'sub' } },
      { shell: 'echo three > three', args: { workdir: path.join(world.root, 'outside') } },
    ]);
    await runTurn(await world.thread(WORKSPACE_WRITE), 'go');
    expect(readFileSync(path.join(world.cwd, 'sub/one'), 'utf8')).toBe('one\n');
    expect(readFileSync(path.join(world.cwd, 'two'), 'utf8')).toBe('two\n');
    expect(existsSync(path.join(world.root, 'outside/three'))).toBe(false);
  });
});
