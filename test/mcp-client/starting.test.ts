import { describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { http, McpWorld, server } from './support.js';

const missing = (name: string) => server({ type: 'stdio', command: '/nonexistent/x', args: [], env: {} }, { name });

describe('starting servers', () => {
  test('threads with equal settings in one folder share a server; other folders and settings have their own', async () => {
    const world = new McpWorld();
    const servers = world.servers();
    const settings = world.scripted({ tools: [{ name: 'echo' }] });
    for (let i = 0; i < 3; i++) await world.thread([settings], { servers });
    expect(world.starts()).toBe(1);
    await world.thread([settings], { servers, cwd: world.root });
    await until(() => world.starts() === 2);
    await world.thread([world.scripted({ tools: [{ name: 'echo' }] }, { env: { A: 'b' } })], { servers });
    await until(() => world.starts() === 3);
  });

  test('dead servers cost a report and keep the others', async () => {
    const world = new McpWorld();
    const thread = await world.thread([
      missing('missing'),
      world.scripted({ dieOn: 'start', stderr: 'no licence\n' }, { name: 'dying' }),
      http('http://127.0.0.1:9/mcp', {}, { name: 'refused' }),
      world.scripted({ tools: [{ name: 'echo' }] }),
    ]);
    await until(() => !thread.isStarting());
    expect(thread.names()).toEqual(['mcp__fk__echo']);
    expect(thread.state('missing')).toBe('failed: /nonexistent/x: command not found.');
    expect(thread.state('dying')).toContain('its process ended with exit code 7; its log ends with: no licence');
    expect(thread.state('refused')).toMatch(/^failed: /);
    expect(thread.missing).toEqual([]);
  });

  test('a server that never answers fails at its limit and is gone', async () => {
    const world = new McpWorld();
    const silent = world.scripted({ silent: ['initialize'] }, { startup_timeout_ms: 500, required: true });
    const thread = await world.thread([silent]);
    expect(thread.missing).toEqual([{ server: 'fk', error: 'it was not ready within 0.5 s (startup_timeout_sec)' }]);
  });

  test('a server that keeps silent to what it does not know is asked in the older way', async () => {
    const world = new McpWorld();
    const spec = { silent: ['server/discover'], tools: [{ name: 'echo' }] };
    const thread = await world.thread([world.scripted(spec, { startup_timeout_ms: 2000 })]);
    expect(thread.names()).toEqual(['mcp__fk__echo']);
    expect(world.starts()).toBe(1);
  });

  test('a server that ends at what it does not know is started once more, and remembered as such', async () => {
    const world = new McpWorld();
    const settings = world.scripted({ dieOn: 'server/discover', tools: [{ name: 'echo' }] });
    const thread = await world.thread([settings]);
    expect(thread.names()).toEqual(['mcp__fk__echo']);
    expect(world.starts()).toBe(2);
    await world.close();
    const later = await world.thread([settings]);
    expect((await later.call('mcp__fk__echo')).text).toBe('echo got {}');
    expect(world.starts()).toBe(3);
  });

  test('an older revision is spoken where the server knows no newer one', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ versions: ['2024-11-05'], tools: [{ name: 'echo' }] })]);
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
  });

  test('a required server is waited for; when it fails, it is named', async () => {
    const world = new McpWorld();
    const thread = await world.thread([
      world.scripted({ startDelayMs: 1500, tools: [{ name: 'late' }] }, { required: true }),
      world.scripted({}, { name: 'quick' }),
      { ...missing('gone'), required: true },
    ]);
    expect(thread.names()).toEqual(['mcp__fk__late']);
    expect(thread.missing).toEqual([{ server: 'gone', error: '/nonexistent/x: command not found.' }]);
  });

  test('the tools of a slow server come with a later request; a search waits for them', async () => {
    const world = new McpWorld();
    const thread = await world.thread([
      world.scripted({ tools: [{ name: 'echo' }] }),
      world.scripted({ startDelayMs: 1500, tools: [{ name: 'late' }] }, { name: 'slow' }),
    ]);
    expect(thread.names()).toEqual(['mcp__fk__echo', 'tool_search']);
    const search = thread.servers.specs().at(-1);
    expect(search).toMatchObject({
      description: expect.stringContaining('Still starting, their tools are not known yet: slow'),
    });
    expect((await thread.call('tool_search', { query: 'late' })).text).toContain('- mcp__slow__late:');
    expect(thread.names()).toEqual(['mcp__fk__echo', 'mcp__slow__late']);
  });

  test('a thread that is interrupted while it waits goes on at once', async () => {
    const world = new McpWorld();
    const thread = world.servers().forThread([world.scripted({ startDelayMs: 60_000 }, { required: true })], {
      cwd: world.cwd,
      search: true,
    });
    const end = thread.beginTurn(() => {});
    const stop = new AbortController();
    const ready = thread.ready(stop.signal);
    stop.abort();
    expect(await ready).toEqual([]);
    end();
  });
});

