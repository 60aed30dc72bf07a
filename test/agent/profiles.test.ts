import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseProfile, type Profile } from '../../src/agent/index.js';
import type { Tool } from '../../src/tools/index.js';
import { facts } from '../tools/apply-patch-support.js';

const NAMES = ['native', 'minimal', 'claude', 'kimi', 'qwen', 'glm'] as const;
type Name = (typeof NAMES)[number];

const profileOf = (harness: string | null, model = 'some-model', stored: string | null = null): Profile =>
  chooseProfile({ harness, model, stored }).profile;

const toolsOf = (name: Name, images = false) => profileOf(name).tools({ images, sessions: true });

function toolOf(profile: Name, name: string): Tool {
  const tool = toolsOf(profile, true).find(one => one.name === name);
  if (!tool) throw new Error(`${profile} has no ${name}`);
  return tool;
}

describe('the profile of a new thread', () => {
  test.each([
    ['kimi-k3', 'kimi'],
    ['moonshotai/Kimi-K2.6', 'kimi'],
    ['k3', 'kimi'],
    ['qwen3-coder-plus', 'qwen'],
    ['Qwen/Qwen3-Coder-Next', 'qwen'],
    ['qwq-32b', 'qwen'],
    ['glm-5.2', 'glm'],
    ['z-ai/glm-4.7', 'glm'],
    ['claude-opus-5', 'native'],
    ['anthropic/claude-sonnet-5', 'native'],
    ['MiniMax-M3', 'native'],
    ['deepseek-r1-distill-qwen-32b', 'native'],
    ['gpt-5.6-sol', 'native'],
    ['gpt-oss:20b', 'native'],
    ['mock-model', 'native'],
    ['', 'native'],
  ])('is by the family of the model: %s', (model, name) => {
    expect(profileOf(null, model).name).toBe(name);
  });

  test.each([
    ['native', 'native'],
    ['claude', 'claude'],
    ['Claude-Code', 'claude'],
    ['claude-code-bare', 'claude'],
    ['kimi-code', 'kimi'],
    ['kimi-cli', 'kimi'],
    ['qwen-code', 'qwen'],
    ['zcode', 'glm'],
    ['minimal', 'minimal'],
  ])('is what harness says, whatever the model: %s', (harness, name) => {
    for (const model of ['kimi-k3', 'gpt-5.5']) expect(profileOf(harness, model).name).toBe(name);
  });

  test('of an earlier one stays: its history is full of calls of those tools', () => {
    expect(profileOf('native', 'gpt-5.5', 'kimi').name).toBe('kimi');
    expect(profileOf(null, 'qwen3-max', 'one-that-was-given-up').name).toBe('qwen');
  });

  test('is a problem when nobody knows it, and the message names those that are known', () => {
    expect(chooseProfile({ harness: 'cursor', model: 'kimi-k3', stored: null }).problem).toBe(
      'Unknown harness `cursor` in the configuration. Known: claude, glm, kimi, minimal, native, qwen. Leave `harness` out to choose by the family of the model.',
    );
  });
});

