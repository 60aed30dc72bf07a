/** The `notify` program. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { AgentWorld, runTurn } from '../support/agent-world.js';
import { isAlive } from '../support/processes.js';
import { until } from '../support/until.js';

/** A program that writes its last argument to `told` and then does `more`. */
function notifier(world: AgentWorld, more = ''): string[] {
  const script = world.write(
    'notify.sh',
    `#!/bin/sh\nfor last; do :; done\nprintf %s "$last" > ${world.root}/told.new\nmv ${world.root}/told.new ${world.root}/told\n${more}\n`,
    0o755,
  );
  world.write('home/config.toml', `notify = ${JSON.stringify([script, 'first'])}\n`);
  return [script];
}

const told = (world: AgentWorld) => {
  const file = path.join(world.root, 'told');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : null;
};

test('is told about a completed turn, while the turn does not wait for it', async () => {
  const world = new AgentWorld([[{ say: 'the answer' }]]);
  notifier(world, `while [ ! -e ${world.root}/go ]; do sleep 0.02; done; touch ${world.root}/gone`);
  const manager = world.manager();
  const thread = await manager.startThread(world.config(), 'exec');
  const turn = await runTurn(thread, 'the prompt');
  expect(turn.status).toBe('completed');
  expect(await until(() => told(world))).toEqual({
    type: 'agent-turn-complete',
    'thread-id': thread.id,
    'turn-id': turn.turn_id,
    cwd: world.cwd,
    client: 'open_interpreter_exec',
    'input-messages': ['the prompt'],
    'last-assistant-message': 'the answer',
  });
  expect(existsSync(path.join(world.root, 'gone'))).toBe(false);
  writeFileSync(path.join(world.root, 'go'), '');
  await manager.close();
  expect(existsSync(path.join(world.root, 'gone'))).toBe(true);
  expect(world.log).toEqual([]);
});

test('that fails or is not there only leaves a line in the log', async () => {
  const world = new AgentWorld();
  notifier(world, 'echo "no display" >&2; exit 3');
  await runTurn(await world.thread(), 'hi');
  expect(await until(() => world.log[0])).toMatch(/notify program .*notify\.sh exited with code 3: no display/);
  const missing = new AgentWorld();
  missing.write('home/config.toml', 'notify = ["/nowhere/notify"]\n');
  expect((await runTurn(await missing.thread(), 'hi')).warnings).toEqual([]);
  expect(await until(() => missing.log[0])).toMatch(/notify program \/nowhere\/notify not started: .*not found/);
});

test('is not told about turns that failed or were interrupted', async () => {
  const world = new AgentWorld([[{ fail: { message: 'no' } }], [{ stall: true }]]);
  notifier(world);
  const manager = world.manager();
  const thread = await manager.startThread(world.config(), 'mcp');
  await runTurn(thread, 'hi');
  const stop = new AbortController();
  const running = runTurn(thread, 'hi', {
    signal: stop.signal,
    onEvent: event => event.type === 'turn.started' && setImmediate(() => stop.abort()),
  });
  expect((await running).status).toBe('aborted');
  await manager.close();
  expect(told(world)).toBeNull();
});

test('gets long messages cut to what one argument can hold', async () => {
  const world = new AgentWorld([[{ say: '"\n'.repeat(100_000) }]]);
  notifier(world);
  await runTurn(await world.thread(), 'long '.repeat(50_000));
  const message = await until(() => told(world));
  expect(message['last-assistant-message']).toMatch(/^"\n"\n[\s\S]*…\d+ bytes left out…[\s\S]*"\n$/);
  expect(message['input-messages']).toEqual([expect.stringMatching(/^long long .*left out.* long $/)]);
});

test('that hangs is ended with the process', async () => {
  const world = new AgentWorld();
  notifier(world, `echo $$ > ${world.root}/pid; exec sleep 600`);
  const manager = world.manager();
  await runTurn(await manager.startThread(world.config(), 'mcp'), 'hi');
  const file = path.join(world.root, 'pid');
  const pid = await until(() => existsSync(file) && readFileSync(file, 'utf8').trim());
  await manager.close();
  await world.sandbox.close();
  expect(isAlive(pid)).toBe(false);
});
