import { describe, expect, test } from 'vitest';
import { setConfig, showConfig } from '../../src/cli/config-command.js';
import { explainConfig, type LoadOptions } from '../../src/config/index.js';
import { World } from '../config/world.js';

function shown(world: World, options: LoadOptions, json = false) {
  const output = { out: '', err: '' };
  showConfig(options, json, { out: text => void (output.out += text), err: text => void (output.err += text) });
  return { out: output.out.replaceAll(world.root, '~'), err: output.err.replaceAll(world.root, '~') };
}

describe('config show', () => {
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
    const { out, err } = shown(
      world,
      world.options({ profile: 'q', c: ['model_provider=p'], arguments: { sandbox: 'read-only' } }),
    );
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
    expect(out + err).not.toContain('sk-secret');
    expect(err).toBe('warning: ~/home/config.toml:2: `tui` is accepted but has no effect here\n');
  });

  test('as JSON holds the same for programs', () => {
    const world = new World();
    world.config('[[hooks.Stop]]\nhooks = [{ type = "command", command = "x" }]\n');
    const { out } = shown(world, world.options(), true);
    const parsed: { values: { key: string }[]; warnings: string[] } = JSON.parse(out);
    expect(parsed.values.find(one => one.key === 'model')).toEqual({
      key: 'model',
      value: 'gpt-5.6-terra',
      layer: 'default',
      source: null,
      line: null,
      note: null,
    });
    expect(parsed.values.find(one => one.key.startsWith('hooks.'))).toMatchObject({
      key: 'hooks.Stop[0]',
      layer: 'user',
      source: '~/home/config.toml',
    });
    expect(parsed.warnings).toEqual([]);
  });

  test('every key of the reference is told about', () => {
    const keys = explainConfig(new World().options()).values.map(one => one.key);
    expect(keys).toEqual(
      expect.arrayContaining(['model', 'sandbox_workspace_write.network_access', 'mcp_server.events', 'otel.exporter']),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test('config set changes the file in the home and says so', () => {
  const world = new World();
  const said: string[] = [];
  setConfig(world.options().env, 'model', 'new', { out: text => said.push(text), err: text => said.push(text) });
  expect(said).toEqual([`model set in ${world.home}/config.toml\n`]);
  expect(world.load().model).toBe('new');
});
