/** Servers as people install them, over stdio and over HTTP on loopback. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.js';
import { http, McpWorld, textOf } from './support.js';

const packages = path.join(import.meta.dirname, '../../node_modules/@modelcontextprotocol');
const everything = path.join(packages, 'server-everything/dist/index.js');
const filesystem = path.join(packages, 'server-filesystem/dist/index.js');
const memory = path.join(packages, 'server-memory/dist/index.js');

describe('server-everything', () => {
  test('over stdio: texts, pictures, structured content, progress, questions', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.program([everything], { name: 'ev', tool_timeout_ms: 1500 })]);
    expect((await thread.call('mcp__ev__echo', { message: 'hello' })).text).toBe('Echo: hello');
    expect((await thread.call('mcp__ev__get-sum', { a: 2, b: 3 })).text).toContain('5');
    const { output } = await thread.call('mcp__ev__get-tiny-image');
    expect(output).toContainEqual(expect.objectContaining({ type: 'input_image' }));
    const weather = await thread.call('mcp__ev__get-structured-content', { location: 'New York' });
    expect(weather.text.match(/temperature/g)).toHaveLength(1);
    // Longer than the limit of a call, but with signs of progress.
    const long = await thread.call('mcp__ev__trigger-long-running-operation', { duration: 3, steps: 6 });
    expect(long.is_error).toBe(false);
    const asked: string[] = [];
    const answer = await thread.call(
      'mcp__ev__trigger-elicitation-request',
      {},
      {
        ask: ({ message }) => {
          asked.push(message);
          return Promise.resolve({ type: 'denied', by: 'person', reason: '' });
        },
      },
    );
    expect(asked).toHaveLength(1);
    expect(answer.text).toMatch(/decline/i);
  });

  test('over HTTP', async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [everything, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    await until(() => log.includes(String(port)));
    const world = new McpWorld();
    const thread = await world.thread([http(`http://127.0.0.1:${port}/mcp`, {}, { name: 'web' })]);
    expect((await thread.call('mcp__web__echo', { message: 'hello' })).text).toBe('Echo: hello');
    const long = await thread.call('mcp__web__trigger-long-running-operation', { duration: 1, steps: 2 });
    expect(long.is_error).toBe(false);
  });
});

describe('server-filesystem', () => {
  test('reads the folder of its arguments, which its roots do not take away', async () => {
    const world = new McpWorld();
    const folder = path.join(world.root, 'data');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'a.txt'), 'inside');
    writeFileSync(path.join(world.cwd, 'b.txt'), 'elsewhere');
    const thread = await world.thread([world.program([filesystem, folder], { name: 'files' })]);
    const read = (file: string) => thread.call('mcp__files__read_text_file', { path: file });
    await until(async () => (await read(path.join(folder, 'a.txt'))).text.startsWith('inside'));
    expect((await read(path.join(folder, 'a.txt'))).text).toBe('inside');
    expect(await read(path.join(world.cwd, 'b.txt'))).toMatchObject({ is_error: true });
    await thread.call('mcp__files__write_file', { path: path.join(folder, 'c.txt'), content: 'new' });
    expect(readFileSync(path.join(folder, 'c.txt'), 'utf8')).toBe('new');
  });

  test('says by its annotations what reads and what writes', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.program([filesystem, world.cwd], { name: 'files' })]);
    const action = async (name: string, args: object) => {
      const tool = thread.servers.find(name);
      const parsed = tool?.parse(JSON.stringify(args));
      if (!tool || !parsed?.ok) throw new Error(name);
      const plan = await tool.plan(parsed.input, { call_id: 'c' } as never);
      return plan.type === 'act' ? plan.action : null;
    };
    expect(await action('mcp__files__list_directory', { path: '/' })).toMatchObject({ read_only: true });
    expect(await action('mcp__files__write_file', { path: '/x' })).toMatchObject({
      read_only: false,
      destructive: true,
    });
  });
});

test('server-memory keeps what it is told', async () => {
  const world = new McpWorld();
  const env = { MEMORY_FILE_PATH: path.join(world.root, 'memory.jsonl') };
  const thread = await world.thread([world.program([memory], { name: 'mem', env })]);
  const entity = { name: 'Ada', entityType: 'person', observations: ['writes programs'] };
  await thread.call('mcp__mem__create_entities', { entities: [entity] });
  const { output } = await thread.call('mcp__mem__search_nodes', { query: 'Ada' });
  expect(textOf(output)).toContain('writes programs');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>(resolve => server.close(() => resolve()));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
