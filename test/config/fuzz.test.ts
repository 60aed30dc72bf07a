import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ConfigCache,
  ConfigError,
  commandEnvironment,
  flattenCallConfig,
  parseOverride,
} from '../../src/config/index.js';
import { World } from './world.js';

/** Names that mean something somewhere, so that the values get far. */
const word = fc.oneof(
  fc.constantFrom(
    'model',
    'model_provider',
    'model_providers',
    'openai',
    'base_url',
    'auth',
    'command',
    'mcp_servers',
    'args',
    'env',
    'env_vars',
    'permissions',
    'default_permissions',
    'filesystem',
    ':root',
    ':workspace_roots',
    'network',
    'domains',
    'extends',
    'hooks',
    'Stop',
    'matcher',
    'otel',
    'exporter',
    'otlp-http',
    'features',
    'profiles',
    'profile',
    'projects',
    'skills',
    'config',
    'approval_policy',
    'granular',
    'shell_environment_policy',
    'set',
    'exclude',
    'filters',
    'project_root_markers',
    'tui',
    '__proto__',
    'constructor',
    'toString',
    'notify',
    'log_dir',
    'sandbox_workspace_write',
    'writable_roots',
    'tools',
    'x',
  ),
  fc.string({ maxLength: 6 }),
);
const value = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 3 },
    word,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(word, tie('any'), { maxKeys: 3 }),
  ),
})).any;

/** Loading ends with a configuration or a ConfigError that says something; nothing else is ever thrown. */
function outcome(action: () => unknown): string {
  try {
    action();
    return 'configuration';
  } catch (error) {
    if (error instanceof ConfigError && error.message !== '') return 'refused';
    throw error;
  }
}

test('any call config is a configuration or a ConfigError', () => {
  const world = new World();
  const cache = new ConfigCache();
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.array(word, { minLength: 1, maxLength: 3 }).map(words => words.join('.')),
        value,
        { maxKeys: 4 },
      ),
      config => {
        expect(outcome(() => world.load({ cache, overrides: flattenCallConfig(config) }))).toMatch(
          /configuration|refused/,
        );
      },
    ),
    { numRuns: 200 },
  );
});

test('any -c is a configuration or a ConfigError', () => {
  const world = new World();
  const cache = new ConfigCache();
  const text = fc.oneof(
    fc.string(),
    fc.tuple(word, word, fc.string()).map(([a, b, c]) => `${a}.${b}=${c}`),
    fc.tuple(word, value).map(([a, b]) => `${a}=${JSON.stringify(b)}`),
  );
  fc.assert(
    fc.property(text, one => {
      expect(outcome(() => world.load({ cache, overrides: [parseOverride(one, '-c')] }))).toMatch(
        /configuration|refused/,
      );
    }),
    { numRuns: 200 },
  );
});

test('any file is a configuration or a ConfigError, strict or not', () => {
  const world = new World();
  const key = fc
    .array(word, { minLength: 1, maxLength: 3 })
    .map(words => words.map(one => JSON.stringify(one)).join('.'));
  const line = fc.oneof(
    fc.string(),
    fc.tuple(key, value).map(([name, one]) => `${name} = ${JSON.stringify(one)}`),
    key.map(name => `[${name}]`),
    key.map(name => `[[${name}]]`),
    fc.constantFrom('d = 1979-05-27', 'model = """', "x = '''", 'a.b = 1', '{', '\u0000', '\uFEFF'),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 5 }), fc.boolean(), (lines, strict) => {
      world.config(lines.join('\n'));
      expect(outcome(() => world.load({ strict }))).toMatch(/configuration|refused/);
    }),
    { numRuns: 200 },
  );
});

test('any pattern of the environment policy is taken', () => {
  const pattern = fc.string({ unit: fc.constantFrom('*', '?', '[', ']', '!', '-', '^', '\\', 'A', 'z', '(', '.') });
  fc.assert(
    fc.property(fc.array(pattern), fc.dictionary(fc.string(), fc.string()), (exclude, env) => {
      const policy = {
        inherit: 'all',
        ignore_default_excludes: true,
        exclude,
        set: {},
        include_only: exclude,
      } as const;
      expect(commandEnvironment(policy, env, { threadId: 't', dropNames: exclude })['CODEX_THREAD_ID']).toBe('t');
    }),
  );
});
