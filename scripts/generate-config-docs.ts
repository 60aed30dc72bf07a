/**
 * Writes docs/config.md and config.schema.json from the descriptions of the keys. With --check it writes nothing and
 * fails when they are not up to date.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { configJsonSchema, configReference } from '../src/config/index.js';

const root = path.resolve(import.meta.dirname, '..');
const files = {
  'docs/config.md': configReference(),
  'config.schema.json': `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
};

const stale: string[] = [];
for (const [name, content] of Object.entries(files)) {
  const file = path.join(root, name);
  if (current(file) === content) continue;
  stale.push(name);
  if (process.argv.includes('--check')) continue;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}
if (stale.length > 0 && process.argv.includes('--check')) {
  console.error(`Not up to date: ${stale.join(', ')}. Run: npx tsx scripts/generate-config-docs.ts`);
  process.exitCode = 1;
}

function current(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not there yet.
    return null;
  }
}