describe('what a profile offers', () => {
  test.each([
    ['native', ['exec_command', 'write_stdin', 'update_plan', 'apply_patch', 'view_image']],
    ['minimal', ['shell_command', 'edit_file']],
    ['claude', ['Bash', 'TaskOutput', 'TaskStop', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'TodoWrite']],
    ['kimi', ['Bash', 'TaskOutput', 'TaskStop', 'Read', 'ReadMediaFile', 'Write', 'Edit', 'Glob', 'Grep', 'TodoList']],
    [
      'qwen',
      [
        'run_shell_command',
        'task_output',
        'task_stop',
        'read_file',
        'write_file',
        'edit',
        'glob',
        'grep_search',
        'todo_write',
      ],
    ],
    ['glm', ['Bash', 'TaskOutput', 'TaskStop', 'Read', 'Write', 'Edit', 'TodoWrite']],
  ] as const)('%s', (name, tools) => {
    expect(toolsOf(name, true).map(tool => tool.name)).toEqual(tools);
  });

  test.each(NAMES)('%s fits the limits of providers: names, plain schemas, an object at the root', name => {
    for (const { name: called, spec } of toolsOf(name, true)) {
      expect(called).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      expect(spec).toMatchObject({ name: called, description: expect.stringMatching(/\.$/s) });
      if (spec.type !== 'function') continue;
      expect(spec.parameters).toMatchObject({ type: 'object', additionalProperties: false });
      expect(JSON.stringify(spec.parameters)).not.toMatch(/"(?:oneOf|allOf|\$ref|not)"/);
    }
  });

  test.each(NAMES)('%s has the arguments by which a command asks to leave the sandbox', name => {
    const [shell] = toolsOf(name);
    expect(shell?.spec).toMatchObject({
      parameters: {
        properties: {
          sandbox_permissions: { enum: ['use_default', 'require_escalated'] },
          justification: { type: 'string' },
          prefix_rule: { type: 'array' },
        },
      },
    });
  });

  test.each(NAMES)('%s speaks of no tool that it does not offer', name => {
    const profile = profileOf(name);
    const offered = new Set(toolsOf(name, true).map(tool => tool.name));
    const all = new Set(NAMES.flatMap(one => toolsOf(one, true)).map(tool => tool.name));
    const texts = [profile.instructions, ...toolsOf(name, true).map(tool => JSON.stringify(tool.spec))].join('\n');
    // Words of everyday language are only names of tools in backquotes.
    const foreign = [...all].filter(tool => !offered.has(tool) && isNamed(tool, texts));
    expect(foreign).toEqual([]);
  });

  test('is described in the documents', () => {
    const text = readFileSync('docs/harness.md', 'utf8');
    for (const name of NAMES) {
      expect(text).toContain(`\`${name}\``);
      for (const tool of toolsOf(name, true)) expect(text).toContain(tool.name);
    }
  });
});

function isNamed(tool: string, text: string): boolean {
  const everyday = /^(?:edit|glob|Read|Write|Edit)$/.test(tool);
  return everyday ? text.includes(`\`${tool}\``) : new RegExp(`(?<![\\w"])${tool}(?!\\w)`).test(text);
}

const SHELL = { sandbox_permissions: undefined, justification: undefined, prefix_rule: undefined };
const ESCALATED = { ...SHELL, sandbox_permissions: 'require_escalated', justification: 'needs the network' };
const SEARCH = {
  path: undefined,
  glob: undefined,
  type: undefined,
  show: 'files',
  ignore_case: undefined,
  line_numbers: undefined,
  before: undefined,
  after: undefined,
  multiline: undefined,
  offset: undefined,
  limit: undefined,
};
const read = (path: string, offset?: number, limit?: number, name = 'offset', base = 1) => ({
  path,
  offset,
  limit,
  images: true,
  position: { name, base },
});
const replace = (path: string, all = false) => ({ path, change: { type: 'replace', old: 'a', new: 'b', all } });
const edit = { old_string: 'a', new_string: 'b' };

