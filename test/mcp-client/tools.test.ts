import { describe, expect, test } from 'vitest';
import { McpWorld } from './support.js';

const LEGAL = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

describe('names', () => {
  test('are legal for every wire, unique, and the same in whatever order the tools come', async () => {
    const names = ['a.b', 'a:b', 'a_b', 'größe', 'x'.repeat(100), `${'x'.repeat(100)}y`, 'tool', ' spaced '];
    const listed = async (tools: string[]) => {
      const world = new McpWorld();
      const thread = await world.thread([world.scripted({ tools: tools.map(name => ({ name, description: name })) })]);
      return new Map(
        thread.servers
          .specs()
          .map(spec => [spec.type === 'function' ? spec.description : '', 'name' in spec ? spec.name : '']),
      );
    };
    const forwards = await listed(names);
    const backwards = await listed(names.toReversed());
    expect(new Set(forwards.values()).size).toBe(names.length);
    for (const name of forwards.values()) expect(name).toMatch(LEGAL);
    expect(new Map([...backwards].toReversed())).toEqual(forwards);
    expect(forwards.get('a_b')).toBe('mcp__fk__a_b');
    expect(forwards.get('tool')).toBe('mcp__fk__tool');
  });

  test('of servers are made legal and unique as well', async () => {
    const world = new McpWorld();
    const servers = ['my server', 'my.server', 'my_server', 's'.repeat(80), 'a', 'a__b'];
    const thread = await world.thread(
      servers.map(name => world.scripted({ tools: [{ name: 'c' }, { name: 'b__c' }] }, { name })),
    );
    const names = thread.names();
    expect(new Set(names).size).toBe(2 * servers.length);
    for (const name of names) expect(name).toMatch(LEGAL);
    for (const [i, name] of servers.entries()) {
      const { items } = await thread.call(names[2 * i] ?? '');
      expect(items).toMatchObject([{ server: name, tool: 'c' }]);
    }
  });
});

describe('faulty lists', () => {
  test('a tool that is described badly costs itself at most', async () => {
    const world = new McpWorld();
    const thread = await world.thread([
      world.scripted({
        tools: [
          { name: 'no_schema', inputSchema: null },
          { name: 'text_schema', inputSchema: 'string' },
          { name: 'array_schema', inputSchema: { type: 'array' } },
          { name: 'untyped', inputSchema: { properties: { a: { type: 'number' } } } },
          { name: 'odd', inputSchema: { type: 'object', properties: { a: true, b: { enum: [1] } }, required: 'a' } },
          { description: 'no name' },
          { name: 'hints', annotations: { readOnlyHint: 'yes', destructiveHint: 0 } },
          { name: 'outputs', outputSchema: { type: 'array', items: { $ref: '#/nowhere' } } },
          { name: 'good' },
          { name: 'good', description: 'a second one' },
        ],
      }),
    ]);
    const schemas = Object.fromEntries(
      thread.servers.specs().flatMap(spec => (spec.type === 'function' ? [[spec.name.slice(9), spec.parameters]] : [])),
    );
    const open = { type: 'object', properties: {} };
    expect(schemas).toEqual({
      no_schema: open,
      text_schema: open,
      array_schema: open,
      untyped: { type: 'object', properties: { a: { type: 'number' } } },
      odd: { type: 'object', properties: { a: true, b: { enum: [1] } } },
      hints: { type: 'object', properties: { text: { type: 'string' } } },
      outputs: { type: 'object', properties: { text: { type: 'string' } } },
      good: { type: 'object', properties: { text: { type: 'string' } } },
    });
    expect((await thread.call('mcp__fk__outputs')).text).toBe('outputs got {}');
    expect(world.log.filter(line => line.startsWith('warn '))).toHaveLength(1);
  });

  test('descriptions and schemas of any size are bounded', async () => {
    const world = new McpWorld();
    const properties = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [`p${i}`, { type: 'string', description: 'd'.repeat(500) }]),
    );
    const few = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        `p${i}`,
        { type: 'string', description: 'd'.repeat(500), examples: ['e'] },
      ]),
    );
    const thread = await world.thread([
      world.scripted({
        tools: [
          { name: 'long', description: 'é'.repeat(50_000) },
          { name: 'many', inputSchema: { type: 'object', properties } },
          { name: 'wordy', inputSchema: { type: 'object', properties: few } },
        ],
      }),
    ]);
    const [long, many, wordy] = thread.servers.specs();
    expect(Buffer.byteLength(JSON.stringify(long))).toBeLessThan(5000);
    expect(JSON.stringify(many).length).toBeLessThan(33_000);
    expect(many).toMatchObject({ parameters: { type: 'object', additionalProperties: true } });
    expect(wordy).toMatchObject({
      parameters: { properties: { p99: { type: 'string', description: 'd'.repeat(160) } } },
    });
  });
});

