import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAlive } from '../support/processes.js';
import { until } from '../support/until.js';
import { McpWorld, server } from './support.js';

describe('a server on stdio', () => {
  test('its tools are offered under flat names and called by their own', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools: [{ name: 'echo', description: 'Says it again.' }] })]);
    expect(thread.servers.specs()).toEqual([
      {
        type: 'function',
        name: 'mcp__fk__echo',
        description: 'Says it again.',
        parameters: { type: 'object', properties: { text: { type: 'string' } } },
      },
    ]);
    expect(await thread.call('mcp__fk__echo', { text: 'hi' })).toMatchObject({
      text: 'echo got {"text":"hi"}',
      is_error: false,
      items: [
        {
          type: 'mcp_tool_call',
          server: 'fk',
          tool: 'echo',
          arguments: { text: 'hi' },
          status: 'completed',
          result: { content: [{ type: 'text', text: 'echo got {"text":"hi"}' }] },
        },
      ],
    });
    expect(thread.changes).toEqual(['fk starting', 'fk ready']);
  });

  test.each([
    ['""', ''],
    ['null', 'null'],
    ['blanks', '  '],
  ])('arguments %s are none', async (_, raw) => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools: [{ name: 'echo' }] })]);
    expect((await thread.call('mcp__fk__echo', raw)).text).toBe('echo got {}');
  });

  test('arguments that are no object are told to the model', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools: [{ name: 'echo' }] })]);
    expect((await thread.call('mcp__fk__echo', '[1]')).text).toContain('must be a JSON object');
    expect((await thread.call('mcp__fk__echo', '{"a"')).text).toContain('failed to parse function arguments');
  });

  test('gets its variables, its folder, and how deep agents are nested', async () => {
    const world = new McpWorld();
    const folder = path.join(world.root, 'srv');
    mkdirSync(folder);
    const tools = [{ name: 'env', showEnv: ['A', 'OPEN_INTERPRETER_MCP_DEPTH'] }];
    const thread = await world.thread([world.scripted({ tools }, { env: { A: 'b' }, cwd: folder })]);
    expect((await thread.call('mcp__fk__env')).text).toBe('["b","1"]');
    expect(world.seen()[0]?.['cwd']).toBe(folder);
  });

  test('runs in the folder of the thread where the settings name none', async () => {
    const world = new McpWorld();
    await world.thread([world.scripted()]);
    expect(world.seen()[0]?.['cwd']).toBe(world.cwd);
  });

  test('prints what is no message: the lines are skipped, told once, and the log shows its stderr', async () => {
    const world = new McpWorld();
    const banner = 'Welcome!\n{not json\n42\n\n';
    const thread = await world.thread([world.scripted({ banner, stderr: 'listening\n', tools: [{ name: 'echo' }] })]);
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
    const told = world.log.filter(line => line.startsWith('warn ') && line.includes('no message of the protocol'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('Welcome!');
    expect(world.log).toContain('info [fk] listening');
  });

  test('tells its errors: a result that is one, and one of the protocol', async () => {
    const world = new McpWorld();
    const boom = { isError: true, content: [{ type: 'text', text: 'boom 1' }] };
    const thread = await world.thread([
      world.scripted({
        tools: [
          { name: 'a', result: boom },
          { name: 'b', error: 'boom 2' },
        ],
      }),
    ]);
    expect(await thread.call('mcp__fk__a')).toMatchObject({
      text: 'boom 1',
      is_error: true,
      items: [{ status: 'failed', error: null }],
    });
    expect(await thread.call('mcp__fk__b')).toMatchObject({
      text: 'The call to the MCP server `fk` failed: error -32000: boom 2',
      is_error: true,
      items: [{ status: 'failed', result: null, error: { message: 'error -32000: boom 2' } }],
    });
  });

  test.each<[object, string]>([
    [{ result: null }, 'error -32603: the answer holds no result: null'],
    [{ result: [1] }, 'error -32603: the answer holds no result: [1]'],
    [{ result: 'text' }, 'error -32603: the answer holds no result: "text"'],
    [{}, 'error -32603: the answer holds no result: null'],
    [{ error: 'boom' }, 'error -32603: "boom"'],
    [{ error: { code: 'E1', message: 'boom' } }, 'error -32603: boom'],
    [{ error: { code: -5 } }, 'error -5: {"code":-5}'],
    [{ result: null, error: { code: -5, message: 'boom' } }, 'error -5: boom'],
  ])('an answer that is none is not waited for: %j', async (answer, problem) => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools: [{ name: 't', answer }] })]);
    expect(await thread.call('mcp__fk__t')).toMatchObject({
      text: `The call to the MCP server \`fk\` failed: ${problem}`,
      is_error: true,
    });
  });

  test('a call without an answer ends at its limit and is cancelled; signs of progress prolong it', async () => {
    const world = new McpWorld();
    const tools = [
      { name: 'slow', delayMs: 60_000 },
      { name: 'busy', delayMs: 900, progressEveryMs: 100 },
    ];
    const thread = await world.thread([world.scripted({ tools }, { tool_timeout_ms: 400 })]);
    expect((await thread.call('mcp__fk__slow')).text).toContain('no answer within the time limit of 0.4 s');
    await until(() => world.seen().some(line => line['method'] === 'notifications/cancelled'));
    expect((await thread.call('mcp__fk__busy')).text).toBe('busy got {}');
  });

  test('an interrupted turn cancels its call at once', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools: [{ name: 'slow', delayMs: 60_000 }] })]);
    const stop = new AbortController();
    const call = thread.call('mcp__fk__slow', {}, { signal: stop.signal });
    await until(() => world.seen().some(line => line['method'] === 'tools/call'));
    stop.abort();
    expect(await call).toMatchObject({ text: 'aborted by user', is_error: true });
    const cancelled = await until(() => world.seen().find(line => line['method'] === 'notifications/cancelled'));
    expect(cancelled['params'].requestId).toBe(world.seen().find(line => line['method'] === 'tools/call')?.['id']);
  });

  test('that ends during a call fails it at once, and is started again for the next one', async () => {
    const world = new McpWorld();
    const thread = await world.thread([
      world.scripted({ tools: [{ name: 'die', die: true }, { name: 'echo' }], stderr: 'last words\n' }),
    ]);
    const first = await thread.call('mcp__fk__die');
    expect(first.text).toContain('its process ended with exit code 7');
    expect(first.text).toContain('last words');
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
    expect(world.starts()).toBe(2);
    expect(thread.changes).toEqual(['fk starting', 'fk ready', 'fk idle', 'fk starting', 'fk ready']);
  });

  test('that ends again and again is given a pause', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools: [{ name: 'die', die: true }] })]);
    const texts: string[] = [];
    for (let i = 0; i < 7; i++) texts.push((await thread.call('mcp__fk__die')).text);
    expect(texts[0]).toContain('its process ended with exit code 7');
    // The pause has become longer than a call waits.
    expect(texts.at(-1)).toContain('it is started again in');
    expect(world.starts()).toBeLessThan(7);
  });

  test('answers of any size are taken up to a limit, and cost no more than the model may see', async () => {
    const world = new McpWorld();
    const tools = [{ name: 'big', bytes: 50_000_000 }, { name: 'huge', bytes: 70_000_000 }, { name: 'echo' }];
    const thread = await world.thread([world.scripted({ tools })]);
    const { text, items } = await thread.call('mcp__fk__big', {}, { output_budget_bytes: 1000 });
    expect(text).toMatch(/^x{500}…\d+ tokens truncated…x{500}$/);
    expect(JSON.stringify(items).length).toBeLessThan(1_100_000);
    expect((await thread.call('mcp__fk__huge')).text).toContain('the answer is larger than 64 MiB');
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
  });
});

