import { describe, expect, test } from 'vitest';
import { explainConfig, formatExplanation } from '../../src/config/index.js';
import { World } from './world.js';

describe('an explanation', () => {
  test('names the layer, the file and the line of every value', () => {
    const world = new World();
    world.write('system.toml', 'model = "below"\nmodel_verbosity = "low"\n');
    world.config(`model = "user"
tui.theme = "x"
[mcp_servers.a]
command = "x"
env = { API_KEY = "sk-secret", B = "c" }
[model_providers.p]
base_url = "http://a"
experimental_bearer_token = "sk-secret"
[profiles.q]
service_tier = "flex"
${world.trust()}`);
    world.write('work/.openinterpreter/config.toml', '[features]\nundo = true\n');
    const explanation = explainConfig(
      world.options({ profile: 'q', c: ['model_provider=p'], arguments: { sandbox: 'read-only' } }),
    );
    const out = formatExplanation(explanation).replaceAll(world.root, '~');
    const lines = out.split('\n');
    for (const line of [
      'model = "user"  # user ~/home/config.toml:1',
      'model_verbosity = "low"  # system ~/system.toml:2',
      'model_provider = "p"  # override -c model_provider',
      'sandbox_mode = "read-only"  # argument an argument',
      'service_tier = "flex"  # profile ~/home/config.toml:10',
      'features.undo = true  # project ~/work/.openinterpreter/config.toml:2',
      'features.hooks = true  # default',
      'approval_policy = "on-request"  # default',
      'mcp_servers.a.env = { API_KEY = "***", B = "c" }  # user ~/home/config.toml:5',
      'model_providers.p.experimental_bearer_token = "***"  # user ~/home/config.toml:8',
      'model_providers.p.wire_api = "responses"  # default',
      '# model_context_window is not set: by model',
      '# notify is not set',
    ]) {
      expect(lines).toContain(line);
    }
    expect(out + JSON.stringify(explanation)).not.toContain('sk-secret');
    expect(explanation.warnings).toEqual([`${world.home}/config.toml:2: \`tui\` is accepted but has no effect here`]);
  });

  test('holds the same for programs', () => {
    const world = new World();
    const file = world.config('[[hooks.Stop]]\nhooks = [{ type = "command", command = "x" }]\n');
    const { values, warnings } = explainConfig(world.options());
    expect(values.find(one => one.key === 'model')).toEqual({
      key: 'model',
      value: 'gpt-5.6-terra',
      layer: 'default',
      source: null,
      line: null,
      note: null,
    });
    expect(values.find(one => one.key.startsWith('hooks.'))).toMatchObject({
      key: 'hooks.Stop[0]',
      layer: 'user',
      source: file,
    });
    expect(warnings).toEqual([]);
  });

  test('every key of the reference is told about', () => {
    const keys = explainConfig(new World().options()).values.map(one => one.key);
    expect(keys).toEqual(
      expect.arrayContaining(['model', 'sandbox_workspace_write.network_access', 'mcp_server.events', 'otel.exporter']),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });
});
