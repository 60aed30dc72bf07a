/**
 * Bundles entry points in two stages. Stage 1 makes an ESM bundle with code splitting, so that what is imported
 * lazily is a file of its own. Stage 2 turns every file into CommonJS: V8's code cache can be used for it on every
 * supported Node, and a lazy file costs one read instead of the start of Node's ESM loader.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, transform } from 'esbuild';
import { lazyCommanderProcesses } from './lazy-commander-processes.js';
import { lazyMcpSchemas } from './lazy-mcp-schemas.js';
import { lazyMcpValidator } from './lazy-mcp-validator.js';
import { opentelemetryModules } from './opentelemetry-modules.js';

/** Dependencies that hold native code or files of their own; they are loaded from node_modules. */
const CJS_EXTERNALS = ['@lydell/node-pty', '@napi-rs/keyring', '@photostructure/sqlite'];
/** The same, but only loadable with a real `import()`. */
const ESM_EXTERNALS = ['@vscode/ripgrep'];

/** The oldest Node the bundle runs on; the same as `engines` in package.json. */
const TARGET = 'node20';

export type BundleOptions = {
  /** Output name without extension -> source file. */
  readonly entries: Readonly<Record<string, string>>;
  /** Absolute folder that gets the files. */
  readonly outdir: string;
  /** Replaced by esbuild: name -> value. */
  readonly constants: Readonly<Record<string, string>>;
  /** More packages to leave out. */
  readonly external?: readonly string[];
};

export type Bundle = {
  /** File name in `outdir` -> text. */
  readonly files: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
};

/** Writes the bundle; throws with esbuild's messages when it can't be made. */
export async function bundle(options: BundleOptions): Promise<Bundle> {
  const result = await build({
    entryPoints: { ...options.entries },
    outdir: options.outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: TARGET,
    chunkNames: '[name]-[hash]',
    // Names stay as they are written: stack traces are read by people.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    external: [...CJS_EXTERNALS, ...ESM_EXTERNALS, ...(options.external ?? [])],
    define: Object.fromEntries(Object.entries(options.constants).map(([name, value]) => [name, JSON.stringify(value)])),
    plugins: [lazyCommanderProcesses, lazyMcpValidator, lazyMcpSchemas, opentelemetryModules],
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const sources = new Map(result.outputFiles.map(file => [relative(options.outdir, file.path), file.text]));
  const files = new Map<string, string>();
  const modules = { own: new Set(sources.keys()), required: [...CJS_EXTERNALS, ...(options.external ?? [])] };
  for (const [name, source] of sources) files.set(name, await toCommonJs(name, source, modules));
  for (const [name, text] of files) {
    const path = join(options.outdir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return { files, metafile: result.metafile };
}

/** The function under a name of our own: bundled code may declare a `require` around a lazy import. */
const REQUIRE = 'const __ownRequire=require;';

/** What a lazy import may name: files of the bundle, and packages outside of it that `require` can load. */
type Modules = { readonly own: ReadonlySet<string>; readonly required: readonly string[] };

async function toCommonJs(name: string, source: string, modules: Modules): Promise<string> {
  const usesUrl = source.includes('import.meta.url');
  const { code, warnings } = await transform(lazyImportsToRequire(name, source, modules), {
    format: 'cjs',
    platform: 'node',
    target: TARGET,
    sourcefile: name,
    minifyWhitespace: true,
    minifySyntax: true,
    // Node shows the line of an error that nobody caught.
    lineLimit: 160,
    define: { 'import.meta.url': '__fileUrl' },
    banner: REQUIRE + (usesUrl ? 'const __fileUrl=require("node:url").pathToFileURL(__filename).href;' : ''),
  });
  if (warnings.length > 0) throw new Error(`${name}: ${warnings.map(warning => warning.text).join('; ')}`);
  return code;
}

/**
 * Rewrites `import("x")` of our own files, of Node's modules and of CommonJS packages. The namespace keeps the shape
 * that `import()` gives: named exports, and for CommonJS `default` as the whole.
 */
function lazyImportsToRequire(name: string, source: string, { own, required }: Modules): string {
  return source.replace(/\bimport\("([^"]+)"\)/g, (whole, request: string) => {
    if (own.has(request.replace(/^\.\//, ''))) return `Promise.resolve().then(()=>__ownRequire("${request}"))`;
    if (isBuiltin(request) || required.includes(request)) {
      return `Promise.resolve().then(()=>{const m=__ownRequire("${request}");return{__proto__:m,default:m}})`;
    }
    if (ESM_EXTERNALS.includes(request)) return whole;
    throw new Error(`${name} imports ${request} lazily, which is neither bundled nor a known external package.`);
  });
}
