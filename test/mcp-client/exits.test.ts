/** The built program leaves no MCP server behind, however it ends. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LineClient } from '../mcp-server/line-client.js';
import { ExecWorld } from '../support/exec-world.js';
import { isAlive } from '../support/processes.js';
import { answer } from '../support/scripted-answers.js';
import { until } from '../support/until.js';

const program = path.join(import.meta.dirname, '../fixtures/mcp-servers/scripted.mjs');

/** Servers that stay as long as they can, the second one with a process of its own. */
async function stubbornWorld(spec: object = {}) {
  const world = await ExecWorld.create([answer({ say: 'done' })]);
  const logs = ['a', 'b'].map(name => path.join(world.root, `${name}.log`));
  const tables = logs.map((log, i) => {
    const server = { log, ignoreEnd: true, ignoreTerm: true, child: i === 1, ...spec };
    return `\n[mcp_servers.s${i}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([program, JSON.stringify(server)])}\n`;
  });
  world.write('home/config.toml', world.read('home/config.toml') + tables.join(''));
  const pids = () =>
    logs.flatMap(log =>
      existsSync(log)
        ? [...readFileSync(log, 'utf8').matchAll(/"(?:start|child)":(\d+)/g)].map(found => Number(found[1]))
        : [],
    );
  onTestFinished(() => {
    for (const pid of pids().filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
  return { world, pids };
}

describe('no server is left', () => {
  test.each([
    ['the client goes away', (child: ChildProcess) => child.stdin?.end()],
    ['TERM', (child: ChildProcess) => child.kill('SIGTERM')],
    ['INT', (child: ChildProcess) => child.kill('SIGINT')],
    ['HUP', (child: ChildProcess) => child.kill('SIGHUP')],
    ['KILL', (child: ChildProcess) => child.kill('SIGKILL')],
    ['a crash', (child: ChildProcess) => child.kill('SIGSEGV')],
  ])('by mcp-server after %s', { timeout: 60_000 }, async (_, end) => {
    const { world, pids } = await stubbornWorld();
    let started: ChildProcess | undefined;
    const ended = world.run(['mcp-server'], {
      input: true,
      onStart: child => {
        started = child;
      },
    });
    if (!started?.stdin || !started.stdout) throw new Error('not started');
    const client = new LineClient(started.stdin, started.stdout);
    await client.initialize();
    const reply = await client.call('codex', { prompt: 'go', cwd: world.cwd });
    expect(reply.result.content[0].text).toBe('done');
    await until(() => pids().length === 3);
    end(started);
    await ended;
    expect(await until(() => pids().every(pid => !isAlive(pid)))).toBe(true);
  });

  test('by exec that is done', { timeout: 60_000 }, async () => {
    const { world, pids } = await stubbornWorld();
    expect(await world.exec(['go'])).toMatchObject({ code: 0 });
    expect(pids()).toHaveLength(3);
    expect(await until(() => pids().every(pid => !isAlive(pid)))).toBe(true);
  });

  test('by exec that is killed while they start', { timeout: 60_000 }, async () => {
    const { world, pids } = await stubbornWorld({ startDelayMs: 60_000 });
    let started: ChildProcess | undefined;
    const ended = world.exec(['go'], {
      onStart: child => {
        started = child;
      },
    });
    await until(() => pids().length === 3);
    started?.kill('SIGKILL');
    await ended;
    expect(await until(() => pids().every(pid => !isAlive(pid)))).toBe(true);
  });
});

test('exec --json shows calls, failures of servers and refusals', { timeout: 60_000 }, async () => {
  const world = await ExecWorld.create([
    answer({ call: 'mcp__fk__echo', args: { text: 'hey' } }, { call: 'mcp__fk__write' }),
    answer({ say: 'done' }),
  ]);
  const tools = [{ name: 'echo', annotations: { readOnlyHint: true } }, { name: 'write' }];
  world.write(
    'home/config.toml',
    `${world.read('home/config.toml').replace('danger-full-access', 'read-only')}
[mcp_servers.fk]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([program, JSON.stringify({ tools })])}
[mcp_servers.dead]
command = "/nonexistent/server"
`,
  );
  const { items, code, err } = await world.json(['go']);
  expect(code).toBe(0);
  // Once is enough.
  expect(err).not.toContain("can't be used");
  const texts = items.flatMap(item => (item.type === 'error' ? [item.message] : []));
  expect(texts).toContainEqual(expect.stringContaining("MCP server `dead` can't be used: /nonexistent/server"));
  const calls = items.filter(item => item.type === 'mcp_tool_call');
  expect(calls).toMatchObject([
    {
      server: 'fk',
      tool: 'echo',
      arguments: { text: 'hey' },
      result: { content: [{ type: 'text', text: 'echo got {"text":"hey"}' }] },
      error: null,
      status: 'completed',
    },
    {
      tool: 'write',
      result: null,
      error: { message: expect.stringContaining('requires approval, but approval policy is never') },
      status: 'failed',
    },
  ]);
});

test('exec fails when a required server is dead, and names it', { timeout: 60_000 }, async () => {
  const world = await ExecWorld.create([answer({ say: 'done' })]);
  const table = '\n[mcp_servers.must]\ncommand = "/nonexistent/server"\nrequired = true\n';
  world.write('home/config.toml', world.read('home/config.toml') + table);
  const { code, out, err } = await world.exec(['go']);
  expect(code).toBe(1);
  expect(out + err).toContain(
    'required MCP servers failed to initialize: must: /nonexistent/server: command not found',
  );
  expect(world.server.requests).toEqual([]);
});
