import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from './local-server.js';

test('the documentation names every argument, result field and allowed value', async () => {
  const text = await readFile(join(import.meta.dirname, '../../docs/mcp-server.md'), 'utf8');
  const { client, server } = startServer();
  await client.initialize();
  const { tools } = (await client.request('tools/list')).result;
  await server.close();
  const words = new Set<string>();
  for (const { name, inputSchema, outputSchema } of tools) {
    words.add(name);
    for (const [property, { enum: values }] of Object.entries<{ enum?: string[] }>(inputSchema.properties)) {
      words.add(property);
      for (const value of values ?? []) words.add(value);
    }
    for (const property of Object.keys(outputSchema.properties)) words.add(property);
  }
  expect([...words].filter(word => !text.includes(`\`${word}\``) && !text.includes(`"${word}"`))).toEqual([]);
});