/** Profile, tool, what the model writes, what is done. */
const CALLS: readonly (readonly [Name, string, object, object])[] = [
  ['claude', 'Bash', { command: 'ls' }, { ...SHELL, script: 'ls', timeout_ms: 120_000, background: false }],
  ['claude', 'Bash', { command: 'ls', timeout: 5000 }, { ...SHELL, script: 'ls', timeout_ms: 5000, background: false }],
  ['claude', 'Bash', { command: 'x', timeout: 9e9 }, { ...SHELL, script: 'x', timeout_ms: 600_000, background: false }],
  [
    'claude',
    'Bash',
    { command: 'serve', run_in_background: true, description: 'Starts it' },
    { ...SHELL, script: 'serve', timeout_ms: 120_000, background: true, justification: 'Starts it' },
  ],
  [
    'claude',
    'Bash',
    { command: 'curl x', dangerouslyDisableSandbox: true, description: 'needs the network' },
    { ...ESCALATED, script: 'curl x', timeout_ms: 120_000, background: false },
  ],
  ['claude', 'TaskOutput', { task_id: 7 }, { session_id: 7, wait_ms: 30_000 }],
  ['claude', 'TaskOutput', { task_id: '7', block: false }, { session_id: 7, wait_ms: 0 }],
  ['claude', 'TaskOutput', { bash_id: '7', timeout: 100 }, { session_id: 7, wait_ms: 100 }],
  ['claude', 'TaskStop', { shell_id: 7 }, { session_id: 7 }],
  ['claude', 'Read', { file_path: '/f', offset: 3, limit: 5 }, read('/f', 3, 5)],
  ['claude', 'Read', { filePath: 'f' }, read('f')],
  ['claude', 'Write', { file_path: 'f', content: 'x' }, { path: 'f', change: { type: 'write', content: 'x' } }],
  ['claude', 'Edit', { file_path: 'f', ...edit }, replace('f')],
  ['claude', 'Edit', { path: 'f', ...edit, replace_all: true }, replace('f', true)],
  ['claude', 'Glob', { pattern: '*.ts', path: 'src' }, { pattern: '*.ts', path: 'src' }],
  ['claude', 'Grep', { pattern: 'x' }, { ...SEARCH, pattern: 'x' }],
  [
    'claude',
    'Grep',
    { pattern: 'x', output_mode: 'content', '-C': 2, '-A': 1, '-i': true, '-n': false, head_limit: 9, offset: 1 },
    {
      ...SEARCH,
      pattern: 'x',
      show: 'lines',
      before: 2,
      after: 1,
      ignore_case: true,
      line_numbers: false,
      limit: 9,
      offset: 1,
    },
  ],
  [
    'claude',
    'Grep',
    { pattern: 'x', output_mode: 'count', type: 'ts' },
    { ...SEARCH, pattern: 'x', show: 'counts', type: 'ts' },
  ],
  [
    'claude',
    'TodoWrite',
    { todos: [{ content: 'one', status: 'in_progress', activeForm: 'Doing one' }] },
    { plan: [{ step: 'one', status: 'in_progress' }] },
  ],
  [
    'kimi',
    'Bash',
    { command: 'ls', cwd: 'sub' },
    { ...SHELL, script: 'ls', workdir: 'sub', timeout_ms: 60_000, background: false },
  ],
  [
    'kimi',
    'Bash',
    { command: 'ls', timeout: 90 },
    { ...SHELL, script: 'ls', workdir: undefined, timeout_ms: 90_000, background: false },
  ],
  [
    'kimi',
    'Bash',
    { command: 'ls', timeout: 9000 },
    { ...SHELL, script: 'ls', workdir: undefined, timeout_ms: 300_000, background: false },
  ],
  [
    'kimi',
    'Bash',
    { command: 'make', disable_timeout: true, run_in_background: true },
    { ...SHELL, script: 'make', workdir: undefined, timeout_ms: 3_600_000, background: true },
  ],
  [
    'kimi',
    'Bash',
    { command: 'x', sandbox_permissions: 'require_escalated', justification: 'needs the network' },
    { ...ESCALATED, script: 'x', workdir: undefined, timeout_ms: 60_000, background: false },
  ],
  ['kimi', 'TaskOutput', { task_id: 7 }, { session_id: 7, wait_ms: 0 }],
  ['kimi', 'TaskOutput', { task_id: 7, block: true, timeout: 2 }, { session_id: 7, wait_ms: 2000 }],
  ['kimi', 'TaskStop', { task_id: 7 }, { session_id: 7 }],
  ['kimi', 'Read', { path: 'f', line_offset: -5, n_lines: 2 }, read('f', -5, 2, 'line_offset')],
  ['kimi', 'Read', { file_path: 'f', offset: 2, limit: 3 }, read('f', 2, 3, 'line_offset')],
  ['kimi', 'ReadMediaFile', { path: 'p.png' }, { path: 'p.png' }],
  ['kimi', 'Write', { path: 'f', content: 'x' }, { path: 'f', change: { type: 'write', content: 'x' } }],
  [
    'kimi',
    'Write',
    { path: 'f', content: 'x', mode: 'append' },
    { path: 'f', change: { type: 'append', content: 'x' } },
  ],
  ['kimi', 'Edit', { path: 'f', ...edit }, replace('f')],
  [
    'kimi',
    'Glob',
    { pattern: 'src/**', include_ignored: true },
    { pattern: 'src/**', path: undefined, include_ignored: true, include_folders: true },
  ],
  ['kimi', 'Grep', { pattern: 'x', include_ignored: true }, { ...SEARCH, pattern: 'x', include_ignored: true }],
  [
    'kimi',
    'TodoList',
    {
      todos: [
        { title: 'one', status: 'done' },
        { title: 'two', status: 'pending' },
      ],
    },
    {
      plan: [
        { step: 'one', status: 'completed' },
        { step: 'two', status: 'pending' },
      ],
    },
  ],
  [
    'qwen',
    'run_shell_command',
    { command: 'ls', directory: '/d', timeout: 1000 },
    { ...SHELL, script: 'ls', workdir: '/d', timeout_ms: 1000, background: false },
  ],
  [
    'qwen',
    'run_shell_command',
    { command: 'serve', is_background: true },
    { ...SHELL, script: 'serve', workdir: undefined, timeout_ms: 120_000, background: true },
  ],
  ['qwen', 'task_output', { task_id: 7 }, { session_id: 7, wait_ms: 0 }],
  ['qwen', 'task_output', { task_id: 7, timeout: 500 }, { session_id: 7, wait_ms: 500 }],
  ['qwen', 'task_stop', { task_id: 7 }, { session_id: 7 }],
  ['qwen', 'read_file', { file_path: 'f', offset: 0, limit: 2 }, read('f', 1, 2, 'offset', 0)],
  ['qwen', 'read_file', { absolute_path: 'f' }, read('f', undefined, undefined, 'offset', 0)],
  ['qwen', 'write_file', { file_path: 'f', content: '' }, { path: 'f', change: { type: 'write', content: '' } }],
  ['qwen', 'edit', { file_path: 'f', ...edit }, replace('f')],
  ['qwen', 'glob', { pattern: '*' }, { pattern: '*', path: undefined }],
  [
    'qwen',
    'grep_search',
    { pattern: 'x', include: '*.ts', limit: 3 },
    { pattern: 'x', path: undefined, glob: '*.ts', show: 'lines', ignore_case: true, limit: 3 },
  ],
  [
    'qwen',
    'todo_write',
    { todos: [{ id: '1', content: 'one', status: 'completed' }] },
    { plan: [{ step: 'one', status: 'completed' }] },
  ],
  ['glm', 'Bash', { command: 'ls', timeout: 5000 }, { ...SHELL, script: 'ls', timeout_ms: 5000, background: false }],
  ['glm', 'Read', { file_path: 'f' }, read('f')],
  ['glm', 'Write', { file_path: 'f', content: 'x' }, { path: 'f', change: { type: 'write', content: 'x' } }],
  ['glm', 'Edit', { file_path: 'f', ...edit }, replace('f')],
  ['glm', 'TodoWrite', { todos: [] }, { plan: [] }],
  ['minimal', 'edit_file', { file_path: 'f', ...edit }, replace('f')],
];

