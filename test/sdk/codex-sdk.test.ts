/** The Codex SDK as its users install it, with this program in the place of its own. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Codex, type CodexOptions, type Input, type ThreadEvent, type ThreadOptions } from '@openai/codex-sdk';
import { expect, test } from 'vitest';
import { ExecWorld, PROGRAM } from '../support/exec-world.js';
import type { Reply } from '../support/model-server.js';
import { isAlive } from '../support/processes.js';
import { describeIf } from '../support/requires.js';
import { answer } from '../support/scripted-answers.js';
import { until } from '../support/until.js';

async function create(replies: Reply[], options: CodexOptions = {}) {
  const world = await ExecWorld.create(replies);
  const codex = new Codex({ codexPathOverride: PROGRAM, env: world.env(), ...options });
  const start = (more: ThreadOptions = {}) =>
    codex.startThread({ workingDirectory: world.cwd, skipGitRepoCheck: true, ...more });
  return { world, codex, start, body: () => world.server.requests.at(-1)?.body ?? {} };
}

const USAGE = {
  input_tokens: 100,
  cached_input_tokens: 10,
  cache_write_input_tokens: 0,
  output_tokens: 20,
  reasoning_output_tokens: 5,
};

test('run gives items, answer and usage; the second turn goes on with the thread', async () => {
  const { world, start } = await create([answer({ think: 'Hm.' }, { shell: 'echo hi' }), answer({ say: 'one' })]);
  const thread = start();
  const turn = await thread.run('first');
  expect(turn).toEqual({
    items: [
      { id: 'item_0', type: 'reasoning', text: 'Hm.' },
      {
        id: 'item_1',
        type: 'command_execution',
        command: "/bin/bash -c 'echo hi'",
        aggregated_output: 'hi\n',
        exit_code: 0,
        status: 'completed',
      },
      { id: 'item_2', type: 'agent_message', text: 'one' },
    ],
    finalResponse: 'one',
    usage: { ...USAGE, input_tokens: 200, cached_input_tokens: 20, output_tokens: 40, reasoning_output_tokens: 10 },
  });
  const { id } = thread;
  const second = await thread.run('second');
  expect(thread.id).toBe(id);
  expect(second.usage?.input_tokens).toBe(300);
  expect(JSON.stringify(world.server.requests.at(-1)?.body['input'])).toContain('first');
});

test('runStreamed gives the events in order', async () => {
  const { start } = await create([answer({ plan: 'one: completed' }), answer({ say: 'a\u2028b' })]);
  const { events } = await start().runStreamed('hi');
  const seen: ThreadEvent[] = [];
  for await (const event of events) seen.push(event);
  expect(seen.map(event => ('item' in event ? `${event.type} ${event.item.type}` : event.type))).toEqual([
    'thread.started',
    'turn.started',
    'item.started todo_list',
    'item.completed agent_message',
    'item.completed todo_list',
    'turn.completed',
  ]);
});

test('resumeThread goes on with a thread by its id', async () => {
  const { world, codex, start } = await create([answer({ say: 'one' })]);
  const first = start();
  await first.run('first');
  const resumed = codex.resumeThread(first.id ?? '', { workingDirectory: world.cwd, skipGitRepoCheck: true });
  await resumed.run('second');
  expect(resumed.id).toBe(first.id);
  expect(JSON.stringify(world.server.requests[1]?.body['input'])).toContain('first');
  await expect(codex.resumeThread('nobody', { skipGitRepoCheck: true }).run('x')).rejects.toThrow(
    'no rollout found for thread id nobody',
  );
});

test('an output schema reaches the model', async () => {
  const { start, body } = await create([answer({ say: '{"a":1}' })]);
  const outputSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const turn = await start().run('hi', { outputSchema });
  expect(turn.finalResponse).toBe('{"a":1}');
  expect(body()['text']).toMatchObject({ format: { type: 'json_schema', schema: outputSchema } });
});

test('images are sent, in the first turn and in a later one', async () => {
  const { world, start, body } = await create([answer({ say: 'ok' })]);
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const image = world.write('picture.png', png);
  const input: Input = [
    { type: 'text', text: 'look' },
    { type: 'local_image', path: image },
    { type: 'text', text: 'closely' },
  ];
  const thread = start();
  for (const sent of [1, 2]) {
    await thread.run(input);
    expect(JSON.stringify(body()).split(`data:image/png;base64,${png.toString('base64')}`)).toHaveLength(sent + 1);
    expect(world.prompt()).toMatch(/look\n\nclosely$/);
  }
});

describeIf('bubblewrap', 'in a sandbox', () => {
  test('every option reaches the agent', async () => {
    const { world, start } = await create(
      [answer({ shell: 'echo x > ../other/in.txt && cat ../other/in.txt' }), answer({ say: 'ok' })],
      {
        apiKey: 'sk-given',
        config: {
          model_providers: { mock: { http_headers: { 'X-A': 'ä "quoted"' }, query_params: {} } },
          tool_output_token_limit: 5000,
          'features.view_image': false,
          project_root_markers: ['.git', '.hg'],
        },
      },
    );
    world.write('other/keep', '');
    const turn = await start({
      model: 'gpt-5.4',
      sandboxMode: 'workspace-write',
      additionalDirectories: [path.join(world.root, 'other')],
      modelReasoningEffort: 'low',
      networkAccessEnabled: true,
      webSearchMode: 'disabled',
      approvalPolicy: 'never',
    }).run('hi');
    expect(turn.items.find(item => item.type === 'command_execution')).toMatchObject({ aggregated_output: 'x\n' });
    const { body = {}, headers } = world.server.requests[0] ?? {};
    expect([body['model'], body['reasoning']?.effort]).toEqual(['gpt-5.4', 'low']);
    expect(headers?.['originator']).toBe('codex_sdk_ts');
    expect(JSON.stringify(body['input'])).toContain('enabled');
    expect(JSON.stringify(body['tools'])).not.toContain('view_image');
  });
});

test('a failed turn is thrown with its reason', async () => {
  const { start } = await create([{ status: 401, body: { error: { message: 'Wrong key: no-120' } } }]);
  await expect(start().run('hi')).rejects.toThrow('no-120');
  const { events } = await start().runStreamed('hi');
  const types: string[] = [];
  await expect(
    (async () => {
      for await (const event of events) types.push(event.type);
    })(),
  ).rejects.toThrow('exited with code 1');
  expect(types.at(-1)).toBe('turn.failed');
});

const SLEEPER = answer({ shell: 'echo $$ > command.pid; exec sleep 600', args: { yield_time_ms: 30_000 } });

async function sleeper(world: ExecWorld): Promise<number> {
  const file = `${world.cwd}/command.pid`;
  return until(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
}

test('an abort ends the turn and its command, and the thread can go on', async () => {
  const { world, start } = await create([SLEEPER, answer({ say: 'later' })]);
  const abort = new AbortController();
  const thread = start();
  const run = thread.run('hi', { signal: abort.signal });
  const outcome = run.catch((error: unknown) => error);
  const pid = await sleeper(world);
  abort.abort();
  expect(await outcome).toMatchObject({ name: 'AbortError' });
  await until(() => !isAlive(pid));
  expect((await thread.run('go on')).finalResponse).toBe('later');
});

test('an abort before the turn starts nothing', async () => {
  const { world, start } = await create([SLEEPER]);
  await expect(start().run('hi', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  expect(world.server.requests).toEqual([]);
});

test('leaving the loop ends the turn and its command', async () => {
  const { world, start } = await create([SLEEPER]);
  const { events } = await start().runStreamed('hi');
  let pid = 0;
  for await (const event of events) {
    if (event.type !== 'item.started') continue;
    pid = await sleeper(world);
    break;
  }
  expect(pid).toBeGreaterThan(0);
  await until(() => !isAlive(pid));
});
