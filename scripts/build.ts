/**
 * Builds the package into dist/:
 *   interpreter.js   the command: a small launcher (CommonJS)
 *   app/             the program it loads, split into files that are loaded when needed (CommonJS)
 *   lib/, esm/       the library entries: CommonJS, and ESM doors to the same files
 *   types/, types-cjs/  their declarations, for both kinds of importer
 *   assets/          data files of bundled dependencies
 *   .cache/          V8's code cache for this machine; not published
 */
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyAssets } from './build/assets.js';
import { bundle } from './build/bundle.js';
import { buildLauncher } from './build/launcher.js';
import { buildLibrary } from './build/library.js';
import { writeNotices } from './build/notices.js';
import { warmUp } from './build/warm-up.js';
import { root } from './root.js';

const dist = join(root, 'dist');
// Built elsewhere and put in place by renaming, so that a program or test that runs meanwhile meets a whole build.
const staging = join(root, 'node_modules', `.build-${process.pid}`);

async function main(): Promise<void> {
  const started = performance.now();
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const constants = { __INTERPRETER_VERSION__: version, __INTERPRETER_ASSETS__: '../assets' };
  await mkdir(staging, { recursive: true });
  try {
    const [app, library] = await Promise.all([
      bundle({ entries: { main: join(root, 'src/cli/main.ts') }, outdir: join(staging, 'app'), constants }),
      buildLibrary(staging, constants),
      copyAssets(staging),
      writeFile(join(staging, 'package.json'), '{"type":"commonjs"}\n'),
    ]);
    await buildLauncher(staging, app);
    await chmod(join(staging, 'interpreter.js'), 0o755);
    await writeNotices(staging, [app, ...library]);
    await replaceDist();
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  console.log(`built dist/ in ${Math.round(performance.now() - started)} ms`);
  console.log(await warmUp(dist));
}

async function replaceDist(): Promise<void> {
  const old = `${staging}-old`;
  await rename(dist, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(staging, dist);
  await rm(old, { recursive: true, force: true });
}

await main();
