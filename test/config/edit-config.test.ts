import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { editConfig, hasConfigKey } from '../../src/config/index.js';
import { failureOf, World } from './world.js';

const FILE = `# top
model = "m" # keep

# about a
[mcp_servers.a] # header
command = "x" # the program
args = [
  "1", # one
]

# about its environment
[mcp_servers.a.env]
K = "v"

# about b
[mcp_servers.b]
command = "y"
[features]
undo = true
`;

function edited(text: string, ...path: string[]): string {
  const world = new World();
  const file = world.config(text);
  editConfig(file, [{ type: 'remove', path }]);
  return readFileSync(file, 'utf8');
}

describe('removing from config.toml', () => {
  test('a server goes with its tables, every comment stays', () => {
    expect(edited(FILE, 'mcp_servers', 'a')).toBe(`# top
model = "m" # keep

# about a
# about its environment
# about b
[mcp_servers.b]
command = "y"
[features]
undo = true
`);
  });

  test.each([
    ['the last table', '[a]\nx = 1\n\n[mcp_servers.a]\ncommand = "x"\n', '[a]\nx = 1\n'],
    ['the last tables', 'x = 1\n\n[mcp_servers.a]\nurl = "x"\n\n[mcp_servers.a.http_headers]\nA = "b"\n\n', 'x = 1\n'],
    ['the last table, below a comment', '# about a\n\n[mcp_servers.a]\ncommand = "x"\n', '# about a\n'],
    ['no line end at the end', '[mcp_servers.a]\ncommand = "x"', ''],
    ['a dotted key', 'mcp_servers.a.command = "x"\nmodel = "m"\n', 'model = "m"\n'],
    ['the only member of an inline table', 'mcp_servers = { a = { command = "x" } }\n', 'mcp_servers = {}\n'],
    ['the first member', 'mcp_servers = { a = { command = "x" }, b = {} }\n', 'mcp_servers = { b = {} }\n'],
    ['the last member', 'mcp_servers = { b = {}, a = { command = "x" } }\n', 'mcp_servers = { b = {} }\n'],
    ['a quoted name', '[mcp_servers."a"]\ncommand = "x"\n', ''],
    ['Windows line ends', '[x]\r\ny = 1\r\n[mcp_servers.a]\r\ncommand = "x"\r\n', '[x]\r\ny = 1\r\n'],
    ['nothing there', 'model = "m"\n', 'model = "m"\n'],
  ])('%s', (_, text, left) => {
    expect(edited(text, 'mcp_servers', 'a')).toBe(left);
  });

  test('the file itself is asked, not the configuration in force', () => {
    const file = new World().config(FILE);
    expect(hasConfigKey(file, ['mcp_servers', 'a'])).toBe(true);
    expect(hasConfigKey(file, ['mcp_servers', 'c'])).toBe(false);
    expect(hasConfigKey(`${file}.missing`, ['mcp_servers', 'a'])).toBe(false);
  });
});

describe('several changes at once', () => {
  test('a server is replaced', () => {
    const file = new World().config(FILE);
    editConfig(file, [
      { type: 'remove', path: ['mcp_servers', 'a'] },
      { type: 'set', path: ['mcp_servers', 'a', 'url'], value: 'http://x/' },
      { type: 'set', path: ['mcp_servers', 'a', 'http_headers'], value: { 'X-A': 'b"c' } },
    ]);
    const text = readFileSync(file, 'utf8');
    expect((parse(text).mcp_servers as Record<string, unknown>).a).toEqual({
      url: 'http://x/',
      http_headers: { 'X-A': 'b"c' },
    });
    expect(text.match(/#.*/g)).toEqual(['# top', '# keep', '# about a', '# about its environment', '# about b']);
  });

  test('one that is not allowed undoes all of them', () => {
    const file = new World().config(FILE);
    const failure = failureOf(() =>
      editConfig(file, [
        { type: 'remove', path: ['mcp_servers', 'a'] },
        { type: 'set', path: ['mcp_servers', 'a', 'args'], value: 'no list' },
      ]),
    );
    expect(failure).toContain('mcp_servers.a.args');
    expect(readFileSync(file, 'utf8')).toBe(FILE);
  });
});
