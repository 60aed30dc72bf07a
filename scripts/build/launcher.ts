import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../root.js';
import type { Bundle } from './bundle.js';

/** Writes interpreter.js, which loads `app` and knows a hash of it. */
export async function buildLauncher(outdir: string, app: Bundle): Promise<void> {
  await build({
    entryPoints: [join(root, 'src/cli/boot/launcher.ts')],
    outfile: join(outdir, 'interpreter.js'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    // Old enough for its check of Node's version to be read by the Nodes it refuses.
    target: 'node12',
    banner: { js: '#!/usr/bin/env node' },
    define: { __INTERPRETER_BUILD_ID__: JSON.stringify(buildId(app)) },
    logLevel: 'warning',
  });
}

function buildId(app: Bundle): string {
  const hash = createHash('sha256');
  for (const name of [...app.files.keys()].sort())
    hash
      .update(name)
      .update('\0')
      .update(app.files.get(name) ?? '');
  return hash.digest('hex').slice(0, 16);
}
