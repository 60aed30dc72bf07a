/** From a client of ours through the agent to a server of others, with the built program. */
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { LineClient } from '../mcp-server/line-client.js';
import { ExecWorld, PROGRAM } from '../support/exec-world.js';
import type { Body, Reply } from '../support/model-server.js';
import { answer } from '../support/scripted-answers.js';

const program = path.join(import.meta.dirname, '../fixtures/mcp-servers/scripted.mjs');
const LIMIT = { timeout: 60_000 };

async function serve(world: ExecWorld): Promise<LineClient> {
  let started: ChildProcess | undefined;
  void world.run(['mcp-server'], {
    input: true,
    onStart: child => {
      started = child;
    },
  });
  if (!started?.stdin || !started.stdout) throw new Error('not started');
  const client = new LineClient(started.stdin, started.stdout);
  await client.initialize();
  return client;
}

const names = (body: Body): string[] => (body['tools'] as { name?: string }[]).flatMap(({ name }) => name ?? []);
const textOf = (reply: Awaited<ReturnType<LineClient['call']>>): string => reply.result.content[0].text;

function outputsOf(body: Body): string[] {
  const input = body['input'] as { type: string; output?: string }[];
  return input.flatMap(({ type, output }) => (type === 'function_call_output' ? [output ?? ''] : []));
}

test('an approval and a question of a server reach the client, its answers the server', LIMIT, async () => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const tools = [{ name: 'ask', ask: { message: 'Who?', requestedSchema } }];
  const world = await ExecWorld.create([answer({ call: 'mcp__fk__ask' }), answer({ say: 'done' })]);
  const client = await serve(world);
  const asked: unknown[] = [];
  client.onRequest = ({ params }) => {
    asked.push(params);
    const content = params.codex_elicitation === 'mcp-elicitation' ? { name: 'Ada' } : {};
    return { result: { action: 'accept', content } };
  };
  const reply = await client.call('codex', {
    prompt: 'go',
    cwd: world.cwd,
    'approval-policy': 'on-request',
    sandbox: 'workspace-write',
    config: { mcp_servers: { fk: { command: process.execPath, args: [program, JSON.stringify({ tools })] } } },
  });
  expect(textOf(reply)).toBe('done');
  expect(asked).toMatchObject([
    { codex_elicitation: 'mcp-tool-approval', codex_server: 'fk', codex_tool: 'ask' },
    { codex_elicitation: 'mcp-elicitation', message: 'fk asks: Who?', requestedSchema },
  ]);
  expect(outputsOf(world.server.requests.at(-1)?.body ?? {})[0]).toContain('"content":{"name":"Ada"}');
  expect(client.events('mcp_startup_complete')).toMatchObject([{ msg: { ready: ['fk'], failed: [], cancelled: [] } }]);
  expect(client.events('mcp_tool_call_begin')).toMatchObject([{ msg: { invocation: { server: 'fk', tool: 'ask' } } }]);
  expect(client.events('mcp_tool_call_end')).toMatchObject([
    { msg: { result: { Ok: { content: [{ type: 'text' }] } } } },
  ]);
});

test('the agent among its own servers has one level', LIMIT, async () => {
  const seen: { prompt: string; tools: string[] }[] = [];
  const reply = (body: Body): Reply => {
    const input = body['input'] as { role?: string; content?: { text?: string }[] }[];
    const prompt = input.findLast(({ role }) => role === 'user')?.content?.at(-1)?.text ?? '';
    seen.push({ prompt, tools: names(body) });
    if (outputsOf(body).length > 0) return answer({ say: 'outer done' });
    if (prompt === 'inner') return answer({ say: 'inner done' });
    return answer({ call: 'mcp__self__codex', args: { prompt: 'inner', cwd: world.cwd } });
  };
  const world: ExecWorld = await ExecWorld.create([body => reply(body)]);
  world.write(
    'home/config.toml',
    `${world.read('home/config.toml')}
[mcp_servers.self]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([PROGRAM, 'mcp-server'])}
env = { INTERPRETER_HOME = ${JSON.stringify(world.home)} }
`,
  );
  const client = await serve(world);
  expect(textOf(await client.call('codex', { prompt: 'outer', cwd: world.cwd, 'approval-policy': 'never' }))).toBe(
    'outer done',
  );
  expect(seen.map(({ prompt }) => prompt)).toEqual(['outer', 'inner', 'outer']);
  expect(seen[0]?.tools).toContain('mcp__self__codex');
  expect(seen[1]?.tools.filter(tool => tool.startsWith('mcp__'))).toEqual([]);
  expect(outputsOf(world.server.requests.at(-1)?.body ?? {})[0]).toContain('inner done');
});
