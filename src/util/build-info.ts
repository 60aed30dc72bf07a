import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

// Both are put in by the build; running from source they do not exist.
declare const __INTERPRETER_VERSION__: string | undefined;
declare const __INTERPRETER_ASSETS__: string | undefined;

/** The version of this package, such as "1.2.3". */
export function packageVersion(): string {
  if (typeof __INTERPRETER_VERSION__ === 'string') return __INTERPRETER_VERSION__;
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  throw new Error('package.json has no version: add one.');
}

/**
 * Absolute path of a data file that a bundled dependency ships, such as "tree-sitter-bash/tree-sitter-bash.wasm".
 * The build copies these files beside the bundle (the list is in scripts/build/assets.ts); from source they are
 * found in node_modules. Throws when it is found in neither place.
 */
export function packageFile(specifier: string): string {
  if (typeof __INTERPRETER_ASSETS__ === 'string') {
    return fileURLToPath(new URL(`${__INTERPRETER_ASSETS__}/${basename(specifier)}`, import.meta.url));
  }
  return createRequire(import.meta.url).resolve(specifier);
}
