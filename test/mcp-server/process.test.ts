/** What only a real process shows: pipes that fill up or break, signals, and what prints where. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { script } from '../support/scripted-threads.js';
import { buildFixture, type Fixture, type FixtureProcess, startFixture } from './fixture-process.js';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await buildFixture();
});
afterAll(() => fixture.remove());

const running: FixtureProcess[] = [];
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

function start(settings?: object): FixtureProcess {
  const started = startFixture(fixture, settings);
  running.push(started);
  return started;
}

test('nothing but protocol messages reaches stdout, whatever prints', async () => {
  const { client, stderr } = start();
  await client.initialize();
  const { result } = await client.call('codex', { prompt: script({ print: 'a stray line' }, { say: 'ok' }) });
  expect(result.structuredContent.content).toBe('ok');
  expect(client.garbage).toEqual([]);
  expect(stderr().match(/a stray line/g)).toHaveLength(2);
});

test.each(['end of input', 'SIGTERM'])(
  '%s while a turn runs: it is interrupted and the process ends well',
  async how => {
    const { client, child, exited } = start();
    await client.initialize();
    const params = { name: 'codex', arguments: { prompt: script({ wait: -1 }) } };
    client.send({ id: 1, method: 'tools/call', params });
    await client.waitFor(() => client.events('task_started')[0]);
    if (how === 'SIGTERM') child.kill('SIGTERM');
    else client.end();
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(client.events('turn_aborted')).toHaveLength(1);
  },
);

test('the end of input right after the greeting', async () => {
  const { client, exited } = start();
  client.end();
  expect(await exited).toEqual({ code: 0, signal: null });
});

test('a client that closed its reading end counts as gone', async () => {
  const { client, child, exited } = start();
  await client.initialize();
  child.stdout.destroy();
  client.send({ id: 1, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'x' } } });
  expect((await exited).code).toBe(0);
});

test('a client that reads late gets every result, and the answer to other requests', async () => {
  const { client, logged } = start();
  await client.initialize();
  client.pause();
  const say = 'y'.repeat(300_000);
  const prompt = script({ say, chunks: 300 }, { print: 'worked' });
  const calls = Array.from({ length: 4 }, () => client.call('codex', { prompt }));
  const ping = client.request('ping');
  await logged('worked', 8);
  client.resume();
  for (const { result } of await Promise.all(calls)) expect(result.structuredContent.content).toBe(say);
  expect((await ping).result).toEqual({});
  expect(client.garbage).toEqual([]);
});

test('a client that does not read costs a bounded amount: events are left out, results are not', async () => {
  const { client, logged } = start();
  await client.initialize();
  client.pause();
  const flood = [
    { flood: 'text' as const, count: 3000, size: 10_000 },
    { flood: 'output' as const, count: 3000, size: 10_000 },
    { flood: 'items' as const, count: 3000, size: 10_000 },
  ];
  const call = client.call('codex', { prompt: script(...flood, { say: 'the end' }, { print: 'worked' }) });
  await logged('worked', 2);
  client.resume();
  expect((await call).result.structuredContent.content).toBe('the end');
  const bytes = client.events().reduce((sum, event) => sum + JSON.stringify(event).length, 0);
  expect(bytes).toBeLessThan(20_000_000);
  const again = await client.call('codex', { prompt: 'x' }, { id: 'later' });
  expect(again.result.structuredContent.content).toBe('said: x');
  const later = client.events('task_complete').filter(({ _meta }) => _meta.requestId === 'later');
  expect(later).toHaveLength(1);
});
