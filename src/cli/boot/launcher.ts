/**
 * The file behind the `interpreter` command: checks Node's version, then loads and runs the bundled program. It is
 * built apart from the program, to CommonJS (hence `__dirname`), small, and in syntax that an old Node can parse.
 */
import { join } from 'node:path';
import { createAppLoader } from './app-loader.js';
import { type Main, PACK } from './boot.js';

// Put in by the build: changes whenever a file of the bundle does, so that no cache outlives its source.
declare const __INTERPRETER_BUILD_ID__: string;

const OLDEST_NODE = 20;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `interpreter needs Node.js ${OLDEST_NODE} or newer; this is ${process.version} (${process.execPath}). Install a newer one from https://nodejs.org.\n`,
  );
  process.exit(1);
}

const engine = `${process.version}-${process.arch}-${process.versions.v8}`;
// What runs turns needs much of the program at once, and one large file is read faster than many small ones.
const pack = /^(mcp-server|exec|e)$/.test(process.argv[2] || '') ? PACK : null;
const cacheDir = join(__dirname, '.cache', __INTERPRETER_BUILD_ID__, engine);
const loader = createAppLoader(join(__dirname, 'app'), cacheDir, pack);
// The build sets this for the one run that warms the cache up; in use the program saves when it is idle.
if (process.env.INTERPRETER_SAVE_CODE_CACHE === 'at-exit') process.on('exit', loader.saveCodeCache);
const { main } = loader.load('main.js') as { main: Main };
main(process.argv.slice(2), loader).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
