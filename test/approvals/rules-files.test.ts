import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkCommand, loadRules, loadRulesFiles, NO_RULES } from '../../src/approvals/index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync('/var/tmp/rules-');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Loads one file with this text; the folder's path is taken out of the problems. */
async function load(source: string) {
  const path = join(folder, 'a.rules');
  writeFileSync(path, source);
  const { rules, problems } = await loadRulesFiles([path]);
  return { rules, problems: problems.map(problem => problem.replace(`${folder}/`, '')) };
}

describe('what is read', () => {
  test('every kind of rule, with names, positions, comments, escapes and joined strings', async () => {
    const { rules, problems } = await load(`
"""What this team allows."""
# a comment with 'quotes" and [brackets
TOOLS = ["make", 'just']
prefix_rule(
    pattern = ["git", ["status", "log"],],  # alternatives
    decision = "prompt",
    justification = "look " + 'first',
    match = ["git status -s", ["git", "log", "-3"]],
    not_match = ["git push"],
)
prefix_rule([TOOLS, "te" + ("s" + "t")], "allow"); prefix_rule(["a\\x62\\u0063\\n\\101"])
prefix_rule(pattern=[r"a\\n", """three
lines"""], decision="forbidden")
host_executable(name = "git", paths = ["/usr/bin/git", "/opt/git/bin/git"])
network_rule(host = "Example.COM.", protocol = "https", decision = "deny", justification = "no")
network_rule("::1", "socks5_tcp", "allow")
`);
    expect(problems).toEqual([]);
    expect(rules).toEqual({
      prefixes: [
        { pattern: [['git'], ['status', 'log']], decision: 'prompt', justification: 'look first' },
        { pattern: [['make', 'just'], ['test']], decision: 'allow', justification: null },
        { pattern: [['abc\nA']], decision: 'allow', justification: null },
        { pattern: [['a\\n'], ['three\nlines']], decision: 'forbidden', justification: null },
      ],
      hostExecutables: new Map([['git', ['/usr/bin/git', '/opt/git/bin/git']]]),
      network: [
        { host: 'example.com', protocol: 'https', decision: 'forbidden', justification: 'no' },
        { host: '::1', protocol: 'socks5_tcp', decision: 'allow', justification: null },
      ],
    });
  });

  test('a file without rules, with a byte order mark or with Windows line ends', async () => {
    expect(await load('')).toEqual({ rules: NO_RULES, problems: [] });
    expect(await load('# nothing')).toEqual({ rules: NO_RULES, problems: [] });
    const { rules, problems } = await load('\ufeffprefix_rule(\r\n  pattern=["ls"]\r\n)\r\n');
    expect([rules.prefixes.length, problems]).toEqual([1, []]);
  });
});

