import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { flattenCallConfig } from '../../src/config/index.js';
import { World } from './world.js';

describe('mistakes in files', () => {
  const cases: [string, string, string][] = [
    [
      'broken TOML',
      'model = "x"\n[broken\nx=1\n',
      '~/home/config.toml:2:8: invalid TOML: illegal character in key\n  |\n2 | [broken\n  |        ^',
    ],
    [
      'a value outside an enum',
      'sandbox_mode = "read_only"\n',
      '~/home/config.toml:1:16: unknown value `read_only`, expected one of `read-only`, `workspace-write`, `danger-full-access` in `sandbox_mode`\n  |\n1 | sandbox_mode = "read_only"\n  |                ^^^^^^^^^^^',
    ],
    [
      'a value of the wrong type, in a table',
      '[model_providers.x]\nbase_url = 3\n',
      '~/home/config.toml:2:12: expected a text, found the number `3` in `model_providers.x.base_url`\n  |\n2 | base_url = 3\n  |            ^',
    ],
    [
      'a value where a table belongs',
      'features = true\n',
      '~/home/config.toml:1:12: expected a table, found the boolean `true` in `features`\n  |\n1 | features = true\n  |            ^^^^',
    ],
    [
      'an element of a list, in an inline table',
      'mcp_servers.fk = { command = "c", args = ["a", 1] }\n',
      '~/home/config.toml:1:48: expected a text, found the number `1` in `mcp_servers.fk.args[1]`\n  |\n1 | mcp_servers.fk = { command = "c", args = ["a", 1] }\n  |                                                ^',
    ],
    [
      'a number that is too small',
      'model_context_window = 0\n',
      '~/home/config.toml:1:24: the number `0` is less than 1 in `model_context_window`\n  |\n1 | model_context_window = 0\n  |                        ^',
    ],
    [
      'a hook without a command',
      '[[hooks.Stop]]\nhooks = [{ type = "command" }]\n',
      '~/home/config.toml:2:10: a value is missing in `hooks.Stop[0].hooks[0].command`\n  |\n2 | hooks = [{ type = "command" }]\n  |          ^^^^^^^^^^^^^^^^^^^^',
    ],
    [
      'a form that fits in part',
      'approval_policy = { granular = { rules = 1 } }\n',
      '~/home/config.toml:1:42: expected `true` or `false`, found the number `1` in `approval_policy.granular.rules`\n  |\n1 | approval_policy = { granular = { rules = 1 } }\n  |                                          ^',
    ],
  ];

  test.each(cases)('%s: place, reason and the line', (_name, text, message) => {
    const world = new World();
    world.config(text);
    expect(world.failure()).toBe(message);
  });

  test('all mistakes of all layers are told at once', () => {
    const world = new World();
    world.write('system.toml', 'model = 1\n');
    world.config('model_verbosity = "loud"\n');
    const message = world.failure({ overrides: flattenCallConfig({ sandbox_mode: 'x', zzz: 1 }) });
    expect(message.split('\n').filter(line => /model|sandbox_mode|zzz/.test(line) && !line.includes(' | '))).toEqual([
      '~/system.toml:1:9: expected a text, found the number `1` in `model`',
      '~/home/config.toml:1:19: unknown value `loud`, expected one of `low`, `medium`, `high` in `model_verbosity`',
      'unknown value `x`, expected one of `read-only`, `workspace-write`, `danger-full-access` in `sandbox_mode` (from the config argument)',
      'unknown configuration field `zzz` (from the config argument)',
    ]);
  });

  test('a secret is shown neither in the reason nor in the line', () => {
    const world = new World();
    world.config('[model_providers.x]\nexperimental_bearer_tokn = "sk-very-secret" # sk-very-secret\nbase_url = "u"\n');
    const message = world.failure({ strict: true });
    expect(message).toContain('did you mean `model_providers.x.experimental_bearer_token`?');
    expect(message).not.toContain('sk-very');
    world.config('[model_providers.x]\nexperimental_bearer_token = ["sk-very-secret"]\n');
    expect(world.failure()).not.toContain('sk-very');
    expect(
      world.failure({
        ignore_user_config: true,
        c: ['model_providers.x.experimental_bearer_token=["sk-very-secret"]'],
      }),
    ).not.toContain('sk-very');
  });

  test('a file that is no file, no text or can not be read is named', () => {
    const world = new World();
    mkdirSync(path.join(world.home, 'config.toml'));
    expect(world.failure()).toBe('~/home/config.toml: is not a file');
    writeFileSync(world.system, Buffer.from([0x61, 0xff, 0xfe]));
    expect(world.failure({ ignore_user_config: true })).toBe('~/system.toml: is not valid UTF-8');
  });

  test('a file with a byte order mark is read', () => {
    const world = new World();
    world.config('\uFEFFmodel = "bom"\n');
    expect(world.load().model).toBe('bom');
  });

  test.each([
    ['model_instructions_file = "no.md"', 'the file ~/home/no.md does not exist'],
    ['model_instructions_file = "empty.md"', 'the file ~/home/empty.md is empty'],
    ['experimental_compact_prompt_file = "no.md"', 'the file ~/home/no.md does not exist'],
  ])('%s: the file and the line are named', (line, reason) => {
    const world = new World();
    world.write('home/empty.md', ' \n');
    world.config(`${line}\n`);
    expect(world.failure()).toContain(reason);
    expect(world.failure()).toMatch(/^~\/home\/config\.toml:1:\d+: /);
  });
});

