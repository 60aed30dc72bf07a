/** What one call sends to a collector, from the built program, over each protocol of OTLP. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeIf } from '../support/requires.js';
import { callsTool, createWorld, runProgram, says, startSession, type World } from './built-server.js';
import { type ReceivedSpan, type Receiver, startReceiver } from './otlp-receiver.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const META = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=abc' };

const PROTOCOLS = [
  { name: 'http/json', receiver: 'http', key: 'otlp-http', more: ', protocol = "json"' },
  { name: 'http/protobuf', receiver: 'http', key: 'otlp-http', more: ', protocol = "binary"' },
  { name: 'grpc', receiver: 'grpc', key: 'otlp-grpc', more: '' },
] as const;

async function receiver(protocol: 'http' | 'grpc', silent = false): Promise<Receiver> {
  const started = await startReceiver({ protocol, silent });
  onTestFinished(() => started.close());
  return started;
}

function otel(url: string, key = 'otlp-http', more = ''): string {
  const exporter = `{ ${key} = { endpoint = "${url}"${more}, headers = { "x-team" = "agents" } } }`;
  return `[otel]
environment = "test"
exporter = ${exporter}
trace_exporter = ${exporter}
metrics_exporter = ${exporter}
span_attributes = { "team" = "blue" }
`;
}

/** The tree as nested names; children in the order they were sent. */
type Tree = { [name: string]: Tree };
function treeBelow(id: string, spans: readonly ReceivedSpan[]): Tree {
  return Object.fromEntries(
    spans.filter(span => span.parentId === id).map(span => [span.name, treeBelow(span.spanId, spans)]),
  );
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.find(span => span.name === name);

/** A command that needs approval, a tool of an inner server, then the answer. */
async function worldWithWork(config: string): Promise<World & { innerLog: string }> {
  const world = await createWorld(config);
  const innerLog = join(world.home, 'inner.jsonl');
  const server = join(import.meta.dirname, '../fixtures/mcp-servers/scripted.mjs');
  const spec = JSON.stringify({
    log: innerLog,
    tools: [{ name: 'look', annotations: { readOnlyHint: true }, result: { content: [] } }],
  });
  appendFileSync(
    join(world.home, 'config.toml'),
    `\n[mcp_servers.inner]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}, ${JSON.stringify(spec)}]\ndefault_tools_approval_mode = "approve"\n`,
  );
  world.model.reply(
    callsTool('exec_command', { cmd: 'printf "%s %s" "$TRACEPARENT" "$TRACESTATE" > trace.txt', login: false }),
    callsTool('mcp__inner__look', { text: 'x' }),
    says('all done'),
  );
  return { ...world, innerLog };
}

describeIf('bubblewrap', 'one call of a client with a trace', () => {
  it.each(PROTOCOLS)('arrives over $name as one tree below the client, with logs and metrics', async protocol => {
    const collector = await receiver(protocol.receiver);
    const world = await worldWithWork(otel(collector.url, protocol.key, protocol.more));
    const session = await startSession(world);
    const result = await session.call(
      { prompt: 'please work', sandbox: 'workspace-write', 'approval-policy': 'untrusted' },
      META,
    );
    expect(result.structuredContent?.content).toBe('all done');
    const threadId = result.structuredContent?.threadId;
    await session.end();

    expect([...new Set(collector.spans.map(span => span.traceId))]).toEqual([TRACE]);
    expect(treeBelow(PARENT, collector.spans)).toEqual({
      'tools/call codex': {
        'invoke_agent open-interpreter': {
          'mcp_servers.wait': {},
          'chat test-model': {},
          'execute_tool exec_command': { 'approval.wait': {}, 'command bash': {} },
          'execute_tool mcp__inner__look': expect.anything(),
        },
      },
    });
    expect(named(collector.spans, 'tools/call codex')).toMatchObject({
      kind: 2,
      failed: false,
      traceState: 'vendor=abc',
      attributes: {
        team: 'blue',
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'codex',
        'network.transport': 'pipe',
      },
    });
    expect(named(collector.spans, 'chat test-model')).toMatchObject({
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'local',
        'gen_ai.request.model': 'test-model',
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 7,
        'server.address': '127.0.0.1',
      },
    });
    expect(named(collector.spans, 'command bash')?.attributes).toMatchObject({
      'codex.sandboxed': true,
      'codex.sandbox.policy': 'workspace-write',
      'process.exit.code': 0,
    });
    expect(collector.resources[0]).toMatchObject({
      'service.name': 'codex_mcp_server',
      env: 'test',
      'deployment.environment.name': 'test',
    });
    expect(collector.requests.every(({ headers }) => headers['x-team'] === 'agents')).toBe(true);

    const events = new Map(collector.logs.map(log => [log.event, log]));
    expect([...events.keys()].sort()).toEqual([
      'codex.api_request',
      'codex.conversation_starts',
      'codex.mcp_request',
      'codex.sandbox_outcome',
      'codex.sse_event',
      'codex.startup_phase',
      'codex.tool_decision',
      'codex.tool_result',
      'codex.turn_end',
      'codex.turn_ttft',
      'codex.user_prompt',
    ]);
    expect(events.get('codex.user_prompt')).toMatchObject({
      traceId: TRACE,
      attributes: { prompt: '[REDACTED]', prompt_length: 11, 'conversation.id': threadId, model: 'test-model' },
    });
    expect(collector.logs.filter(log => log.event === 'codex.tool_decision').map(log => log.attributes)).toMatchObject([
      { decision: 'approved', source: 'user', tool_name: 'exec_command', approval_kind: 'command' },
      { decision: 'approved', source: 'config', tool_name: 'mcp__inner__look', mcp_server: 'inner' },
    ]);

    const points = new Map(collector.points.map(point => [point.name, point]));
    expect([...points.keys()].sort()).toEqual([
      'codex.api_request',
      'codex.api_request.duration_ms',
      'codex.approval.requested',
      'codex.approval.wait_ms',
      'codex.command',
      'codex.conversation.turn.count',
      'codex.thread.started',
      'codex.threads.active',
      'codex.tool.call',
      'codex.tool.call.duration_ms',
      'codex.turn.e2e_duration_ms',
      'codex.turn.token_usage',
      'codex.turn.ttft.duration_ms',
      'codex.turns.active',
      'gen_ai.client.operation.duration',
      'gen_ai.client.token.usage',
      'mcp.server.operation.duration',
    ]);
    const total = collector.points.find(
      point => point.name === 'codex.turn.token_usage' && point.attributes['token_type'] === 'total',
    );
    expect(total).toMatchObject({ value: 321, count: 1, unit: '{token}' });
    expect(points.get('codex.threads.active')?.value).toBe(0);
  });

  it('goes on to commands, to inner servers and to the model', async () => {
    const collector = await receiver('http');
    const world = await worldWithWork(otel(collector.url));
    const session = await startSession(world);
    await session.call({ prompt: 'work', sandbox: 'workspace-write', 'approval-policy': 'never' }, META);
    await session.end();
    const spanOf = (name: string) => named(collector.spans, name)?.spanId;
    const command = readFileSync(join(world.work, 'trace.txt'), 'utf8');
    expect(command).toBe(`00-${TRACE}-${spanOf('command bash')}-01 vendor=abc`);
    const inner = readFileSync(world.innerLog, 'utf8');
    expect(inner).toContain(`"traceparent":"00-${TRACE}-`);
    expect(inner).toContain('"tracestate":"vendor=abc"');
    const chats = collector.spans.filter(span => span.name === 'chat test-model').map(span => span.spanId);
    expect(world.model.requests.map(({ headers }) => headers['traceparent'])).toEqual(
      chats.map(id => `00-${TRACE}-${id}-01`),
    );
  });
});

