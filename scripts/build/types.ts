import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../root.js';

/**
 * Writes the declarations of the entries to types/ (for importers that are ES modules) and types-cjs/ (for the
 * others), each with the files that the entries reach.
 */
export async function buildTypes(outdir: string, entries: Readonly<Record<string, string>>): Promise<void> {
  const all = join(outdir, 'types-all');
  await emitDeclarations(all, Object.values(entries));
  for (const entry of Object.values(entries)) await keepReachable(all, declarationOf(entry), join(outdir, 'types'));
  await rm(all, { recursive: true });
  await writeFile(join(outdir, 'types', 'package.json'), '{"type":"module"}\n');
  await cp(join(outdir, 'types'), join(outdir, 'types-cjs'), { recursive: true });
  await writeFile(join(outdir, 'types-cjs', 'package.json'), '{"type":"commonjs"}\n');
}

function declarationOf(source: string): string {
  return relative(join(root, 'src'), source).replace(/\.ts$/, '.d.ts');
}

async function emitDeclarations(outdir: string, files: readonly string[]): Promise<void> {
  await mkdir(outdir, { recursive: true });
  const config = join(outdir, 'tsconfig.json');
  await writeFile(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: join(root, 'src'),
        outDir: outdir,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      files,
      include: [],
    }),
  );
  // A type error is for `npm run check` to report; the declarations are written all the same.
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', config], { cwd: root }).catch(() => {});
  for (const file of files) {
    const declaration = join(outdir, declarationOf(file));
    if (!existsSync(declaration)) throw new Error(`tsc wrote no declarations for ${file}: run npm run check.`);
  }
}

/** Moves `file` and all it imports from `from` to `to`; both are folders, `file` is relative to them. */
async function keepReachable(from: string, file: string, to: string): Promise<void> {
  const text = await readFile(join(from, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null; // already moved
    throw error;
  });
  if (text === null) return;
  await mkdir(dirname(join(to, file)), { recursive: true });
  await writeFile(join(to, file), withoutBundledPackages(file, text));
  await rm(join(from, file));
  for (const [, request = ''] of text.matchAll(REQUEST)) {
    if (request.startsWith('.')) await keepReachable(from, join(dirname(file), request).replace(/\.js$/, '.d.ts'), to);
  }
}

const REQUEST = /(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm;
const NAMED_IMPORT = /^import (?:type )?\{([^}]*)\} from ['"]([^'"]+)['"];$/gm;

/**
 * The types of packages that are bundled are not installed at the user's. In the inner parts of the program they
 * become opaque; the types that a user is meant to see are our own or those of a dependency.
 */
function withoutBundledPackages(file: string, text: string): string {
  const hidden: string[] = [];
  let opaque = text.replace(NAMED_IMPORT, (whole, names: string, request: string) => {
    if (!isBundled(request)) return whole;
    const local = names.split(',').map(
      name =>
        name
          .replace(/^\s*type /, '')
          .split(' as ')
          .at(-1)
          ?.trim() ?? '',
    );
    hidden.push(...local);
    return local.map(name => `type ${name}<_A = any, _B = any, _C = any, _D = any> = any;`).join('\n');
  });
  // A namespace's member, such as AST.Node, is as opaque as the namespace.
  for (const name of hidden) opaque = opaque.replace(new RegExp(`\\b${name}\\.[\\w.]+`, 'g'), name);
  for (const [, request = ''] of opaque.matchAll(REQUEST)) {
    if (!isBundled(request)) continue;
    throw new Error(
      `The types of ${file} take ${request} whole, which is not installed at the user's: import types from it by name.`,
    );
  }
  return opaque;
}

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

function isBundled(request: string): boolean {
  if (request.startsWith('.') || isBuiltin(request)) return false;
  const name = request
    .split('/')
    .slice(0, request.startsWith('@') ? 2 : 1)
    .join('/');
  return !Object.hasOwn(dependencies, name);
}
