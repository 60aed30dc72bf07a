/** `exec resume`, `exec fork` and `--ephemeral`. */
import { existsSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ExecWorld } from '../support/exec-world.js';
import { answer } from '../support/scripted-answers.js';

const create = () => ExecWorld.create([answer({ say: 'one' }), answer({ say: 'two' }), answer({ say: 'three' })]);

/** The messages of the last request, without the context. */
function messages(world: ExecWorld): string[] {
  const input = world.server.requests.at(-1)?.body['input'] as { role?: string; content?: { text?: string }[] }[];
  return input.flatMap(({ role, content }) => {
    const text = content?.map(part => part.text ?? '').join('') ?? '';
    return role === 'developer' || /^[#<]/.test(text) ? [] : [`${role}: ${text}`];
  });
}

const texts = (world: ExecWorld) => JSON.stringify(world.server.requests.at(-1)?.body['input']);

test('a resumed thread keeps its id, its history and its totals, and tells what changed', async () => {
  const world = await create();
  const first = await world.json(['-s', 'read-only', 'q1']);
  mkdirSync(`${world.root}/other`);
  const id = first.threadId.toUpperCase();
  const second = await world.json(['-C', `${world.root}/other`, '-s', 'workspace-write', 'resume', id, 'q2']);
  expect(second.threadId).toBe(first.threadId);
  expect(messages(world)).toEqual(['user: q1', 'assistant: one', 'user: q2']);
  expect(second.events.at(-1)).toMatchObject({ usage: { input_tokens: 200, output_tokens: 40 } });
  expect(texts(world)).toContain(`${world.root}/other`);
  const third = await world.json(['resume', `urn:uuid:${first.threadId}`, '-'], { input: 'q3' });
  expect(third.threadId).toBe(first.threadId);
  expect(messages(world)).toHaveLength(5);
});

test('resume --last takes the newest thread of the directory, with --all of any, of the same provider', async () => {
  const world = await create();
  mkdirSync(`${world.root}/other`);
  const here = await world.json(['here']);
  const there = await world.json(['there'], { cwd: `${world.root}/other` });
  const provider = ['-c', 'model_provider=second', '-c', `model_providers.second.base_url=${world.server.url}`];
  const other = await world.json([...provider, 'elsewhere']);
  expect((await world.json(['resume', '--last', 'again'])).threadId).toBe(here.threadId);
  expect((await world.json(['resume', '--last', '--all', 'again'])).threadId).toBe(here.threadId);
  expect((await world.json(['resume', '--last', 'again'], { cwd: `${world.root}/other` })).threadId).toBe(
    there.threadId,
  );
  expect((await world.json(['resume', '--last', '--all', 'x'])).threadId).toBe(there.threadId);
  expect((await world.json([...provider, 'resume', '--last', 'x'])).threadId).toBe(other.threadId);
});

test('a fork goes on with a copy and leaves the thread as it is', async () => {
  const world = await create();
  const parent = await world.json(['q1']);
  const fork = await world.json(['fork', parent.threadId, 'q2']);
  expect(fork.threadId).not.toBe(parent.threadId);
  expect(messages(world)).toEqual(['user: q1', 'assistant: one', 'user: q2']);
  expect(fork.events.at(-1)).toMatchObject({ usage: { input_tokens: 200, output_tokens: 40 } });
  await world.json(['resume', parent.threadId, 'q3']);
  expect(messages(world)).toEqual(['user: q1', 'assistant: one', 'user: q3']);
  await world.json(['resume', fork.threadId, 'q4']);
  expect(messages(world)).toEqual(['user: q1', 'assistant: one', 'user: q2', 'assistant: two', 'user: q4']);
});

test('a fork without a prompt is only made', async () => {
  const world = await create();
  const parent = await world.json(['q1']);
  const { events, threadId, code } = await world.json(['fork', parent.threadId]);
  expect({ events, code }).toEqual({ events: [{ type: 'thread.started', thread_id: threadId }], code: 0 });
  const human = await world.exec(['fork', threadId]);
  expect(human.out).toMatch(/^[0-9a-f-]{36}\n$/);
  expect(world.server.requests).toHaveLength(1);
  await world.json(['resume', human.out.trim(), 'q2']);
  expect(messages(world)).toEqual(['user: q1', 'assistant: one', 'user: q2']);
  const list = await world.run(['threads', 'list', '--json']);
  // Newest first.
  const parents = (JSON.parse(list.out) as { forked_from_id: string | null }[]).map(one => one.forked_from_id);
  expect(parents).toEqual([threadId, parent.threadId, null]);
});

test('an ephemeral run leaves no thread, also when it resumes one', async () => {
  const world = await create();
  await world.json(['--ephemeral', 'q1']);
  expect(existsSync(`${world.home}/sessions`)).toBe(false);
  const kept = await world.json(['q2']);
  await world.json(['--ephemeral', 'resume', kept.threadId, 'q3']);
  expect(messages(world)).toEqual(['user: q2', 'assistant: two', 'user: q3']);
  await world.json(['resume', kept.threadId, 'q4']);
  expect(messages(world)).toEqual(['user: q2', 'assistant: two', 'user: q4']);
});