describe('unknown keys', () => {
  test('are ignored in files', () => {
    const world = new World();
    world.config('zzz = 1\n[tools]\nfoo = 1\n[mcp_servers.x]\ncommand = "c"\nbogus = 1\n');
    expect(world.load().mcp_servers.map(server => server.name)).toEqual(['x']);
  });

  test('are errors with --strict-config, each with its place and the key that was meant', () => {
    const world = new World();
    world.config('modle = "x"\n[model_providers.x]\nbase-url = "http://a"\n[[hooks.Stop]]\nhooks = []\nmatchr = "x"\n');
    const lines = world
      .failure({ strict: true })
      .split('\n')
      .filter(line => line.startsWith('~'));
    expect(lines).toEqual([
      '~/home/config.toml:1:1: unknown configuration field `modle`; did you mean `model`?',
      '~/home/config.toml:3:1: unknown configuration field `model_providers.x.base-url`; did you mean `model_providers.x.base_url`?',
      '~/home/config.toml:6:1: unknown configuration field `hooks.Stop[0].matchr`',
    ]);
  });

  test.each([
    ['sandbox', '`sandbox_mode`'],
    ['approval-policy', '`approval_policy`'],
    ['network_access', '`sandbox_workspace_write.network_access`'],
    ['mcp_server.evnts', '`mcp_server.events`'],
    ['constructor', null],
    ['__proto__', null],
    ['hasOwnProperty.x', null],
  ])('-c %s is an error that names what was meant', (key, meant) => {
    const message = new World().failure({ c: [`${key}=1`] });
    expect(message).toContain(`unknown configuration field \`${key.split('.x')[0]}`);
    expect(message).toContain(`(from -c ${key})`);
    expect(message).toContain(meant === null ? '' : `did you mean ${meant}?`);
  });

  test('keys without effect are accepted with one warning, strict or not', () => {
    const world = new World();
    const file = world.config(
      'personality = "pragmatic"\n[tui]\ntheme = "x"\n[model_providers.a]\nbase_url = "http://a"\nrequires_openai_auth = true\n',
    );
    for (const strict of [true, false]) {
      expect(world.load({ strict, c: ['features.goals=true'] }).warnings).toEqual([
        `${file}:1: \`personality\` is accepted but has no effect here`,
        `${file}:2: \`tui\` is accepted but has no effect here`,
        `${file}:6: \`model_providers.a.requires_openai_auth\` is accepted but has no effect here`,
        '`features.goals` is accepted but has no effect here (from -c features.goals)',
      ]);
    }
  });

  test('a key in a table without effect is known or not', () => {
    const world = new World();
    const file = world.config('[tools]\nweb_search = true\nfoo = true\n');
    const unknown = 'unknown configuration field `tools.foo`';
    expect(world.load().warnings).toEqual([`${file}:2: \`tools.web_search\` is accepted but has no effect here`]);
    expect(world.failure({ strict: true })).toContain(`~/home/config.toml:3:1: ${unknown}`);
    expect(world.failure({ c: ['tools.foo=1'] })).toContain(unknown);
  });

  test('a misspelled feature in a file is worth a warning', () => {
    const world = new World();
    const file = world.config('[features]\nunifed_exec = false\n');
    expect(world.load().warnings).toEqual([
      `${file}:2: unknown configuration field \`features.unifed_exec\`; did you mean \`features.unified_exec\`?`,
    ]);
  });
});

describe('arguments', () => {
  test.each([
    [
      { sandbox: 'read_only' },
      'Unknown sandbox mode `read_only`, expected one of `read-only`, `workspace-write`, `danger-full-access`.',
    ],
    [
      { approval_policy: 'always' },
      'Unknown approval policy `always`, expected one of `untrusted`, `on-request`, `never`, `on-failure`.',
    ],
    [{ model: '' }, 'The model is an empty text. Name a model, or leave the argument out.'],
    [
      { sandbox: 'read-only', permission_profile: 'x' },
      'A sandbox mode and a permission profile were both given; leave one out.',
    ],
  ])('%j is refused with what is allowed', (given, message) => {
    expect(new World().failure({ arguments: given })).toBe(message);
  });
});