test('tools are chosen by enabled_tools and disabled_tools', async () => {
  const world = new McpWorld();
  const tools = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  const thread = await world.thread([
    world.scripted({ tools }, { name: 'x', enabled_tools: ['a', 'b'], disabled_tools: ['b'] }),
    world.scripted({ tools }, { name: 'y', disabled_tools: ['a'] }),
  ]);
  expect(thread.names()).toEqual(['mcp__x__a', 'mcp__y__b', 'mcp__y__c']);
});

describe('many tools', () => {
  const tools = [
    ...Array.from({ length: 498 }, (_, i) => ({ name: `filler_${i}`, description: 'Does nothing of interest.' })),
    {
      name: 'getWeather',
      description: 'Forecast of rain and sun',
      inputSchema: { type: 'object', properties: { city: {} } },
    },
    { name: 'list_invoices', description: 'Bills of a customer' },
  ];

  test('are found by a search, and listed from then on', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools }, { name: 'big' })]);
    expect(thread.names()).toEqual(['tool_search']);
    expect(JSON.stringify(thread.servers.specs()).length).toBeLessThan(6000);
    const found = await thread.call('tool_search', { query: 'weather in a city', limit: 1 });
    expect(found.text).toContain('- mcp__big__getWeather: Forecast of rain and sun');
    expect(thread.names()).toEqual(['tool_search', 'mcp__big__getWeather']);
    expect((await thread.call('tool_search', { query: 'invoice', limit: 3 })).text).toContain(
      'mcp__big__list_invoices',
    );
    expect(thread.names()).toEqual(['tool_search', 'mcp__big__getWeather', 'mcp__big__list_invoices']);
    expect((await thread.call('tool_search', { query: 'xyzzy' })).text).toBe(
      'No tool matches "xyzzy". Try other words.',
    );
  });

  test('can be called without a search by a model that knows them, and after a resume', async () => {
    const world = new McpWorld();
    const servers = world.servers();
    const thread = await world.thread([world.scripted({ tools }, { name: 'big' })], { servers });
    expect((await thread.call('mcp__big__filler_7')).text).toBe('filler_7 got {}');
    expect(thread.names()).toEqual(['tool_search', 'mcp__big__filler_7']);
    const resumed = await world.thread([world.scripted({ tools }, { name: 'big' })], { servers });
    resumed.servers.recall(['exec_command', 'mcp__big__filler_9']);
    expect(resumed.names()).toEqual(['tool_search', 'mcp__big__filler_9']);
  });

  test('are all listed where the feature is off', async () => {
    const world = new McpWorld();
    const thread = await world.thread([world.scripted({ tools })], { search: false });
    expect(thread.names()).toHaveLength(500);
  });

  test('a few with long descriptions count as many', async () => {
    const world = new McpWorld();
    const wordy = Array.from({ length: 15 }, (_, i) => ({ name: `t${i}`, description: 'word '.repeat(700) }));
    const thread = await world.thread([world.scripted({ tools: wordy })]);
    expect(thread.names()).toEqual(['tool_search']);
  });
});
