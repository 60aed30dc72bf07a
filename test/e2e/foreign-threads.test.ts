/** Threads that codex 0.148 wrote are continued by `codex-reply`, over every wire API and by its own rules. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { WIRES } from '../providers/wires.js';
import { serverWorld } from './server-world.js';

const FIXTURES = path.join(import.meta.dirname, '../fixtures/rollouts');

/** Copies the threads, with `cwd` in the place of theirs. Returns their ids. */
function copyThreads(home: string, cwd: string): string[] {
  cpSync(FIXTURES, home, { recursive: true });
  const names = readdirSync(path.join(home, 'sessions'), { recursive: true }).map(String);
  return names
    .filter(name => name.endsWith('.jsonl'))
    .map(name => {
      const file = path.join(home, 'sessions', name);
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"cwd":"/w"', `"cwd":${JSON.stringify(cwd)}`));
      return name.slice(-'01a227ca-2205-7851-b3c2-9b7759e82ee7.jsonl'.length, -'.jsonl'.length);
    });
}

describe.each(WIRES)('over $wire', ({ wire, stream, fault }) => {
  it('each thread goes on: a command, an answer, another reply, and one after a restart', async () => {
    const world = await serverWorld([]);
    const ids = copyThreads(world.home, world.cwd);
    expect(ids).toHaveLength(8);
    const provider = `[model_providers.mock_provider]\nname = "mock"\nbase_url = "${world.server.url}"\nwire_api = "${wire}"\n`;
    world.write('home/config.toml', `${world.read('home/config.toml')}\n${provider}`);
    const first = world.start();
    await first.client.initialize();
    for (const [n, threadId] of ids.entries()) {
      const call = { call: 'exec_command', id: `new_${n}`, args: '{"cmd":"echo here","login":false}' };
      world.server.reply(
        { stream: stream([{ think: 'hm' }, { say: 'I look' }, call]) },
        { stream: stream([{ say: 'answer' }]) },
      );
      const { result } = await first.client.call('codex-reply', { threadId, prompt: 'go on' });
      expect(result.structuredContent).toMatchObject({ threadId, content: 'answer', status: 'completed' });
      const again = await first.client.call('codex-reply', { threadId, prompt: 'and again' });
      expect(again.result.structuredContent).toMatchObject({ content: 'answer' });
    }
    const second = world.start();
    await second.client.initialize();
    for (const threadId of ids) {
      const { result } = await second.client.call('codex-reply', { threadId, prompt: 'after a restart' });
      expect(result.structuredContent).toMatchObject({ content: 'answer', status: 'completed' });
    }
    const faults = world.server.requests.map(({ body }) => fault(body)).filter(one => one !== null);
    expect(faults).toEqual([]);
    expect(world.server.requests).toHaveLength(ids.length * 4);
    const last = JSON.stringify(world.server.requests.at(-1)?.body);
    for (const said of ['go on', 'here', 'and again', 'after a restart']) expect(last).toContain(said);
  });
});