describe('what is remembered of a server', () => {
  test('its tools are offered by the next process before it has started, and a call waits for it', async () => {
    const world = new McpWorld();
    const settings = world.scripted({ startDelayMs: 700, tools: [{ name: 'echo' }] });
    await world.thread([settings]);
    await world.close();
    const thread = await world.thread([settings]);
    expect(thread.state('fk')).toBe('idle');
    expect(thread.names()).toEqual(['mcp__fk__echo']);
    expect((await thread.call('mcp__fk__echo')).text).toBe('echo got {}');
  });

  test('it is started although nobody calls it, and its tools are those it has now', async () => {
    const world = new McpWorld();
    const settings = world.scripted({ tools: [{ name: 'echo' }] });
    await world.thread([settings]);
    await world.close();
    const thread = await world.thread([settings]);
    await until(() => thread.state('fk') === 'ready');
    expect(world.starts()).toBe(2);
  });

  test('that it failed: it is not waited for again', async () => {
    const world = new McpWorld();
    const silent = world.scripted({ silent: ['initialize'] }, { startup_timeout_ms: 400 });
    const first = await world.thread([silent]);
    expect(first.state('fk')).toContain('failed');
    await world.close();
    const thread = await world.thread([silent]);
    expect(thread.state('fk')).toBe('idle');
    await until(() => thread.state('fk').startsWith('failed'));
  });

  test('is given up for what the server says', async () => {
    const world = new McpWorld();
    const settings = world.scripted({ tools: [{ name: 'old' }] });
    await world.thread([settings]);
    await world.close();
    const { readdirSync, readFileSync, writeFileSync } = await import('node:fs');
    const folder = `${world.home}/state/mcp-tools`;
    const [file = ''] = readdirSync(folder);
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    writeFileSync(`${folder}/${file}`, text.replaceAll('old', 'new'));
    const thread = await world.thread([settings]);
    expect(thread.names()).toEqual(['mcp__fk__new']);
    expect((await thread.call('mcp__fk__new')).text).toContain('it has no tool new any more');
    expect(thread.names()).toEqual(['mcp__fk__old']);
  });

  test('a broken file costs nothing', async () => {
    const world = new McpWorld();
    const settings = world.scripted({ tools: [{ name: 'echo' }] });
    await world.thread([settings]);
    await world.close();
    const { readdirSync, writeFileSync } = await import('node:fs');
    const folder = `${world.home}/state/mcp-tools`;
    for (const file of readdirSync(folder)) writeFileSync(`${folder}/${file}`, '{"version":1,');
    expect((await world.thread([settings])).names()).toEqual(['mcp__fk__echo']);
  });
});

describe('the list of tools', () => {
  test('comes in pages', async () => {
    const world = new McpWorld();
    const tools = Array.from({ length: 7 }, (_, i) => ({ name: `t${i}` }));
    const thread = await world.thread([world.scripted({ tools, pageSize: 3 })]);
    expect(thread.names()).toEqual(tools.map(({ name }) => `mcp__fk__${name}`));
  });

  test('that never ends costs the server, not the thread', async () => {
    const world = new McpWorld();
    const thread = await world.thread([
      world.scripted({ endlessPages: true }),
      world.scripted({ tools: [{ name: 'echo' }] }, { name: 'good' }),
    ]);
    expect(thread.names().filter(name => name !== 'tool_search')).toEqual(['mcp__good__echo']);
    await until(() => thread.state('fk').startsWith('failed') && true);
  });

  test('may change: the next request has the new ones', async () => {
    const world = new McpWorld();
    const tools = [{ name: 'grow', adds: { name: 'grown' } }];
    const thread = await world.thread([world.scripted({ listChanged: true, tools })]);
    await thread.call('mcp__fk__grow');
    await until(() => thread.names().includes('mcp__fk__grown'));
    expect((await thread.call('mcp__fk__grown')).text).toBe('grown got {}');
  });

  test('a tool that turns out to do more than was known is not called before that is decided', async () => {
    const world = new McpWorld();
    const tools = [
      { name: 'soft', annotations: { readOnlyHint: true } },
      { name: 'turn', adds: { name: 'x' } },
    ];
    const settings = world.scripted({ listChanged: true, tools });
    await world.thread([settings]);
    await world.close();
    const changed = world.scripted({ listChanged: true, tools: [{ name: 'soft' }, { name: 'turn' }] });
    const { readdirSync, copyFileSync } = await import('node:fs');
    const folder = `${world.home}/state/mcp-tools`;
    const [before = ''] = readdirSync(folder);
    await world.thread([changed]);
    await world.close();
    const after = readdirSync(folder).find(file => file !== before) ?? '';
    copyFileSync(`${folder}/${before}`, `${folder}/${after}`);
    const thread = await world.thread([changed]);
    expect((await thread.call('mcp__fk__soft')).text).toContain('the tool has changed since it was offered');
    expect(world.seen().filter(line => line['method'] === 'tools/call')).toEqual([]);
    expect((await thread.call('mcp__fk__soft')).text).toBe('soft got {}');
  });
});
