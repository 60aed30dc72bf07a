/**
 * Loads the bundled program (CommonJS files of one folder) with V8's code cache, which saves most of the time that
 * compiling takes. A module system of its own, because Node's cache (`module.enableCompileCache`) needs Node 22.8,
 * is written only at a clean exit, and resolving through `require` costs more than the few names here are worth.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';
import * as zlib from 'node:zlib';
import type { Boot } from './boot.js';

type Loaded = { readonly name: string; readonly script: Script; saved: boolean };
type Wrapper = (exports: unknown, require: unknown, module: unknown, filename: string, dirname: string) => void;

const CHECKSUM_BYTES = 4;

/**
 * `appDir`: absolute path of the bundle. `cacheDir`: where the code cache lies; it must be a folder below the
 * installation, never a temporary or per-user one: V8 runs what is in it, and a command in the agent's sandbox may
 * write to /tmp and the like. Whoever can write to the installation can change the program itself.
 * `pack`: the file that holds copies of many others, for commands that need them all; null: each file by itself.
 * `load` gives the exports of one file of the bundle.
 */
export function createAppLoader(
  appDir: string,
  cacheDir: string,
  pack: string | null,
): Boot & { load: (name: string) => unknown } {
  const nodeRequire = createRequire(join(appDir, 'main.js'));
  // Without these two (Node before 20.15) there is no cache, and Node loads the files itself.
  const crc32 = zlib.crc32;
  const importModuleDynamically = constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  if (crc32 === undefined || importModuleDynamically === undefined) {
    return { load: name => nodeRequire(join(appDir, name)), saveCodeCache: () => {} };
  }

  const modules = new Map<string, { exports: unknown }>();
  const loaded: Loaded[] = [];

  const appRequire = Object.assign(
    (request: string): unknown => (request.startsWith('./') ? load(request.slice(2)) : nodeRequire(request)),
    { resolve: nodeRequire.resolve, cache: nodeRequire.cache, main: nodeRequire.main },
  );

  /** Runs a script of the bundle. `frame` puts around its text what it needs to be an expression. */
  const evaluate = (name: string, frame: (text: string) => string): unknown => {
    const filename = join(appDir, name);
    const cachedData = readCache(join(cacheDir, name), crc32);
    // The build writes ASCII only, and V8 keeps such a string in half the memory.
    const script = new Script(frame(readFileSync(filename, 'latin1')), {
      filename,
      importModuleDynamically,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    loaded.push({ name, script, saved: cachedData !== undefined && script.cachedDataRejected === false });
    return script.runInThisContext();
  };

  const packed = pack === null ? {} : (evaluate(pack, text => text) as Readonly<Record<string, Wrapper>>);
  const load = (name: string): unknown => {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const run = packed[name] ?? (evaluate(name, moduleFunction) as Wrapper);
    const module = { exports: {} };
    modules.set(name, module);
    run(module.exports, appRequire, module, join(appDir, name), appDir);
    return module.exports;
  };

  const saveCodeCache = (): void => {
    for (const entry of loaded) {
      if (entry.saved) continue;
      entry.saved = true;
      writeCache(cacheDir, entry.name, entry.script.createCachedData(), crc32);
    }
  };
  return { load, saveCodeCache };
}

/** A file as what a pack holds of it (scripts/build/pack.ts). */
function moduleFunction(text: string): string {
  return `(function(exports,require,module,__filename,__dirname){${text}\n})`;
}

/** V8 crashes on a damaged cache instead of rejecting it, so a checksum stands behind the data. */
function readCache(file: string, crc32: typeof zlib.crc32): Buffer | undefined {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch {
    // No cache yet, or none that can be read: the source is compiled instead.
    return undefined;
  }
  const end = content.length - CHECKSUM_BYTES;
  if (end <= 0) return undefined;
  const data = content.subarray(0, end);
  return content.readUInt32LE(end) === crc32(data) ? data : undefined;
}

/** Written beside its place and renamed, so that a start at the same moment sees a whole file or none. */
function writeCache(cacheDir: string, name: string, data: Buffer, crc32: typeof zlib.crc32): void {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(data));
  const temporary = join(cacheDir, `${name}.${process.pid}.tmp`);
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(temporary, Buffer.concat([data, checksum]));
    renameSync(temporary, join(cacheDir, name));
  } catch {
    // A read-only installation or a full disk: starting stays as slow as it was, and nothing else is lost.
    discard(temporary);
  }
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // What can't be removed could not be written either; it is never read under this name.
  }
}