describe('the end of a server', () => {
  test.each([
    ['leaves when its input ends', {}],
    ['ignores the end of its input', { ignoreEnd: true }],
    ['ignores TERM as well', { ignoreEnd: true, ignoreTerm: true }],
    ['has started a process of its own', { ignoreEnd: true, child: true }],
  ])('that %s', async (_, spec) => {
    const world = new McpWorld();
    await world.thread([world.scripted(spec)]);
    const pids = world.seen().flatMap(line => [line['start'] ?? [], line['child'] ?? []].flat() as number[]);
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.every(isAlive)).toBe(true);
    await world.close();
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('comes although it is just starting', async () => {
    const world = new McpWorld();
    const thread = world
      .servers()
      .forThread([world.scripted({ startDelayMs: 60_000 })], { cwd: world.cwd, search: true });
    thread.beginTurn(() => {});
    const pid = await until(() => world.seen()[0]?.['start'] as number | undefined);
    await world.close();
    expect(isAlive(pid)).toBe(false);
  });
});

test('a program that does not exist is named', async () => {
  const world = new McpWorld();
  const thread = await world.thread([server({ type: 'stdio', command: '/nonexistent/x', args: [], env: world.env })]);
  expect(thread.state('fk')).toBe('failed: /nonexistent/x: command not found.');
});
