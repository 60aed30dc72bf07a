/**
 * Builds the package into dist/:
 *   interpreter.js   the command: a small launcher (CommonJS)
 *   app/             the program it loads, split into files that are loaded when needed (CommonJS)
 *   lib/, esm/       the library entries: CommonJS, and ESM doors to the same files
 *   types/, types-cjs/  their declarations, for both kinds of importer
 *   assets/          data files of bundled dependencies
 *   .cache/          V8's code cache for this machine; not published
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyAssets } from './build/assets.js';
import { bundle } from './build/bundle.js';
import { buildLauncher } from './build/launcher.js';
import { buildLibrary } from './build/library.js';
import { writeNotices } from './build/notices.js';
import { writePack } from './build/pack.js';
import { warmUp } from './build/warm-up.js';
import { root } from './root.js';

const dist = join(root, 'dist');
// Built elsewhere and put in place by renaming, so that a program or test that runs meanwhile meets a whole build.
const STAGING = '.build-';
const staging = join(root, 'node_modules', `${STAGING}${process.pid}`);

async function main(): Promise<void> {
  const started = performance.now();
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const constants = { __INTERPRETER_VERSION__: version, __INTERPRETER_ASSETS__: '../assets' };
  await removeAbandoned();
  await mkdir(staging, { recursive: true });
  try {
    const [app, library] = await Promise.all([
      bundle({ entries: { main: join(root, 'src/cli/main.ts') }, outdir: join(staging, 'app'), constants }),
      buildLibrary(staging, constants),
      copyAssets(staging),
      writeFile(join(staging, 'package.json'), '{"type":"commonjs"}\n'),
    ]);
    await Promise.all([buildLauncher(staging, app), writePack(join(staging, 'app'), app)]);
    await chmod(join(staging, 'interpreter.js'), 0o755);
    await writeNotices(staging, [app, ...library]);
    await replaceDist();
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  console.log(`built dist/ in ${Math.round(performance.now() - started)} ms`);
  console.log(await warmUp(dist));
}

/** Removes what builds left that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(join(root, 'node_modules'))) {
    const pid = name.startsWith(STAGING) ? Number.parseInt(name.slice(STAGING.length), 10) : Number.NaN;
    if (!Number.isNaN(pid) && !isRunning(pid))
      await rm(join(root, 'node_modules', name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function replaceDist(): Promise<void> {
  const old = `${staging}-old`;
  for (let tries = 1; ; tries++) {
    await rename(dist, old).catch(unless('ENOENT'));
    try {
      await rename(staging, dist);
      break;
    } catch (error) {
      // Another build put its result there between the two steps.
      if (tries === 3) throw error;
      await rm(old, { recursive: true, force: true });
    }
  }
  await rm(old, { recursive: true, force: true });
}

function unless(code: string): (error: NodeJS.ErrnoException) => void {
  return error => {
    if (error.code !== code) throw error;
  };
}

await main();