describe('a call of a profile is translated', () => {
  test.each(CALLS)('%s %s %j', (profile, name, args, input) => {
    expect(toolOf(profile, name).parse(JSON.stringify(args))).toEqual({ ok: true, input });
  });

  test('for every tool that is offered', () => {
    const translated = NAMES.filter(name => name !== 'native').flatMap(name =>
      toolsOf(name, true).map(tool => `${name} ${tool.name}`),
    );
    const tried = new Set(CALLS.map(([profile, tool]) => `${profile} ${tool}`));
    // glm shares these with claude; shell_command is a native tool.
    const shared = ['glm TaskOutput', 'glm TaskStop', 'minimal shell_command'];
    expect(translated.filter(one => !tried.has(one) && !shared.includes(one))).toEqual([]);
  });

  test.each(CALLS)(
    'with arguments nobody knows, nulls and JSON inside texts: %s %s %j',
    (profile, name, args, input) => {
      const tool = toolOf(profile, name);
      const texts = Object.entries(args).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]);
      const odd = {
        ...Object.fromEntries(texts),
        thought: 'hm',
        background_color: null,
        __proto__: { polluted: true },
      };
      expect(tool.parse(JSON.stringify(odd))).toEqual({ ok: true, input });
    },
  );

  test('to a command in the right place, outside of the sandbox only when that was asked for', async () => {
    const given = facts('/var/tmp');
    const planned = async (profile: Name, name: string, args: object) => {
      const tool = toolOf(profile, name);
      const parsed = tool.parse(JSON.stringify(args));
      return parsed.ok ? tool.plan(parsed.input, given) : parsed;
    };
    const action = { type: 'command', cwd: '/var/tmp', escalated: false, justification: null, prefix_rule: null };
    const argv = ['/bin/sh', '-lc', 'ls'];
    expect(await planned('claude', 'Bash', { command: 'ls' })).toEqual({ type: 'act', action: { ...action, argv } });
    expect(await planned('qwen', 'run_shell_command', { command: 'ls', directory: '/' })).toEqual({
      type: 'act',
      action: { ...action, argv, cwd: '/' },
    });
    expect(
      await planned('kimi', 'Bash', { command: 'ls', sandbox_permissions: 'require_escalated', prefix_rule: ['ls'] }),
    ).toEqual({ type: 'act', action: { ...action, argv, escalated: true, prefix_rule: ['ls'] } });
    expect(
      await planned('glm', 'Bash', { command: 'ls', dangerouslyDisableSandbox: true, description: 'why' }),
    ).toEqual({
      type: 'act',
      action: { ...action, argv, escalated: true, justification: 'why' },
    });
    for (const [profile, name, args] of [
      ['claude', 'Read', { file_path: 'f' }],
      ['claude', 'Grep', { pattern: 'f' }],
      ['qwen', 'glob', { pattern: 'f' }],
      ['kimi', 'TodoList', { todos: [] }],
    ] as const) {
      expect(await planned(profile, name, args)).toEqual({ type: 'act', action: { type: 'none' } });
    }
  });
});