describe('what is wrong is said with its place', () => {
  test.each([
    ['prefix_rule(pattern=["a"', "a.rules:1:25: expected ',' or ']', found end of file"],
    ['prefix_rule(pattern=["a"\n\nfoo', "a.rules:3:1: expected ',' or ']', found foo"],
    ['prefix_rule(pattern=["a)\n', 'a.rules:1:22: this string has no end'],
    ['prefix_rule(pattern=["a" "b"])', "a.rules:1:26: expected ',' or ']', found a string"],
    ['prefix_rule(pattern=["a", ")" ")"])', "a.rules:1:31: expected ',' or ']', found a string"],
    ['prefix_rule(pattern=["\\q"])', "a.rules:1:22: unknown escape '\\q' in this string; write '\\\\' for '\\'"],
    ['prefix_rule(pattern=[])', 'a.rules:1:21: pattern must not be empty'],
    ['prefix_rule(pattern="git")', 'a.rules:1:21: pattern must be a list, not a string'],
    ['prefix_rule(pattern=["git", []])', 'a.rules:1:29: a list of alternatives must not be empty'],
    ['prefix_rule(pattern=["git", [["a"]]])', 'a.rules:1:30: an alternative must be a string here, not a list'],
    ['prefix_rule(pattern=["git", 1])', "a.rules:1:29: unexpected '1': only calls with strings and lists are read"],
    ['prefix_rule()', "a.rules:1:1: prefix_rule needs the argument 'pattern'"],
    [
      'prefix_rule(pattern=["a"], decision="maybe")',
      "a.rules:1:37: decision must be one of allow, prompt, forbidden, not 'maybe'",
    ],
    [
      'prefix_rule(pattern=["a"], foo="x")',
      "a.rules:1:28: prefix_rule has no argument 'foo'; it takes pattern, decision, match, not_match, justification",
    ],
    ['prefix_rule(["a"], pattern=["b"])', "a.rules:1:20: 'pattern' is given twice"],
    [
      'prefix_rule(pattern=["a"], "allow")',
      'a.rules:1:28: an argument without a name must stand before those with one',
    ],
    [
      'prefix_rule(pattern=["a"], justification=" ")',
      'a.rules:1:42: justification must not be empty; leave it out instead',
    ],
    [
      'prefix_rule(pattern=["a"]) prefix_rule(pattern=["b"])',
      'a.rules:1:28: expected the end of the line, found prefix_rule',
    ],
    ['\n  prefix_rule(pattern=[x])', "a.rules:2:24: 'x' is not known; strings and lists are read, nothing is computed"],
    ['load("x", "y")', "a.rules:1:1: 'load' is not known; use prefix_rule, host_executable or network_rule"],
    [
      'for x in ["a"]:\n  prefix_rule(pattern=[x])',
      "a.rules:1:15: unexpected ':': only calls with strings and lists are read",
    ],
    ['x = "a" + ["b"]', "a.rules:1:9: a string and a list can't be joined"],
    [
      'host_executable(name="/a/git", paths=[])',
      "a.rules:1:22: name must be a program name without a path, not '/a/git'",
    ],
    ['host_executable(name="git", paths=["git"])', "a.rules:1:36: 'git' must be an absolute path"],
    [
      'host_executable(name="git", paths=["/usr/bin/hg"])',
      "a.rules:1:36: the last part of '/usr/bin/hg' must be 'git'",
    ],
    [
      'network_rule(host="*.a.com", protocol="https", decision="allow")',
      "a.rules:1:19: host must be one host name or address without scheme, path or '*', not '*.a.com'",
    ],
    [
      'network_rule(host="a.com", protocol="ftp", decision="allow")',
      "a.rules:1:37: protocol must be one of http, https, socks5_tcp, socks5_udp, not 'ftp'",
    ],
    [
      'prefix_rule(pattern=["git", ["a", "b"]], match=["git c"])',
      "a.rules:1:49: 'git c' should match but does not: the rule is for 'git (a|b)'",
    ],
    [
      'prefix_rule(pattern=["a"], not_match=["b", "a c"])',
      "a.rules:1:44: 'a c' should not match but does: the rule is for 'a'",
    ],
    ['prefix_rule(pattern=["a"], match=["a \\"b"])', 'a.rules:1:35: this example has an open quote'],
    ['prefix_rule(pattern=["a"], match=[" "])', 'a.rules:1:35: an example must not be empty'],
  ])('%j', async (source, problem) => {
    expect((await load(source)).problems).toEqual([problem]);
  });

  test('text that would grow without end is refused', async () => {
    const doubling = `x0 = ["a"]\n${Array.from({ length: 40 }, (_, i) => `x${i + 1} = x${i} + x${i}`).join('\n')}`;
    expect((await load(doubling)).problems[0]).toMatch(/:18:11: this list gets too long$/);
    expect((await load(`x = ${'['.repeat(5000)}`)).problems[0]).toMatch(/nested too deeply$/);
  });

  test('no text throws', async () => {
    const piece = fc.constantFrom(
      'prefix_rule',
      '(',
      ')',
      '[',
      ']',
      ',',
      '=',
      '"a"',
      "'",
      '"""',
      '\\',
      '\n',
      ' ',
      '#',
      'x',
      '+',
      ';',
    );
    const source = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 20 }).map(parts => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(source, async text => {
        for (const problem of (await load(text)).problems) expect(problem).toMatch(/^a\.rules:\d+:\d+: ./);
      }),
      { numRuns: 300 },
    );
  });
});

test('a file with a fault allows nothing, and restricts as far as it could be read', async () => {
  const { rules, problems } = await load(`
prefix_rule(pattern=["make"], decision="allow")
prefix_rule(pattern=["git", "push"], decision="forbidden")
network_rule("a.com", "https", "allow")
network_rule("b.com", "https", "deny")
oops(
prefix_rule(pattern=["rm"], decision="forbidden")
`);
  expect(problems).toHaveLength(1);
  expect(rules.prefixes.map(rule => rule.pattern)).toEqual([[['git'], ['push']]]);
  expect(rules.network.map(rule => rule.host)).toEqual(['b.com']);
});

