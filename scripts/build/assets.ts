import { copyFile, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

/** Data files of bundled dependencies; the program finds them with `packageFile` of src/util. */
const ASSETS = ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-bash/tree-sitter-bash.wasm'];

export async function copyAssets(outdir: string): Promise<void> {
  const { resolve } = createRequire(import.meta.url);
  await mkdir(join(outdir, 'assets'), { recursive: true });
  await Promise.all(ASSETS.map(asset => copyFile(resolve(asset), join(outdir, 'assets', basename(asset)))));
}