describe('exec', () => {
  it('is its own service, below the trace of whoever started it', async () => {
    const collector = await receiver('http');
    const world = await createWorld(otel(collector.url));
    world.model.reply(says('done'));
    const { status, stdout } = await runProgram(world, ['exec', '--skip-git-repo-check', 'work'], {
      TRACEPARENT: META.traceparent,
    });
    expect([status, stdout.trim()]).toEqual([0, 'done']);
    expect(treeBelow(PARENT, collector.spans)).toEqual({
      'invoke_agent open-interpreter': { 'mcp_servers.wait': {}, 'chat test-model': {} },
    });
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'codex_exec' });
  });
});

describe('for people', () => {
  it('the log tells the course of a turn, each line with its thread and turn', async () => {
    const world = await createWorld();
    world.model.reply(callsTool('exec_command', { cmd: 'true' }), says('done'));
    const session = await startSession(world, { env: { INTERPRETER_LOG: 'info' } });
    const result = await session.call({ prompt: 'x', sandbox: 'danger-full-access', 'approval-policy': 'never' });
    await session.end();
    const lines = session.stderr().trim().split('\n');
    const place = `thread=${result.structuredContent?.threadId} turn=`;
    expect(lines.map(line => line.split(place)[1]?.split(' ')[1])).toEqual([
      'codex.conversation_starts',
      'codex.user_prompt',
      'codex.tool_result',
      'codex.turn_end',
    ]);
    expect(lines[2]).toMatch(/ info thread=\S+ turn=\S+ codex\.tool_result tool_name=exec_command .*success=true/);
  });

  it('a thread says where the time of its turns went', async () => {
    const world = await createWorld();
    world.model.reply(callsTool('exec_command', { cmd: 'true' }), says('done'));
    const session = await startSession(world);
    const result = await session.call({ prompt: 'x', sandbox: 'danger-full-access', 'approval-policy': 'never' });
    const id = result.structuredContent?.threadId ?? '';
    const { stdout } = await runProgram(world, ['threads', 'show', id, '--timing', '--json']);
    const [turn] = JSON.parse(stdout);
    expect(turn).toMatchObject({ turn: 1, status: 'completed', measured: true });
    expect(turn.spans.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`)).toEqual([
      'servers mcp_servers.wait',
      'model test-model',
      'tool exec_command',
      'model test-model',
    ]);
    const shares = Object.values<number>(turn.shares_ms);
    expect(shares.reduce((sum, ms) => sum + ms, 0)).toBe(turn.duration_ms);
  });
});

describe('without telemetry', () => {
  it("a caller's trace still goes on, as it came", async () => {
    const world = await createWorld();
    world.model.reply(callsTool('exec_command', { cmd: 'printf "%s" "$TRACEPARENT" > trace.txt' }), says('done'));
    const session = await startSession(world);
    await session.call({ prompt: 'work', sandbox: 'danger-full-access', 'approval-policy': 'never' }, META);
    expect(readFileSync(join(world.work, 'trace.txt'), 'utf8')).toBe(META.traceparent);
    expect(world.model.requests[0]?.headers).toMatchObject(META);
  });

  it('a trace that is none is not passed on, and the call works', async () => {
    const world = await createWorld();
    world.model.reply(says('done'));
    const session = await startSession(world);
    const result = await session.call({ prompt: 'x' }, { traceparent: '00-0-0-zz\r\nx: y', tracestate: 'a=b' });
    expect(result.structuredContent?.content).toBe('done');
    expect(world.model.requests[0]?.headers['traceparent']).toBeUndefined();
    expect(world.model.requests[0]?.headers['tracestate']).toBeUndefined();
  });

  it('no module of OpenTelemetry is loaded', async () => {
    const collector = await receiver('http');
    const [without, withIt] = [await loadedFiles(''), await loadedFiles(otel(collector.url))];
    // The agent was loaded, and what belongs to telemetry would have been seen.
    const pack = without.split('\n').find(file => file.endsWith('turn.pack.js')) ?? '';
    expect(readFileSync(pack, 'utf8')).not.toContain('opentelemetry');
    expect(withIt).toMatch(/open-telemetry-.*exporters-http-protobuf-/s);
    expect(without).not.toMatch(/open-telemetry|exporters-|opentelemetry/);
  });
});

/** The script files that a server reads in the course of a call. */
async function loadedFiles(config: string): Promise<string> {
  const world = await createWorld(config);
  world.model.reply(callsTool('exec_command', { cmd: 'true' }), says('done'));
  const loaded = join(world.home, 'loaded.txt');
  const watcher = join(import.meta.dirname, 'loaded-files.cjs');
  const session = await startSession(world, { args: ['--require', watcher], env: { LOADED_FILES: loaded } });
  await session.call({ prompt: 'x', sandbox: 'danger-full-access', 'approval-policy': 'never' });
  await session.end();
  return readFileSync(loaded, 'utf8');
}