describe('folders', () => {
  test('all .rules files count, in the order of folders and names; others and missing folders do not', async () => {
    for (const [path, program] of [
      ['one/b.rules', 'b'],
      ['one/a.rules', 'a'],
      ['one/notes.txt', 'x'],
      ['two/c.rules', 'c'],
    ] as const) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(
        join(folder, path),
        `prefix_rule(pattern=["${program}"])\nhost_executable("git", ["/${program}/git"])`,
      );
    }
    const { rules, problems } = await loadRules(['one', 'missing', 'two'].map(name => join(folder, name)));
    expect(problems).toEqual([]);
    expect(rules.prefixes.map(rule => rule.pattern[0])).toEqual([['a'], ['b'], ['c']]);
    expect(rules.hostExecutables.get('git')).toEqual(['/a/git', '/b/git', '/c/git']);
  });

  test('a file that is broken or unreadable is named, the others hold', async () => {
    writeFileSync(join(folder, 'bad.rules'), 'nope');
    writeFileSync(join(folder, 'good.rules'), 'prefix_rule(pattern=["ls"])');
    mkdirSync(join(folder, 'sub.rules'));
    const { rules, problems } = await loadRules([folder]);
    expect(rules.prefixes).toHaveLength(1);
    expect(problems).toEqual([
      `${folder}/bad.rules:1:5: expected '(' after nope; loops, conditions and functions are not read, found end of file`,
      expect.stringMatching(`^${folder}/sub\\.rules:1:1: can't be read: EISDIR`),
    ]);
  });

  test('no folders are no rules', async () => {
    expect(await loadRules([])).toEqual({ rules: NO_RULES, problems: [] });
  });
});

describe('what the rules say about a command', () => {
  const check = async (source: string, ...argv: string[]) => {
    const { rules, problems } = await load(source);
    expect(problems).toEqual([]);
    return checkCommand(rules, argv);
  };
  const GIT = `
prefix_rule(pattern=["git", ["status", "log"]], decision="prompt", justification="look")
prefix_rule(pattern=["git"])
prefix_rule(pattern=["rm"], decision="forbidden")
host_executable(name="git", paths=["/opt/git/bin/git"])
prefix_rule(pattern=["make"])
`;

  test('of several matches the strictest decides', async () => {
    expect(await check(GIT, 'git', 'status')).toEqual({
      matchedRules: [
        { prefixRuleMatch: { matchedPrefix: ['git', 'status'], decision: 'prompt', justification: 'look' } },
        { prefixRuleMatch: { matchedPrefix: ['git'], decision: 'allow' } },
      ],
      decision: 'prompt',
    });
    expect((await check(GIT, 'git')).decision).toBe('allow');
    expect(await check(GIT, 'ls')).toEqual({ matchedRules: [] });
    expect(await check(GIT, 'gitx')).toEqual({ matchedRules: [] });
    expect(await check('', 'ls')).toEqual({ matchedRules: [] });
    expect(await check(GIT)).toEqual({ matchedRules: [] });
  });

  test('a path stands for its last part: always to restrict, in trusted places to allow', async () => {
    expect(await check(GIT, '/bin/rm', 'x')).toEqual({
      matchedRules: [{ prefixRuleMatch: { matchedPrefix: ['rm'], decision: 'forbidden', resolvedProgram: '/bin/rm' } }],
      decision: 'forbidden',
    });
    expect((await check(GIT, './rm', 'x')).decision).toBe('forbidden');
    expect((await check(GIT, '/usr/bin/make')).decision).toBe('allow');
    expect((await check(GIT, '/w/make')).decision).toBeUndefined();
    expect((await check(GIT, './make')).decision).toBeUndefined();
    expect((await check(GIT, '/opt/git/bin/git', 'push')).decision).toBe('allow');
    expect((await check(GIT, '/usr/bin/git', 'push')).decision).toBeUndefined();
    expect((await check(GIT, '/usr/bin/git', 'log')).decision).toBe('prompt');
    expect((await check('prefix_rule(pattern=["/w/make"])', '/w/make')).decision).toBe('allow');
  });
});
