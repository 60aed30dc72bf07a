import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScriptedThreads, script } from '../support/scripted-threads.js';
import { modernMeta } from './clients.js';
import { type LocalServer, startServer } from './local-server.js';

let local: LocalServer;
beforeEach(() => {
  local = startServer();
});
afterEach(() => local.server.close());

const info = { name: 'open-interpreter', title: 'Open Interpreter', version: '1.2.3' };

describe('handshake', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('version %s is spoken', async version => {
    const { result } = await local.client.initialize({}, version);
    expect(result).toEqual({
      protocolVersion: version,
      capabilities: { tools: {} },
      serverInfo: info,
      instructions: expect.stringContaining('codex-reply'),
    });
  });

  test.each(['1999-12-31', '9999-01-01', '2026-07-28'])(
    'an unknown version (%s) is answered with the newest',
    async v => {
      expect((await local.client.initialize({}, v)).result.protocolVersion).toBe('2025-11-25');
    },
  );

  test('a second initialize is refused and the session goes on', async () => {
    await local.client.initialize();
    const again = await local.client.request('initialize', { protocolVersion: '2025-06-18', capabilities: {} });
    expect(again.error).toEqual({ code: -32600, message: expect.stringContaining('more than once') });
    expect((await local.client.request('ping')).result).toEqual({});
  });

  test('initialize without a version is an error and can be repeated', async () => {
    const wrong = await local.client.request('initialize', { capabilities: {} });
    expect(wrong.error).toEqual({ code: -32602, message: expect.stringContaining('protocolVersion') });
    expect((await local.client.initialize()).result.protocolVersion).toBe('2025-06-18');
  });

  test.each(['tools/call', 'tools/list', 'resources/list'])('%s before initialize is an error', async method => {
    const { error } = await local.client.request(method, { name: 'codex', arguments: { prompt: 'x' } });
    expect(error).toEqual({ code: -32600, message: expect.stringContaining('before initialize') });
    expect(local.calls).toEqual([]);
  });

  test('ping before initialize is answered', async () => {
    expect((await local.client.request('ping')).result).toEqual({});
  });
});

describe('without a handshake (2026-07-28)', () => {
  test('server/discover names versions, capabilities and how long that holds', async () => {
    const { result } = await local.client.request('server/discover', { _meta: modernMeta() });
    expect(result).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      instructions: expect.any(String),
      ttlMs: 3_600_000,
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': info },
    });
  });

  test('a call and its reply need nothing but their own _meta', async () => {
    const first = await local.client.request('tools/call', {
      name: 'codex',
      arguments: { prompt: 'one' },
      _meta: modernMeta(),
    });
    expect(first.result).toMatchObject({ resultType: 'complete', structuredContent: { content: 'said: one' } });
    const { threadId } = first.result.structuredContent;
    const second = await local.client.request('tools/call', {
      name: 'codex-reply',
      arguments: { prompt: 'two', threadId },
      _meta: modernMeta(),
    });
    expect(second.result.structuredContent).toMatchObject({ threadId, content: 'said: two' });
    expect(local.client.events()).toEqual([]);
  });

  test('an unsupported version is refused with the supported ones', async () => {
    for (const method of ['tools/list', 'tools/call', 'server/discover', 'anything']) {
      const { error } = await local.client.request(method, { _meta: modernMeta({}, '1900-01-01') });
      expect(error).toEqual({
        code: -32022,
        message: expect.stringContaining('1900-01-01'),
        data: { supported: ['2026-07-28'], requested: '1900-01-01' },
      });
    }
  });

  test('a _meta without capabilities is an error that names them', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const { error } = await local.client.request('tools/list', { _meta });
    expect(error).toEqual({ code: -32602, message: expect.stringContaining('clientCapabilities') });
  });

  test('a probe, then a handshake, then both eras side by side', async () => {
    await local.client.request('server/discover', { _meta: modernMeta() });
    expect((await local.client.initialize()).result.protocolVersion).toBe('2025-06-18');
    const legacy = local.client.call('codex', { prompt: 'old' });
    const modern = local.client.request('tools/call', {
      name: 'codex',
      arguments: { prompt: 'new' },
      _meta: modernMeta(),
    });
    expect((await legacy).result).not.toHaveProperty('resultType');
    expect((await modern).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { content: 'said: new' },
    });
  });

  test('requests the server would send in a session do not exist', async () => {
    const { error } = await local.client.request('ping', { _meta: modernMeta() });
    expect(error.code).toBe(-32601);
  });
});

