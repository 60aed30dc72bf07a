/** The snippets of docs/providers.md, loaded as a person's config.toml. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILT_IN_PROVIDERS, loadConfig } from '../../src/config/index.js';
import { modelInfo } from '../../src/providers/index.js';

const text = readFileSync(join(import.meta.dirname, '../../docs/providers.md'), 'utf8');
const snippets = [...text.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, snippet]) => snippet ?? '');

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'docs-'));
  const catalogue = /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  writeFileSync(join(home, 'models.json'), catalogue);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const load = (snippet: string) => {
  writeFileSync(join(home, 'config.toml'), snippet);
  return loadConfig({ env: { INTERPRETER_HOME: home }, process_cwd: home, front_door: 'exec', strict: true });
};

test.each(snippets)('%s', snippet => {
  const config = load(snippet);
  expect(config.provider.id).toBe(/^model_provider = "(.*)"/m.exec(snippet)?.[1]);
  expect(config.model).toBe(/^model = "(.*)"/m.exec(snippet)?.[1]);
  const info = modelInfo(config.model, config.provider, {
    catalogPath: config.model_catalog_json,
    contextWindow: config.model_context_window,
  });
  expect(info.context_window).toBeGreaterThan(30_000);
});

describe('the tables', () => {
  const rows = [...text.matchAll(/^\| (`[^|]+`) \| ([^|]+) \| ([^|]+) \|$/gm)].flatMap(([, ids, key, model]) =>
    (ids ?? '')
      .split(', ')
      .map(id => [id.replaceAll('`', ''), key?.replaceAll('`', ''), model?.replaceAll('`', '')] as const),
  );
  test('name every built-in provider', () => {
    expect(rows.map(([id]) => id).sort((a, b) => (a < b ? -1 : 1))).toEqual(
      Object.keys(BUILT_IN_PROVIDERS).sort((a, b) => (a < b ? -1 : 1)),
    );
  });
  test.each(rows)('%s: %s, %s', (id, key, model) => {
    const provider = BUILT_IN_PROVIDERS[id];
    const variable = provider?.env_key ?? Object.values(provider?.env_http_headers ?? {})[0];
    expect(key).toBe(variable ?? 'none');
    expect(model?.startsWith('none') ? null : model).toBe(provider?.default_model ?? null);
  });
});

test('the default models of the built-in providers are in the catalogue', () => {
  const unknown = Object.entries(BUILT_IN_PROVIDERS).filter(([id, { default_model }]) => {
    if (default_model === null) return false;
    const settings = load(`model_provider = "openai"`).provider;
    return !modelInfo(default_model, { ...settings, id }).known;
  });
  expect(unknown).toEqual([]);
});