describe('what is no call is told to the model', () => {
  test.each([
    ['claude', 'Bash', '{}', /command/],
    ['claude', 'Bash', '{"command":""}', /command/],
    ['claude', 'Read', '[]', /expected object/],
    ['kimi', 'Write', '{"path":"f","content":"x","mode":"sometimes"}', /mode/],
    ['qwen', 'edit', '{"file_path":"f"', /failed to parse function arguments/],
    ['glm', 'TodoWrite', '{"todos":"soon"}', /todos/],
  ] as const)('%s %s %s', (profile, name, raw, message) => {
    expect(toolOf(profile, name).parse(raw)).toEqual({ ok: false, message: expect.stringMatching(message) });
  });

  const tools = NAMES.flatMap(name => toolsOf(name, true));
  const known = [...new Set(CALLS.flatMap(([, , args]) => Object.keys(args)))];

  test('and never an exception, whatever it writes', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('1', 'true', 'null', '[]', '{}', Number.MAX_VALUE));
    const args = fc.dictionary(fc.oneof(fc.constantFrom(...known, '__proto__', 'constructor'), fc.string()), value);
    const raw = fc.oneof(
      args.map(one => JSON.stringify(one)),
      fc.string(),
      fc.jsonValue().map(one => JSON.stringify(one)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...tools), raw, (tool, text) => {
        const parsed = tool.parse(text);
        expect(parsed.ok ? typeof parsed.input : typeof parsed.message).not.toBe('undefined');
        expect(typeof (tool.runsAlone?.(text) ?? false)).toBe('boolean');
      }),
      { numRuns: 3000 },
    );
  });
});