describe('messages', () => {
  beforeEach(() => local.client.initialize());

  test('the tools are listed with exact schemas', async () => {
    const { result } = await local.client.request('tools/list', {});
    expect(result.tools.map((tool: { name: string }) => tool.name)).toEqual(['codex', 'codex-reply']);
    const [codex, reply] = result.tools;
    expect(codex.inputSchema.properties).toMatchObject({
      prompt: { type: 'string' },
      model: { type: 'string' },
      cwd: { type: 'string' },
      'approval-policy': { type: 'string', enum: ['untrusted', 'on-request', 'never'] },
      sandbox: { type: 'string', enum: ['read-only', 'workspace-write', 'danger-full-access'] },
      config: { type: 'object', additionalProperties: true },
      'base-instructions': { type: 'string' },
      'developer-instructions': { type: 'string' },
      'compact-prompt': { type: 'string' },
    });
    expect(Object.keys(codex.inputSchema.properties)).toEqual([
      'prompt',
      'model',
      'cwd',
      'approval-policy',
      'sandbox',
      'config',
      'base-instructions',
      'developer-instructions',
      'compact-prompt',
    ]);
    expect(Object.keys(reply.inputSchema.properties)).toEqual(['prompt', 'threadId', 'conversationId']);
    for (const tool of [codex, reply]) {
      expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['prompt'], additionalProperties: false });
      expect(tool.outputSchema.required).toEqual(['threadId', 'content']);
      expect(tool.description.length).toBeLessThan(2000);
      expect(tool.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
      for (const property of Object.values<{ description?: string }>(tool.inputSchema.properties)) {
        expect(property.description).toMatch(/\w/);
      }
    }
  });

  test.each([
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'resources/subscribe',
    'prompts/list',
    'prompts/get',
    'logging/setLevel',
    'completion/complete',
    'tasks/list',
    'tasks/get',
    'tasks/cancel',
    'sampling/createMessage',
    'elicitation/create',
    'thread/start',
    'notifications/initialized',
    '',
  ])('method %j is not found, at once', async method => {
    const { error } = await local.client.request(method, {});
    expect(error).toEqual({ code: -32601, message: expect.stringContaining('ethod not found'), ...anyData });
  });

  test('ids of both kinds come back as they were sent', async () => {
    for (const id of ['req-ä-1', '', 0, -5, 2 ** 40]) {
      const response = await local.client.call('codex', { prompt: 'x' }, { id });
      expect(response.id).toBe(id);
    }
    const named = local.client.events().map(({ _meta }) => _meta.requestId);
    expect(new Set(named)).toEqual(new Set(['req-ä-1', '', 0, -5, 2 ** 40]));
  });

  test('notifications are never answered', async () => {
    const before = local.client.responses.length;
    local.client.notify('notifications/initialized');
    local.client.notify('notifications/cancelled', { requestId: 4711 });
    local.client.notify('notifications/cancelled', {});
    local.client.notify('notifications/cancelled', { requestId: { a: 1 } });
    local.client.notify('notifications/progress', { progressToken: 'x', progress: 1 });
    local.client.notify('bogus/thing', { a: 1 });
    local.client.notify('tools/call', { name: 'codex', arguments: { prompt: 'x' } });
    await local.client.request('ping');
    expect(local.client.responses.length).toBe(before + 1);
    expect(local.calls).toEqual([]);
  });

  test('an unknown tool is named in the error', async () => {
    const { result } = await local.client.call('nope-tool', {});
    expect(result).toEqual({
      content: [{ type: 'text', text: expect.stringMatching(/nope-tool.*codex/) }],
      isError: true,
    });
  });

  test('tools/call without a name is an error of the request', async () => {
    expect((await local.client.request('tools/call', { arguments: {} })).error.code).toBe(-32602);
  });

  test('other requests are answered while calls run', async () => {
    local.client.send({
      id: 'busy',
      method: 'tools/call',
      params: { name: 'codex', arguments: { prompt: script({ wait: -1 }) } },
    });
    await local.client.waitFor(() => local.client.events('task_started')[0]);
    expect((await local.client.request('ping')).result).toEqual({});
    expect((await local.client.request('tools/list')).result.tools).toHaveLength(2);
    expect((await local.client.call('codex', { prompt: 'hi' })).result.structuredContent.content).toBe('said: hi');
    expect(local.client.responses.find(({ id }) => id === 'busy')).toBeUndefined();
  });
});

describe('what is loaded first', () => {
  test('is all that the first call needs', async () => {
    const order: string[] = [];
    const threads = new ScriptedThreads();
    const other = startServer({
      threads: () => {
        order.push('threads');
        return Promise.resolve(threads);
      },
    });
    await other.client.initialize();
    order.push('greeting');
    expect((await other.client.call('codex', { prompt: 'x' })).result.structuredContent.content).toBe('said: x');
    expect(order).toEqual(['threads', 'greeting']);
    await other.server.close();
  });

  test('threads that can not be loaded do not keep the client from being greeted', async () => {
    const other = startServer({ threads: () => Promise.reject(new Error('no disk')) });
    expect((await other.client.initialize()).result.protocolVersion).toBe('2025-06-18');
    await other.server.close();
  });
});

describe('going away', () => {
  test('the end of the input interrupts what runs and resolves `gone`', async () => {
    await local.client.initialize();
    local.client.send({
      id: 1,
      method: 'tools/call',
      params: { name: 'codex', arguments: { prompt: script({ wait: -1 }) } },
    });
    await local.client.waitFor(() => local.client.events('task_started')[0]);
    local.client.end();
    await local.server.gone;
    expect(local.client.events('turn_aborted')).toHaveLength(1);
  });

  test('an output that broke resolves `gone`', async () => {
    await local.client.initialize();
    local.output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await expect(local.server.gone).resolves.toBeUndefined();
  });

  test('close is idempotent and works before anything was said', async () => {
    await Promise.all([local.server.close(), local.server.close()]);
    await expect(local.server.gone).resolves.toBeUndefined();
  });
});

const anyData = { data: expect.anything() };
