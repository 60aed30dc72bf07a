/**
 * The library entries. The code is bundled once, as CommonJS in lib/; esm/ re-exports it by name. So an application
 * that imports one entry and requires another has one copy, with one set of classes.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../root.js';
import { type Bundle, bundle } from './bundle.js';
import { buildTypes } from './types.js';

/** Name of the entry's files -> its source; each is an entry of `exports` in package.json. */
const ENTRIES = {
  sdk: 'src/sdk/index.ts',
  mcp: 'src/mcp-server/index.ts',
  protocol: 'src/protocol/index.ts',
} as const;

export async function buildLibrary(
  outdir: string,
  constants: Readonly<Record<string, string>>,
): Promise<readonly Bundle[]> {
  const entries = Object.fromEntries(
    Object.entries(ENTRIES)
      .map(([name, source]) => [name, join(root, source)] as const)
      .filter(([, source]) => existsSync(source)),
  );
  if (Object.keys(entries).length === 0) return [];
  const [library] = await Promise.all([
    // zod stays outside: schemas of the caller and ours have to be of one kind.
    bundle({ entries, outdir: join(outdir, 'lib'), constants, external: ['zod'] }),
    buildTypes(outdir, entries),
  ]);
  await mkdir(join(outdir, 'esm'), { recursive: true });
  // Bundlers look at the nearest package.json: what is not used of these may be left out.
  await writeFile(join(outdir, 'esm', 'package.json'), '{"type":"module","sideEffects":false}\n');
  for (const name of Object.keys(entries)) {
    await writeFile(join(outdir, 'esm', `${name}.js`), esmDoor(name, library));
  }
  return [library];
}

function esmDoor(name: string, library: Bundle): string {
  const output = Object.entries(library.metafile.outputs).find(([path]) => path.endsWith(`/lib/${name}.js`))?.[1];
  if (output === undefined) throw new Error(`The bundle of the library has no entry ${name}.`);
  const names = output.exports.filter(exported => exported !== 'default');
  if (names.length === 0) return 'export {};\n';
  return `export { ${names.join(', ')} } from '../lib/${name}.js';\n`;
}
