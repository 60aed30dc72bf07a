import { describe, expect, test } from 'vitest';
import { BUILT_IN_PROVIDERS, defaultModelOf, providerVariables } from '../../src/config/index.js';
import { World } from './world.js';

const none = { OPENAI_API_KEY: undefined };

describe('the provider that is used', () => {
  test('without configuration is openai with its default model', () => {
    const config = new World().load();
    expect(config).toMatchObject({ model: 'gpt-5.6-terra', warnings: [] });
    expect(config.provider).toEqual({
      id: 'openai',
      name: 'OpenAI',
      base_url: 'https://api.openai.com/v1',
      wire_api: 'responses',
      env_key: 'OPENAI_API_KEY',
      http_headers: {},
      env_http_headers: { 'OpenAI-Organization': 'OPENAI_ORGANIZATION', 'OpenAI-Project': 'OPENAI_PROJECT' },
      query_params: {},
      request_max_retries: 4,
      stream_max_retries: 5,
      stream_idle_timeout_ms: 300_000,
    });
  });

  test.each([
    ['one other key', { ANTHROPIC_API_KEY: 'k' }, 'anthropic', 'claude-sonnet-5'],
    ['a key that two built-in providers share', { MOONSHOT_API_KEY: 'k' }, 'moonshotai', 'kimi-k3'],
    [
      'a key beside variables of other programs',
      { DEEPSEEK_API_KEY: 'k', GITHUB_TOKEN: 'g', HF_TOKEN: 'h' },
      'deepseek',
      'deepseek-v4-pro',
    ],
    ['only variables of other programs', { GITHUB_TOKEN: 'g' }, 'openai', 'gpt-5.6-terra'],
    ['two other keys', { ANTHROPIC_API_KEY: 'k', ZAI_API_KEY: 'k' }, 'openai', 'gpt-5.6-terra'],
    ['a blank key', { ANTHROPIC_API_KEY: ' ' }, 'openai', 'gpt-5.6-terra'],
    ['no key at all', {}, 'openai', 'gpt-5.6-terra'],
  ])('without the key of openai and %s', (_name, env, id, model) => {
    const config = new World().load({ env: { ...none, ...env } });
    expect({ id: config.provider.id, model: config.model }).toEqual({ id, model });
    const warning = config.warnings[0] ?? '';
    expect(warning.includes(`the provider \`${id}\` is used`)).toBe(id !== 'openai');
  });

  test('stays openai when a layer chose it, its URL or its key, or a key was stored', () => {
    const world = new World();
    const env = { ...none, ANTHROPIC_API_KEY: 'k' };
    expect(world.load({ env, c: ['model_provider=openai'] }).provider.id).toBe('openai');
    expect(world.load({ env, c: ['openai_base_url=http://a'] }).provider).toMatchObject({
      id: 'openai',
      base_url: 'http://a',
    });
    expect(world.load({ env, c: ['model_providers.openai.experimental_bearer_token=t'] }).provider.id).toBe('openai');
    expect(world.load({ env, logged_in: provider => provider === 'openai' }).provider.id).toBe('openai');
  });

  test('keys of the person go over a built-in entry', () => {
    const world = new World();
    world.config(
      'model_provider = "zai"\n[model_providers.zai]\nbase_url = "https://proxy.example/v4/"\nhttp_headers = { "X-A" = "1" }\nrequest_max_retries = 1000\n',
    );
    expect(world.load({ env: { ZAI_API_KEY: 'k' } }).provider).toMatchObject({
      id: 'zai',
      name: 'Z.AI',
      base_url: 'https://proxy.example/v4',
      wire_api: 'chat',
      env_key: 'ZAI_API_KEY',
      http_headers: { 'X-A': '1' },
      request_max_retries: 100,
    });
  });

  test('a token or a command replaces the variable of a built-in entry', () => {
    const world = new World();
    expect(world.load({ c: ['model_providers.openai.auth.command=print-token'] }).provider).toMatchObject({
      auth: { command: 'print-token', args: [], timeout_ms: 5000, refresh_interval_ms: 300_000 },
    });
    expect(world.load({ c: ['model_providers.openai.experimental_bearer_token=t'] }).provider.env_key).toBe(undefined);
  });

  test('a provider of ones own without a model asks for the default one, with a warning', () => {
    const world = new World();
    const config = world.load({ c: ['model_provider=own', 'model_providers.own.base_url=http://localhost:1/v1'] });
    expect(config).toMatchObject({
      model: 'gpt-5.6-terra',
      provider: { id: 'own', name: 'own', wire_api: 'responses' },
    });
    expect(config.warnings).toEqual([
      'No model is set for the provider `own`; `gpt-5.6-terra` is asked for. Set `model` in config.toml.',
    ]);
  });

  test.each([
    ['model_provider = "opnai"\n', '~/home/config.toml:1:18: Model provider `opnai` not found; did you mean `openai`?'],
    [
      'model_provider = "x"\n[model_providers.x]\nname = "X"\n',
      '~/home/config.toml:2:18: `base_url` is missing for the provider `x`',
    ],
    ['model_provider = "azure"\n', '`base_url` is missing for the provider `azure` in `model_providers.azure`'],
    [
      'model_provider = "x"\n[model_providers.x]\nbase_url = "localhost:80"\n',
      '~/home/config.toml:3:12: `localhost:80` is not a URL that starts with http:// or https://',
    ],
    ['openai_base_url = "ftp://a"\n', '~/home/config.toml:1:19: `ftp://a` is not a URL'],
    [
      '[model_providers.x]\nbase_url = "http://a"\nenv_key = "K"\nauth = { command = "c" }\n',
      '~/home/config.toml:3:11: provider auth cannot be combined with env_key',
    ],
    [
      '[model_providers.x]\nexperimental_bearer_token = "K"\nauth.command = "c"\n',
      '~/home/config.toml:2:29: provider auth cannot be combined with experimental_bearer_token',
    ],
    ['[model_providers.x.auth]\nargs = []\n', '~/home/config.toml:1:20: `command` is missing'],
    ['model_provider = "amazon-bedrock"\n', 'the AWS region is missing: set AWS_REGION or `aws.region`'],
  ])('%j is a mistake with its place', (text, message) => {
    const world = new World();
    world.config(text);
    expect(world.failure()).toContain(message);
  });

  test('amazon-bedrock goes to the region of the environment or the entry', () => {
    const world = new World();
    const c = ['model_provider=amazon-bedrock'];
    expect(world.load({ c, env: { AWS_REGION: 'eu-west-1' } }).provider.base_url).toBe(
      'https://bedrock-mantle.eu-west-1.api.aws/openai/v1',
    );
    const own = world.load({
      c: [...c, 'model_providers.amazon-bedrock.aws.region=us-east-2'],
      env: { AWS_REGION: 'eu-west-1' },
    });
    expect(own.provider.base_url).toBe('https://bedrock-mantle.us-east-2.api.aws/openai/v1');
  });
});

