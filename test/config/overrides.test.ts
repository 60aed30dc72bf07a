import { describe, expect, test } from 'vitest';
import { featureOverride, flattenCallConfig, parseOverride } from '../../src/config/index.js';
import { failureOf, World } from './world.js';

describe('-c', () => {
  test.each([
    ['model=gpt-5.2', 'gpt-5.2'],
    ['model="gpt-5.2"', 'gpt-5.2'],
    ["model='gpt-5.2'", 'gpt-5.2'],
    [' model = x=y ', 'x=y'],
    ['model=', ''],
    ['n=3', 3],
    ['n=1.5', 1.5],
    ['b=true', true],
    ['a=["x", "y"]', ['x', 'y']],
    ['t={"X-A"="1"}', { 'X-A': '1' }],
    ['s="unclosed', 'unclosed'],
    ['s=[1', '[1'],
    ['s=a\nmodel="x"', 'a\nmodel="x"'],
    ['s=1\nmodel="x"', '1\nmodel="x"'],
    ['s=say "hi"', 'say "hi"'],
  ])('%j', (text, value) => {
    const override = parseOverride(text, '-c');
    expect({ ...override, value: structuredClone(override.value) }).toEqual({
      path: text.slice(0, text.indexOf('=')).trim(),
      value: structuredClone(value),
      source: '-c',
    });
  });

  test.each([
    ['foo', "Invalid override (missing '='): foo. Write -c key=value."],
    ['=1', 'Invalid override (empty key): =1. Write -c key=value.'],
    ['a..b=1', 'Invalid override (bad key `a..b`) in -c: write names joined by dots.'],
    ['a."b=1', 'Invalid override (bad key `a."b`) in -c: write names joined by dots.'],
  ])('%j is refused', (text, message) => {
    expect(failureOf(() => parseOverride(text, '-c'))).toBe(message);
  });

  test('dotted keys make the tables between, and replace what is no table', () => {
    const config = new World().load({
      c: [
        'approval_policy=never',
        'approval_policy.granular.rules=false',
        'mcp_servers.a.command=x',
        'mcp_servers.a.args=["y"]',
      ],
    });
    expect(config.approval_policy).toEqual({
      granular: {
        sandbox_approval: true,
        rules: false,
        mcp_elicitations: true,
        request_permissions: false,
        skill_approval: false,
      },
    });
    expect(config.mcp_servers[0]?.transport).toMatchObject({ command: 'x', args: ['y'] });
  });

  test('relative paths belong to the folder of the process', () => {
    const world = new World();
    const config = world.load({
      c: ['sandbox_mode="workspace-write"', 'sandbox_workspace_write.writable_roots=["x"]', 'log_dir=~/logs'],
    });
    expect(config.sandbox_policy).toMatchObject({ writable_roots: [`${world.cwd}/x`] });
    expect(config.log_dir).toBe(`${world.user}/logs`);
  });
});

describe('the config of a call', () => {
  test('takes nested and dotted keys, and drops nulls', () => {
    const world = new World();
    const overrides = flattenCallConfig({
      'features.undo': true,
      features: { hooks: false, tool_search: null },
      sandbox_mode: null,
      model_providers: { x: { base_url: 'http://a', http_headers: { 'a.b': 'c', gone: null } } },
      'model_providers.x.env_key': 'X',
      model_provider: 'x',
      model_auto_compact_token_limit: 5000,
    });
    expect(world.load({ overrides })).toMatchObject({
      features: { undo: true, hooks: false, tool_search: true },
      provider: { id: 'x', base_url: 'http://a', env_key: 'X', http_headers: { 'a.b': 'c' } },
      model_auto_compact_token_limit: 5000,
    });
    expect(world.load({ overrides }).call_config).toEqual(overrides);
  });

  test('wins over the flags of the server', () => {
    const config = new World().load({ c: ['model=flag'], overrides: flattenCallConfig({ model: 'call' }) });
    expect(config.model).toBe('call');
    expect(config.call_config).toEqual([{ path: 'model', value: 'call', source: 'the config argument' }]);
  });

  test('an empty mcp_servers means none, other empty tables change nothing', () => {
    const world = new World();
    world.config('[mcp_servers.a]\ncommand = "x"\n[model_providers.p]\nbase_url = "http://a"\n');
    expect(world.load({ overrides: flattenCallConfig({ mcp_servers: {} }) }).mcp_servers).toEqual([]);
    expect(world.load({ overrides: flattenCallConfig({ mcp_servers: { a: {} } }) }).mcp_servers).toHaveLength(1);
    const same = world.load({ overrides: flattenCallConfig({ model_providers: {}, model_provider: 'p' }) });
    expect(same.provider.base_url).toBe('http://a');
    const added = world.load({ overrides: flattenCallConfig({ mcp_servers: {}, 'mcp_servers.b.command': 'y' }) });
    expect(added.mcp_servers.map(server => server.name)).toEqual(['b']);
  });

  test('values of the wrong type name the key and the value', () => {
    const overrides = flattenCallConfig({ sandbox_mode: 'bogus-mode', 'model_providers.x': 'y' });
    expect(new World().failure({ overrides })).toBe(
      [
        'unknown value `bogus-mode`, expected one of `read-only`, `workspace-write`, `danger-full-access` in `sandbox_mode` (from the config argument)',
        'expected a table, found `y` in `model_providers.x` (from the config argument)',
      ].join('\n'),
    );
  });

  test('that is nested without end is refused', () => {
    let nested: unknown = 1;
    for (let i = 0; i < 10_000; i++) nested = [nested];
    expect(failureOf(() => flattenCallConfig({ notify: nested }))).toContain('nested too deeply');
  });
});

describe('--enable and --disable', () => {
  test('set a feature, known here or in the reference', () => {
    expect(featureOverride('undo', true)).toEqual({ path: 'features.undo', value: true, source: '--enable' });
    expect(featureOverride('goals', false)).toEqual({ path: 'features.goals', value: false, source: '--disable' });
    expect(new World().load({ overrides: [featureOverride('unified_exec', false)] }).features.unified_exec).toBe(false);
  });

  test('refuse a name nobody knows', () => {
    expect(failureOf(() => featureOverride('unified_exek', true))).toBe(
      'Unknown feature flag: unified_exek. Did you mean unified_exec?',
    );
    expect(failureOf(() => featureOverride('nope', true))).toMatch(
      /^Unknown feature flag: nope\. Known features: unified_exec, /,
    );
  });
});
