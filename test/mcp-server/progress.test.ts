import { afterEach, expect, test, vi } from 'vitest';
import { type Step, script } from '../support/scripted-threads.js';
import { type LocalServer, startServer } from './local-server.js';

let local: LocalServer;
afterEach(async () => {
  vi.useRealTimers();
  await local.server.close();
});

async function progressOf(...steps: Step[]): Promise<{ progress: number; message: string; progressToken: unknown }[]> {
  local = startServer();
  await local.client.initialize();
  await local.client.call('codex', { prompt: script(...steps) }, { token: 'pt-1' });
  return local.client.notifications('notifications/progress').map(({ params }) => params);
}

test('progress tells what happens, in rising numbers, under the token of the call', async () => {
  const got = await progressOf(
    { think: 'hm' },
    { command: 'npm   test\n--watch' },
    { patch: { '/w/src/a.ts': { type: 'add', content: '' }, '/elsewhere': { type: 'delete', content: '' } } },
    { tool: 'echo', server: 'fk' },
    { search: 'vitest' },
    { image: '/w/i.png' },
    { compact: true },
    { say: 'done' },
  );
  expect(got).toEqual(
    [
      'starting',
      'thinking',
      'running: npm test --watch',
      'thinking',
      'editing src/a.ts, /elsewhere',
      'using echo of fk',
      'thinking',
      'searching the web: vitest',
      'summarising the thread',
      'writing an answer',
    ].map((message, i) => ({ progressToken: 'pt-1', progress: i + 1, message })),
  );
});

test('long commands are cut to a line a person can read', async () => {
  const [, , running] = await progressOf({ command: 'x'.repeat(5000) });
  expect(running?.message).toMatch(/^running: x{100,}…$/);
  expect(running?.message.length).toBeLessThanOrEqual(120);
});

test('without a token there is none', async () => {
  local = startServer();
  await local.client.initialize();
  await local.client.call('codex', { prompt: 'x' });
  expect(local.client.notifications('notifications/progress')).toEqual([]);
});

test('all of it comes before the result, and none after a cancellation', async () => {
  await progressOf({ say: 'x' });
  const { client } = local;
  const answered = client.messages.findLastIndex(({ method }) => method === undefined);
  expect(client.messages.findLastIndex(({ method }) => method === 'notifications/progress')).toBeLessThan(answered);

  const prompt = script({ wait: -1 }, { command: 'late' });
  const params = { name: 'codex', arguments: { prompt }, _meta: { progressToken: 2 } };
  client.send({ id: 'c', method: 'tools/call', params });
  await client.waitFor(() =>
    client
      .notifications('notifications/progress')
      .find(({ params }) => params.message === 'thinking' && params.progressToken === 2),
  );
  const before = client.notifications('notifications/progress').length;
  client.notify('notifications/cancelled', { requestId: 'c' });
  await client.waitFor(() => client.events('turn_aborted')[0]);
  expect(client.notifications('notifications/progress').length).toBe(before);
});

test('a silent call shows a sign of life at least every five seconds', async () => {
  local = startServer();
  await local.client.initialize();
  await local.client.call('codex', { prompt: 'warm up' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const prompt = script({ wait: -1 });
  const params = { name: 'codex', arguments: { prompt }, _meta: { progressToken: 7 } };
  local.client.send({ id: 1, method: 'tools/call', params });
  const beats = () => local.client.notifications('notifications/progress').map(({ params }) => params);
  await local.client.waitFor(() => beats().length === 2);
  for (let i = 1; i <= 5; i++) {
    vi.advanceTimersByTime(5_000);
    await local.client.waitFor(() => beats().length >= 2 + i);
  }
  const numbers = beats().map(({ progress }) => progress);
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  expect(beats().at(-1)?.message).toMatch(/^thinking \(\d+ s\)$/);
});