describe('--oss', () => {
  test('uses oss_provider or the named one, where the environment says it is', () => {
    const world = new World();
    expect(world.failure({ oss: true })).toContain('--oss needs to know the local provider');
    expect(world.load({ oss: true, c: ['oss_provider=lmstudio'] }).provider).toMatchObject({
      id: 'lmstudio',
      base_url: 'http://localhost:1234/v1',
    });
    expect(world.load({ oss: 'ollama' })).toMatchObject({
      model: 'gpt-oss:20b',
      provider: { base_url: 'http://localhost:11434/v1' },
    });
    expect(world.load({ oss: 'ollama', env: { CODEX_OSS_PORT: '99' } }).provider.base_url).toBe(
      'http://localhost:99/v1',
    );
    expect(world.load({ oss: 'ollama', env: { CODEX_OSS_BASE_URL: 'http://h/v1' } }).provider.base_url).toBe(
      'http://h/v1',
    );
  });
});

describe('every built-in provider', () => {
  test.each(Object.entries(BUILT_IN_PROVIDERS))('%s resolves', (id, entry) => {
    const url = entry.base_url ?? 'https://example.com/openai';
    const config = new World().load({
      env: { AWS_REGION: 'r' },
      c: [`model_provider=${JSON.stringify(id)}`],
      overrides: entry.base_url === null ? [{ path: `model_providers.${id}.base_url`, value: url, source: '-c' }] : [],
    });
    expect(config.provider).toMatchObject({ id, base_url: url.replace('{region}', 'r'), wire_api: entry.wire_api });
    expect(config.model).toBe(defaultModelOf(id) ?? 'gpt-5.6-terra');
    for (const variable of providerVariables(config.provider)) expect(variable).toMatch(/^[A-Z_]+$/);
  });
});
