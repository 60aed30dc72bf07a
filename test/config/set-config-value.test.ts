import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { ConfigError, setConfigValue } from '../../src/config/index.js';
import { failureOf, World } from './world.js';

const FILE = `#:schema ./config.schema.json
# my file

model = "a" # keep me
# about features
[features] # here
undo = true   # x

[model_providers.x]
base_url = "http://a"
http_headers = { a = "b" } # inline
auth.command = "x"

[mcp_servers]
fk = { command = "c", env = {} }
`;

describe('config set', () => {
  test.each([
    ['model', 'gpt', 'model = "a" # keep me', 'model = "gpt" # keep me'],
    ['model', '"q"', 'model = "a" # keep me', 'model = "q" # keep me'],
    ['features.undo', 'false', 'undo = true   # x', 'undo = false   # x'],
    ['features.hooks', 'false', 'undo = true   # x\n', 'undo = true   # x\nhooks = false\n'],
    ['service_tier', '5', 'model = "a" # keep me\n', 'model = "a" # keep me\nservice_tier = "5"\n'],
    ['model_providers.x.http_headers.c', 'd', '{ a = "b" }', '{ a = "b", c = "d" }'],
    ['model_providers.x.auth.args', '["1"]', 'auth.command = "x"\n', 'auth.command = "x"\nauth.args = ["1"]\n'],
    ['mcp_servers.fk.env.A', 'b', 'env = {}', 'env = { A = "b" }'],
    ['mcp_servers.n.command', 'p', 'env = {} }\n', 'env = {} }\n\n[mcp_servers.n]\ncommand = "p"\n'],
    [
      'projects."/a.b".trust_level',
      'trusted',
      'env = {} }\n',
      'env = {} }\n\n[projects."/a.b"]\ntrust_level = "trusted"\n',
    ],
  ])('%s to %s changes that and nothing else', (key, value, before, after) => {
    const world = new World();
    const file = world.config(FILE);
    expect(setConfigValue(file, key, value)).toEqual({ file, warnings: [] });
    expect(readFileSync(file, 'utf8')).toBe(FILE.replace(before, after));
  });

  test('a file that begins with a table gets the key above it, below its opening comment', () => {
    const world = new World();
    const file = world.config('# mine\n\n[features]\nundo = true\n');
    setConfigValue(file, 'model', 'x');
    expect(readFileSync(file, 'utf8')).toBe('# mine\nmodel = "x"\n\n\n[features]\nundo = true\n');
  });

  test('line ends and a byte order mark stay', () => {
    const world = new World();
    const file = world.config('\uFEFFmodel = "x"\r\n[features]\r\nundo = true');
    setConfigValue(file, 'features.hooks', 'false');
    expect(readFileSync(file, 'utf8')).toBe('\uFEFFmodel = "x"\r\n[features]\r\nundo = true\r\nhooks = false\r\n');
  });

  test('a new file and its folder belong to the person alone; the mode of an old one stays', () => {
    const world = new World();
    const file = path.join(world.root, 'new/home/config.toml');
    setConfigValue(file, 'model', 'x');
    expect([
      readFileSync(file, 'utf8'),
      statSync(file).mode & 0o777,
      statSync(path.dirname(file)).mode & 0o777,
    ]).toEqual(['model = "x"\n', 0o600, 0o700]);
    chmodSync(file, 0o640);
    setConfigValue(file, 'model', 'y');
    expect([statSync(file).mode & 0o777, readdirSync(path.dirname(file))]).toEqual([0o640, ['config.toml']]);
  });

  test('the file a link points to is changed, the link stays', () => {
    const world = new World();
    const target = world.write('dotfiles/config.toml', 'model = "x"\n');
    const link = path.join(world.home, 'config.toml');
    symlinkSync(target, link);
    setConfigValue(link, 'model', 'y');
    expect([readFileSync(target, 'utf8'), lstatSync(link).isSymbolicLink()]).toEqual(['model = "y"\n', true]);
  });

  test('a key without effect is set with a warning', () => {
    const world = new World();
    expect(setConfigValue(world.config(''), 'tui.theme', 'x').warnings).toEqual([
      '`tui` is accepted but has no effect here',
    ]);
  });

  test.each([
    [
      'sandbox_mode',
      'bogus',
      'unknown value `bogus`, expected one of `read-only`, `workspace-write`, `danger-full-access` in `sandbox_mode`; nothing was changed',
    ],
    ['modle', 'x', 'unknown configuration field `modle`; did you mean `model`?; nothing was changed'],
    ['model_context_window', 'many', 'expected a number, found `many` in `model_context_window`; nothing was changed'],
    ['features', '{}', '`features` is a table there. Set its keys one by one.'],
    ['a..b', 'x', 'bad key `a..b`'],
  ])('%s to %s is refused and nothing is written', (key, value, message) => {
    const world = new World();
    const file = world.config(FILE);
    expect(failureOf(() => setConfigValue(file, key, value))).toContain(message);
    expect(readFileSync(file, 'utf8')).toBe(FILE);
  });

  test('a broken file, or one whose layout leaves no place, is left alone', () => {
    const world = new World();
    const broken = world.config('model = [\n');
    expect(failureOf(() => setConfigValue(broken, 'model', 'x'))).toContain('config.toml:');
    const scalar = world.config('features = 1\n');
    expect(failureOf(() => setConfigValue(scalar, 'features.undo', 'true'))).toContain(
      "can't be set without rewriting other parts",
    );
    expect(readFileSync(scalar, 'utf8')).toBe('features = 1\n');
    mkdirSync(path.join(world.root, 'folder'));
    expect(failureOf(() => setConfigValue(path.join(world.root, 'folder'), 'model', 'x'))).toContain('cannot be read');
    expect(existsSync(path.join(world.root, 'folder'))).toBe(true);
  });
});

