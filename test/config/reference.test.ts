import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { configJsonSchema, configReference } from '../../src/config/index.js';

const root = path.resolve(import.meta.dirname, '../..');

describe('what is generated from the keys', () => {
  test.each([
    ['docs/config.md', configReference()],
    ['config.schema.json', `${JSON.stringify(configJsonSchema(), null, 2)}\n`],
  ])('%s is up to date (npx tsx scripts/generate-config-docs.ts)', (file, content) => {
    expect(readFileSync(path.join(root, file), 'utf8')).toBe(content);
  });

  test('the JSON Schema accepts a full file and refuses mistakes', () => {
    const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(configJsonSchema())));
    const valid = `model = "x"
approval_policy = { granular = { rules = false } }
tui.anything = 1
[profiles.p]
model = "y"
[mcp_servers.a]
command = "x"
env_vars = ["A", { name = "B" }]
[permissions.p.filesystem]
":root" = "read"
":workspace_roots" = { "." = "write" }
glob_scan_max_depth = 3
`;
    const table: unknown = JSON.parse(JSON.stringify(parse(valid)));
    expect(schema.safeParse(table).error).toBe(undefined);
    for (const text of [
      'modle = "x"',
      'sandbox_mode = "x"',
      '[features]\nunifed = true',
      '[mcp_servers.a]\nargs = "x"',
      '[profiles.p]\nprofile = "q"',
    ]) {
      const refused = !schema.safeParse(JSON.parse(JSON.stringify(parse(text)))).success;
      expect({ text, refused }).toEqual({ text, refused: true });
    }
  });
});
