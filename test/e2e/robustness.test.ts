/** Whatever clients, models and commands send: the built server answers, lives on and stays small. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LineClient } from '../mcp-server/line-client.js';
import { PROGRAM } from '../support/exec-world.js';
import { sse } from '../support/model-server.js';
import { answer } from '../support/scripted-answers.js';
import { until } from '../support/until.js';
import { outputs, type Server, serverWorld, userTexts } from './server-world.js';

/** MB. */
const LIMIT = 300;

function expectSmall(server: Server): void {
  expect(server.peakMemory() ?? 0).toBeLessThan(LIMIT);
}

it('stdout is JSON-RPC alone, whatever is logged and printed', async () => {
  const script = String.raw`echo not-json; echo err >&2; printf '{"a":1}\n' > /proc/self/fd/1; echo x > /dev/tty; env`;
  const world = await serverWorld([answer({ shell: script }), answer({ say: 'line\n{"jsonrpc":"2.0"}\nline' })]);
  const env = {
    NODE_DEBUG: 'http,net,stream',
    DEBUG: '*',
    RUST_LOG: 'trace',
    LOG_LEVEL: 'debug',
    NODE_OPTIONS: '--trace-warnings',
  };
  const { client, stderr } = world.start(env);
  await client.initialize();
  const { result } = await client.call('codex', { prompt: 'x' });
  expect(result.structuredContent.content).toBe('line\n{"jsonrpc":"2.0"}\nline');
  expect(client.garbage).toEqual([]);
  await until(() => stderr() !== '');
});

it('malformed lines are answered by the rules, and the server lives on', async () => {
  const world = await serverWorld([answer({ say: 'fine' })]);
  const { client } = world.start();
  const lines = [
    '{"jsonrpc":"2.0","id":1,"method":',
    'hello',
    '[]',
    '[{"jsonrpc":"2.0","id":2,"method":"ping"}]',
    '"text"',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"id":3,"method":"ping"}',
    Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]),
    '',
    '   ',
    '{"jsonrpc":"2.0","id":4}',
    '{"jsonrpc":"2.0","result":{},"id":99}',
    '{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}',
  ];
  for (const line of lines) {
    client.raw(line);
    client.raw('\n');
  }
  await client.initialize();
  expect((await client.call('codex', { prompt: 'x' })).result.structuredContent.content).toBe('fine');
  const errors = client.responses.filter(message => message.error !== undefined);
  expect(errors.length).toBeGreaterThan(6);
  for (const { error } of errors) expect([-32700, -32600, -32602]).toContain(error.code);
  expect(client.garbage).toEqual([]);
});

it('a prompt of 5 MB arrives whole, and goes on', async () => {
  const world = await serverWorld([answer({ say: 'read' }), answer({ say: 'again' })]);
  const server = world.start();
  await server.client.initialize();
  const prompt = `BEGIN ${'zażółć gęślą jaźń \u2028 0123456789\n'.repeat(120_000)} END`;
  expect(Buffer.byteLength(prompt)).toBeGreaterThan(5_000_000);
  const { result } = await server.client.call('codex', { prompt });
  expect(result.structuredContent.content).toBe('read');
  const { threadId } = result.structuredContent;
  await server.client.call('codex-reply', { prompt: 'and?', threadId });
  expect(userTexts(world.server.requests[1]?.body).at(-2) === prompt).toBe(true);
  expectSmall(server);
});

it('100 MB of command output: head, tail and amount reach the model, the client gets its share, the server stays small', async () => {
  const script = `echo THE-HEAD; head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 120; echo; echo THE-TAIL; exit 9`;
  const args = { yield_time_ms: 30_000 };
  const world = await serverWorld([answer({ shell: script, args }), answer({ say: 'done' })]);
  const server = world.start();
  await server.client.initialize();
  const { result } = await server.client.call('codex', { prompt: 'x' });
  expect(result.structuredContent.content).toBe('done');
  const [output = ''] = outputs(world.server.requests[1]?.body);
  expect(output).toMatch(
    /Process exited with code 9\n[\s\S]*THE-HEAD\nx+[\s\S]*…\d+ tokens truncated…[\s\S]*x\n+THE-TAIL\n$/,
  );
  expect(output.length).toBeLessThan(50_000);
  const [end] = server.client.events('exec_command_end');
  expect(end?.msg.aggregated_output.length).toBeLessThan(1.1 * 1024 * 1024);
  const sent = server.client
    .events('exec_command_output_delta')
    .map(({ msg }) => Buffer.from(msg.chunk, 'base64').length);
  expect(sent.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1024 * 1024);
  expectSmall(server);
});