/** Files in many layouts: headers, dotted keys, inline tables, comments, blank lines. */
const line = fc.constantFrom(
  'model = "a"',
  'model_verbosity = "low" # c',
  '# comment',
  '',
  'features = { undo = true }',
  'features.undo = false',
  'mcp_servers.a.command = "x"',
  'mcp_servers.a = { command = "x", env = { A = "b" } }',
  'mcp_servers = { a = { command = "x" }, b.command = "y" }',
  '[features]',
  '[features] # c',
  '  undo = true',
  '[mcp_servers]',
  '[mcp_servers.a]',
  '[mcp_servers.a.env]',
  'command = "x"',
  'env.A = "1"',
  'env = { A = """\nx\n""" }',
  'env_vars = [\n  "x", # one\n  "y",\n]',
  '[[hooks.Stop]]',
  'hooks = []',
  '[shell_environment_policy.set]',
  'A = "b"',
  '"A.B" = \'c\'',
);
const change = fc.constantFrom<[string[], string, unknown]>(
  [['model'], 'x', 'x'],
  [['model_verbosity'], 'high', 'high'],
  [['features', 'undo'], 'false', false],
  [['features', 'hooks'], 'true', true],
  [['mcp_servers', 'a', 'command'], 'new "quoted" \\ text', 'new "quoted" \\ text'],
  [['mcp_servers', 'a', 'args'], '["1", "2"]', ['1', '2']],
  [['mcp_servers', 'a', 'env', 'A'], 'ü\u007f\n', 'ü\u007f\n'],
  [['mcp_servers', 'b', 'url'], 'http://x', 'http://x'],
  [['shell_environment_policy', 'set', 'A.B'], 'z', 'z'],
  [['shell_environment_policy', 'set'], '{ Z = "1" }', { Z: '1' }],
  [['sandbox_workspace_write', 'network_access'], 'true', true],
);

/** The file with one value changed, without prototypes and order. */
function expected(before: string, names: readonly string[] = [], value?: unknown): unknown {
  const table = JSON.parse(JSON.stringify(parse(before)));
  if (names.length === 0) return table;
  let here = table;
  for (const name of names.slice(0, -1)) here = here[name] ??= {};
  here[names.at(-1) ?? ''] = value;
  return table;
}

function attempt(file: string, key: string, value: string): boolean {
  try {
    setConfigValue(file, key, value);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

function comments(text: string): string[] {
  return text.split(/\r?\n/).flatMap(line => (line.includes('#') ? [line.slice(line.indexOf('#'))] : []));
}

test('what is there after a change is what was there plus the change, or the file is untouched', () => {
  const world = new World();
  let changed = 0;
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 10 }),
      change,
      fc.constantFrom('\n', '\r\n'),
      (lines, [names, value, parsed], newline) => {
        const key = names.map(name => (name.includes('.') ? `"${name}"` : name)).join('.');
        const before = lines.join(newline) + newline;
        const file = world.config(before);
        try {
          parse(before);
        } catch {
          return;
        }
        const set = attempt(file, key, value);
        if (set) changed++;
        const after = readFileSync(file, 'utf8');
        expect(comments(after)).toEqual(comments(before));
        expect(JSON.parse(JSON.stringify(parse(after)))).toEqual(
          set ? expected(before, names, parsed) : expected(before),
        );
        expect(set || after === before).toBe(true);
        attempt(file, key, value);
        expect(readFileSync(file, 'utf8')).toBe(after);
      },
    ),
    { numRuns: 120 },
  );
  expect(changed).toBeGreaterThan(30);
});
