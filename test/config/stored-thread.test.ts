import { describe, expect, test } from 'vitest';
import { flattenCallConfig, parseOverride, restoreConfig, storableOverrides } from '../../src/config/index.js';
import { failureOf, World } from './world.js';

describe('a thread that is taken up again', () => {
  test('has what it was started with, over what is configured now', () => {
    const world = new World();
    world.config(
      'model = "now"\ndeveloper_instructions = "now"\nmodel_reasoning_effort = "low"\n[model_providers.p]\nbase_url = "http://a"\n',
    );
    const config = restoreConfig(world.options({ process_cwd: '/' }), {
      cwd: world.cwd,
      model: 'then',
      model_provider: 'p',
      approval_policy: 'untrusted',
      sandbox_policy: { type: 'danger-full-access' },
      reasoning_effort: 'high',
      instructions: { base: 'BASE', developer: null },
      call_config: [{ path: 'model_auto_compact_token_limit', value: 5000 }],
    });
    expect(config).toMatchObject({
      cwd: world.cwd,
      model: 'then',
      provider: { id: 'p' },
      approval_policy: 'untrusted',
      sandbox_policy: { type: 'danger-full-access' },
      defaulted: { approval_policy: false, sandbox_policy: false },
      model_reasoning_effort: 'high',
      instructions: { base: 'BASE', developer: null, compact_prompt: null },
      model_auto_compact_token_limit: 5000,
      call_config: [{ path: 'model_auto_compact_token_limit', value: 5000, source: 'the config argument' }],
    });
  });

  test('takes what was not remembered from the present, and arguments win', () => {
    const world = new World();
    world.config('model = "now"\ndeveloper_instructions = "now"\n');
    expect(restoreConfig(world.options(), { cwd: world.cwd })).toMatchObject({
      model: 'now',
      instructions: { developer: 'now' },
      defaulted: { sandbox_policy: true },
    });
    const given = { model: 'given', sandbox: 'read-only', approval_policy: 'never', developer_instructions: 'given' };
    const config = restoreConfig(world.options({ arguments: given }), {
      cwd: world.cwd,
      model: 'then',
      approval_policy: 'untrusted',
      sandbox_policy: { type: 'danger-full-access' },
      instructions: { developer: 'then' },
    });
    expect(config).toMatchObject({
      model: 'given',
      sandbox_policy: { type: 'read-only' },
      approval_policy: 'never',
      instructions: { developer: 'given' },
    });
  });

  test('whose folder is gone can not be taken up', () => {
    expect(failureOf(() => restoreConfig(new World().options(), { cwd: '/no/such/folder' }))).toBe(
      'The working directory /no/such/folder does not exist.',
    );
  });
});

test('only what is no secret is remembered of a call', () => {
  const overrides = [
    ...flattenCallConfig({
      model: 'claude-haiku-4-5-20251001',
      model_auto_compact_token_limit: 5000,
      'model_providers.p': {
        base_url: 'http://a',
        env_key: 'MY_KEY',
        experimental_bearer_token: 'S1',
        http_headers: { 'X-Api-Key': 'S2', Cookie: 'S3', 'X-Title': 'title', Odd: 'sk0123456789abcdef01234567' },
        env_http_headers: { Authorization: 'AUTH_VARIABLE' },
        query_params: { 'api-version': '2026-01-01', sig: 'S4' },
      },
      'model_providers.q.base_url': 'https://u:S5@host/v1',
      mcp_servers: {
        m: {
          command: 'x',
          args: ['--api-key=S6'],
          env: { A: 'env:S_NAME', TOKEN: 'S7', PLAIN: 'p' },
          bearer_token_env_var: 'V',
        },
      },
      shell_environment_policy: { set: { DATABASE_URL: 'S8', CI: '1' } },
    }),
    parseOverride('model_providers.p.experimental_bearer_token=S9', '-c'),
  ];
  const stored = storableOverrides(overrides);
  expect(JSON.stringify(stored)).not.toMatch(/S\d|sk0123/);
  expect(JSON.parse(JSON.stringify(stored))).toEqual([
    { path: 'model', value: 'claude-haiku-4-5-20251001' },
    { path: 'model_auto_compact_token_limit', value: 5000 },
    {
      path: 'model_providers.p',
      value: {
        base_url: 'http://a',
        env_key: 'MY_KEY',
        http_headers: { 'X-Title': 'title' },
        env_http_headers: { Authorization: 'AUTH_VARIABLE' },
        query_params: { 'api-version': '2026-01-01' },
      },
    },
    {
      path: 'mcp_servers',
      value: { m: { command: 'x', env: { A: 'env:S_NAME', PLAIN: 'p' }, bearer_token_env_var: 'V' } },
    },
    { path: 'shell_environment_policy', value: { set: { CI: '1' } } },
  ]);
});
