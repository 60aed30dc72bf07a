/** Servers in the hands of the agent: events, items, approvals, failures. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMcpServers, type McpServers } from '../../src/mcp-client/index.js';
import type { ApprovalRequest, Approver, Event } from '../../src/protocol/index.js';
import { AgentWorld, runTurn, type Turn } from '../support/agent-world.js';
import { type ModelAnswerScript, outputOf } from '../support/scripted-provider.js';
import { until } from '../support/until.js';

const program = path.join(import.meta.dirname, '../fixtures/mcp-servers/scripted.mjs');

type Spec = { readonly name?: string; readonly server: object; readonly more?: string };

function agentWith(servers: readonly Spec[], answers: readonly ModelAnswerScript[]): AgentWorld {
  const deps: { mcp?: () => Promise<McpServers> } = {};
  const world = new AgentWorld(answers, { deps });
  const mcp = createMcpServers({
    version: '0.0.0',
    home: world.home,
    env: world.env(),
    runner: world.sandbox,
    log: (level, message) => world.log.push(`${level} ${message}`),
    program: null,
  });
  deps.mcp = () => Promise.resolve(mcp);
  onTestFinished(() => mcp.close());
  const toml = servers.map(
    ({ name = 'fk', server, more = '' }) =>
      `[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([program, JSON.stringify(server)])}\n${more}\n`,
  );
  world.write('home/config.toml', toml.join('\n'));
  return world;
}

const call = (name: string, args: object = {}): ModelAnswerScript => [{ call: `mcp__fk__${name}`, args, id: 'c1' }];
const mcpEvents = (turn: Turn): Event[] => turn.events.filter(({ type }) => type.startsWith('mcp_server'));
const approve: Approver = () => Promise.resolve({ type: 'approved' });
const ASKING = ['approval_policy=on-request', 'sandbox_mode=workspace-write'];

describe('a turn with servers', () => {
  test('tells how they start, offers their tools behind its own, and keeps what a call did', async () => {
    const world = agentWith(
      [{ server: { tools: [{ name: 'echo', annotations: { readOnlyHint: true } }] } }],
      [call('echo', { a: 1 })],
    );
    const turn = await runTurn(await world.thread(), 'go');
    expect(mcpEvents(turn)).toEqual([
      { type: 'mcp_server.updated', server: 'fk', state: 'starting' },
      { type: 'mcp_server.updated', server: 'fk', state: 'ready' },
      { type: 'mcp_servers.ready', ready: ['fk'], failed: [], cancelled: [] },
    ]);
    const [first, second] = world.provider.requests;
    expect(first?.tools.at(-1)).toMatchObject({ type: 'function', name: 'mcp__fk__echo' });
    expect(outputOf(second, 'c1')).toBe('echo got {"a":1}');
    const base = { type: 'mcp_tool_call', id: 'c1', server: 'fk', tool: 'echo', arguments: { a: 1 }, read_only: true };
    const started = turn.events.filter(event => event.type === 'item.started').map(event => event.item);
    expect(started).toContainEqual({ ...base, status: 'in_progress', result: null, error: null, duration_ms: null });
    expect(turn.items).toContainEqual({
      ...base,
      status: 'completed',
      result: { content: [{ type: 'text', text: 'echo got {"a":1}' }] },
      error: null,
      duration_ms: expect.any(Number),
    });
  });

  test('without servers says so at once', async () => {
    const world = agentWith([], []);
    const turn = await runTurn(await world.thread(), 'go');
    expect(mcpEvents(turn)).toEqual([{ type: 'mcp_servers.ready', ready: [], failed: [], cancelled: [] }]);
  });

  test('a dead server is told once, in the first turn of the thread', async () => {
    const world = agentWith([{ server: { dieOn: 'start' } }], []);
    const thread = await world.thread();
    const first = await runTurn(thread, 'go');
    expect(first.status).toBe('completed');
    expect(first.warnings).toEqual([
      expect.stringContaining("MCP server `fk` can't be used: its process ended with exit code 7"),
    ]);
    expect(mcpEvents(first).at(-1)).toMatchObject({ type: 'mcp_servers.ready', ready: [], failed: [{ server: 'fk' }] });
    expect((await runTurn(thread, 'again')).warnings).toEqual([]);
  });

  test('fails without a model request when a required server is dead', async () => {
    const world = agentWith([{ server: { dieOn: 'start' }, more: 'required = true' }], []);
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn).toMatchObject({ status: 'failed', error: { kind: 'configuration' } });
    expect(turn.error?.message).toMatch(
      /^required MCP servers failed to initialize: fk: its process ended with exit code 7/,
    );
    expect(world.provider.requests).toEqual([]);
  });

  test('an empty table in the configuration of a call switches them off', async () => {
    const world = agentWith([{ server: { tools: [{ name: 'echo' }] } }], []);
    const overrides = [{ path: 'mcp_servers', value: {}, source: 'the config argument' }];
    await runTurn(await world.thread({ overrides }), 'go');
    expect(JSON.stringify(world.provider.requests[0]?.tools)).not.toContain('mcp__');
  });

  test('goes on in another process with the tools that it has found', async () => {
    const tools = Array.from({ length: 60 }, (_, i) => ({ name: `t${i}`, annotations: { readOnlyHint: true } }));
    const world = agentWith(
      [{ server: { tools } }],
      [[{ call: 'tool_search', args: { query: 't42', limit: 1 }, id: 's' }], call('t42'), [{ say: 'done' }]],
    );
    const { thread_id } = await runTurn(await world.thread(), 'go');
    const listed = (request: number) =>
      world.provider.requests[request]?.tools.flatMap(tool => (tool.type === 'function' ? [tool.name] : []));
    expect(listed(0)).not.toContain('mcp__fk__t42');
    expect(listed(1)).toContain('mcp__fk__t42');
    await runTurn(await world.manager().getThread(thread_id), 'and');
    expect(listed(3)?.slice(-2)).toEqual(['tool_search', 'mcp__fk__t42']);
  });

  test('an interrupted call is over at once', async () => {
    const tools = [{ name: 'slow', delayMs: 60_000, annotations: { readOnlyHint: true } }];
    const log = path.join(mkdtempSync('/var/tmp/mcp-test-'), 'log');
    onTestFinished(() => rmSync(path.dirname(log), { recursive: true }));
    const world = agentWith([{ server: { tools, log } }], [call('slow')]);
    const stop = new AbortController();
    const running = runTurn(await world.thread(), 'go', { signal: stop.signal });
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('"tools/call"'));
    stop.abort();
    const turn = await running;
    expect(turn.status).toBe('aborted');
    const error = { message: 'interrupted' };
    expect(turn.items).toContainEqual(expect.objectContaining({ type: 'mcp_tool_call', status: 'failed', error }));
  });
});

describe('approvals', () => {
  const tools = [
    { name: 'read', annotations: { readOnlyHint: true } },
    { name: 'write' },
    { name: 'harmless', annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false } },
  ];

  async function asked(
    tool: string,
    more = '',
    decide: Approver = approve,
  ): Promise<{ turn: Turn; asked: ApprovalRequest[]; output: string | undefined }> {
    const world = agentWith([{ server: { tools }, more }], [call(tool)]);
    const requests: ApprovalRequest[] = [];
    const turn = await runTurn(await world.thread({ c: ASKING }), 'go', {
      approver: (request, signal) => {
        requests.push(request);
        return decide(request, signal);
      },
    });
    return { turn, asked: requests, output: outputOf(world.provider.requests[1], 'c1') };
  }

  test.each([
    ['read', '', 0],
    ['harmless', '', 0],
    ['write', '', 1],
    ['write', 'default_tools_approval_mode = "approve"', 0],
    ['read', 'default_tools_approval_mode = "prompt"', 1],
    ['harmless', 'default_tools_approval_mode = "writes"', 1],
    ['write', 'tools.write.approval_mode = "approve"', 0],
    ['read', 'tools.read.approval_mode = "prompt"', 1],
  ])('%s with %s asks %i times', async (tool, more, times) => {
    const { asked: requests, output } = await asked(tool, more);
    expect(requests).toHaveLength(times);
    expect(output).toBe(`${tool} got {}`);
  });

  test('the question names server, tool and arguments; a no goes to the model and into the item', async () => {
    const {
      turn,
      asked: requests,
      output,
    } = await asked('write', '', () => Promise.resolve({ type: 'denied', by: 'person', reason: 'not today' }));
    expect(requests).toMatchObject([{ type: 'mcp_tool', server: 'fk', tool: 'write', arguments: {}, call_id: 'c1' }]);
    expect(output).toContain('not today');
    expect(turn.items).toContainEqual(
      expect.objectContaining({
        type: 'mcp_tool_call',
        status: 'failed',
        error: { message: expect.stringContaining('not today') },
      }),
    );
  });

  test('a refusal names the policy and what would allow the call', async () => {
    const world = agentWith([{ server: { tools } }], [call('write')]);
    await runTurn(await world.thread({ c: ['approval_policy=never', 'sandbox_mode=workspace-write'] }), 'go');
    const output = outputOf(world.provider.requests[1], 'c1');
    expect(output).toContain('MCP tool call requires approval, but approval policy is never');
    expect(output).toContain('mcp_servers.fk.tools.write.approval_mode = "approve"');
  });
});

describe('a question of a server', () => {
  const tools = [
    {
      name: 'ask',
      annotations: { readOnlyHint: true },
      ask: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
    },
  ];

  test('goes to the person behind the caller, with events', async () => {
    const world = agentWith([{ server: { tools } }], [call('ask')]);
    const requests: ApprovalRequest[] = [];
    const turn = await runTurn(await world.thread({ c: ASKING }), 'go', {
      approver: request => {
        requests.push(request);
        return Promise.resolve({ type: 'approved', content: { name: 'Ada' } });
      },
    });
    expect(requests).toMatchObject([{ type: 'elicitation', server: 'fk', message: 'Who?', call_id: 'c1' }]);
    expect(outputOf(world.provider.requests[1], 'c1')).toContain('"content":{"name":"Ada"}');
    expect(turn.events.map(({ type }) => type)).toContain('approval.decided');
  });

  test('is not asked under a policy that lets no questions through', async () => {
    const world = agentWith([{ server: { tools } }], [call('ask')]);
    const never: Approver = () => Promise.reject(new Error('nobody should be asked'));
    await runTurn(await world.thread(), 'go', { approver: never });
    expect(outputOf(world.provider.requests[1], 'c1')).toContain('"action":"cancel"');
  });

  test('can end the turn', async () => {
    const world = agentWith([{ server: { tools } }], [call('ask')]);
    const turn = await runTurn(await world.thread({ c: ASKING }), 'go', {
      approver: () => Promise.resolve({ type: 'abort' }),
    });
    expect(turn).toMatchObject({ status: 'aborted', aborted_by: 'decision' });
  });
});
