import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../root.js';

/**
 * Writes the declarations of the entries to types/ (for importers that are ES modules) and types-cjs/ (for the
 * others), each with the files that the entries reach. Throws when one of them names a package that users do not get.
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
  await rename(join(from, file), join(to, file));
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const [, request = ''] of text.matchAll(/(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm)) {
    if (request.startsWith('.')) {
      await keepReachable(from, join(dirname(file), request).replace(/\.js$/, '.d.ts'), to);
    } else if (!request.startsWith('node:') && !Object.hasOwn(dependencies, packageOf(request))) {
      throw new Error(
        `The public types in ${file} name the package ${request}, which is bundled and so not installed at the user's: describe the value with a type of our own.`,
      );
    }
  }
}

function packageOf(request: string): string {
  return request
    .split('/')
    .slice(0, request.startsWith('@') ? 2 : 1)
    .join('/');
}