it('bytes that are no text reach the model and the client as text', async () => {
  const script = String.raw`printf 'a\377b\000c\355\240\200d\n'`;
  const world = await serverWorld([answer({ shell: script }), answer({ say: 'done' })]);
  const { client } = world.start();
  await client.initialize();
  const { result } = await client.call('codex', { prompt: 'x' });
  expect(result.structuredContent.content).toBe('done');
  expect(outputs(world.server.requests[1]?.body)[0]).toMatch(/Output:\na\ufffdb\0c\ufffd+d\n$/);
  expect(client.events('exec_command_end')[0]?.msg.stdout).toMatch(/^a\ufffdb\0c\ufffd+d\n$/);
  const rollout = client.events('session_configured')[0]?.msg.rollout_path;
  expect(() =>
    readFileSync(rollout, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  ).not.toThrow();
});

it('a model that sends broken events, broken calls, unknown tools or nothing at all gets answers, and the caller too', async () => {
  const nothing = { stream: [sse({ type: 'response.completed', response: { id: 'r', status: 'completed' } }, true)] };
  const broken = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'c1',
    name: 'exec_command',
    arguments: '{"cmd": "touch ran',
  };
  const world = await serverWorld([
    { stream: [': a comment\n\n', 'data: {not json\n\n'] },
    {
      stream: [
        sse({ type: 'response.output_item.done', item: broken }, true),
        sse({ type: 'response.output_item.done', item: { ...broken, id: 'fc_2', call_id: 'c2', name: 'nope' } }, true),
        sse({ type: 'response.output_item.done', item: { type: 'nonsense' } }, true),
        sse({ type: 'response.completed', response: { id: 'r', status: 'completed' } }, true),
      ],
    },
    nothing,
    answer({ say: 'later' }),
  ]);
  const { client } = world.start();
  await client.initialize();
  const { result } = await client.call('codex', { prompt: 'x' });
  expect(result.structuredContent).toMatchObject({ content: '', status: 'completed' });
  expect(result.isError).toBeUndefined();
  expect(outputs(world.server.requests[2]?.body)).toEqual([
    expect.stringMatching(/^failed to parse function arguments/),
    expect.stringMatching(/^unsupported call: nope/),
  ]);
  const { threadId } = result.structuredContent;
  const next = await client.call('codex-reply', { prompt: 'y', threadId });
  expect(next.result.structuredContent.content).toBe('later');
});

it('a stream that is cut is opened again, and its command does not run twice', async () => {
  const item = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'c1',
    name: 'exec_command',
    arguments: JSON.stringify({ cmd: 'echo x >> count', login: false }),
  };
  const world = await serverWorld([
    { stream: [sse({ type: 'response.output_item.done', output_index: 0, item }, true)], ending: 'reset' },
    answer({ say: 'seen' }),
  ]);
  const { client } = world.start();
  await client.initialize();
  const { result } = await client.call('codex', { prompt: 'x' });
  expect(result.structuredContent.content).toBe('seen');
  expect(world.read('work/count')).toBe('x\n');
  expect(client.events('stream_error')[0]?.msg.message).toBe('Reconnecting... 1/1');
});

it('a thread whose file is damaged in between is still continued', async () => {
  const world = await serverWorld([answer({ say: 'a1' }), answer({ say: 'a2' }), answer({ say: 'a3' })]);
  const { client } = world.start();
  await client.initialize();
  const { threadId } = (await client.call('codex', { prompt: 'q1' })).result.structuredContent;
  const file: string = client.events('session_configured')[0]?.msg.rollout_path;
  expect(path.basename(file)).toContain(threadId);
  world.write(file, `${readFileSync(file, 'utf8')}{"timestamp":"x","type":"respon\0\0\n\n{{{`);
  const second = await client.call('codex-reply', { prompt: 'q2', threadId });
  expect(second.result.structuredContent.content).toBe('a2');
  expect(userTexts(world.server.requests[1]?.body).slice(-2)).toEqual(['q1', 'q2']);
  const other = world.start();
  await other.client.initialize();
  const third = await other.client.call('codex-reply', { prompt: 'q3', threadId });
  expect(third.result.structuredContent.content).toBe('a3');
  expect(userTexts(world.server.requests[2]?.body).slice(-3)).toEqual(['q1', 'q2', 'q3']);
});

/** A server that `script`, with the command in "$@", starts in its own way. */
function startBy(script: string, env: Record<string, string>, folder = ''): LineClient {
  const child = spawn('sh', ['-c', script, folder, process.execPath, PROGRAM, 'mcp-server'], { env });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.stdin.end();
    await exited;
  });
  return new LineClient(child.stdin, child.stdout);
}

it('a thread that can not be written any more goes on, and its turn tells so', async () => {
  const world = await serverWorld([answer({ shell: 'seq 100000' }), answer({ say: 'fine' })]);
  // No file may become larger than 40 blocks of 512 bytes.
  const client = startBy('ulimit -f 40; exec "$@"', world.env());
  await client.initialize();
  const { result } = await client.call('codex', { prompt: 'x', cwd: world.cwd });
  expect(result.structuredContent.content).toBe('fine');
  const warnings = client.events('warning').map(({ msg }) => msg.message);
  expect(warnings).toContainEqual(expect.stringMatching(/^Cannot write .*\.jsonl: /));
});

it('a server whose own folder is gone serves calls that name theirs', async () => {
  const world = await serverWorld([answer({ shell: 'pwd' }), answer({ say: 'fine' })]);
  const folder = path.dirname(world.write('gone/file', ''));
  const client = startBy('cd "$0" && rm -r "$0" && exec "$@"', world.env(), folder);
  await client.initialize();
  const without = await client.call('codex', { prompt: 'x' });
  expect(without.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('`cwd`') }] });
  const { result } = await client.call('codex', { prompt: 'x', cwd: world.cwd });
  expect(result.structuredContent.content).toBe('fine');
  expect(outputs(world.server.requests.at(-1)?.body)[0]).toContain(world.cwd);
});

it('what a configuration warns of stands on stderr, once, also for clients that get no events', async () => {
  const world = await serverWorld([answer({ say: 'fine' })], 'mcp_server.events = "none"');
  const { client, stderr } = world.start({}, ['-c', 'otel.environment="x"']);
  await client.initialize();
  for (const _ of [1, 2]) await client.call('codex', { prompt: 'x', config: { 'otel.environment': 'y' } });
  expect(stderr().split('`otel` in the config of a call').length).toBe(2);
});
