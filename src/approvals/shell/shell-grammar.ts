/** The real shell grammar: tree-sitter-bash, run as WebAssembly. Heavy, so it is loaded when first needed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Parser, Tree } from 'web-tree-sitter';
import { packageFile } from '../../util/index.js';
import { MAX_SCRIPT_LENGTH } from './plain-script.js';
import { readTree, type TreeReading } from './read-tree.js';

/** A script as the grammar sees it; null when it can't be read: syntax the grammar has no rule for, or far too much. */
export interface ShellGrammar {
  read(script: string): TreeReading | null;
}

export type GrammarOptions = {
  /** Folder that holds `web-tree-sitter.wasm` and `tree-sitter-bash.wasm`. Default: where the packages have them. */
  readonly wasmDir?: string;
};

/** Loads the grammar when it is first needed, once. */
export interface ShellGrammarLoader {
  /** Rejects when a file is missing or can't be compiled; a later call tries again. */
  load(): Promise<ShellGrammar>;
}

/** One per process. Nothing is read before the first `load`. */
export function createShellGrammarLoader(options: GrammarOptions = {}): ShellGrammarLoader {
  let loading: Promise<ShellGrammar> | undefined;
  return {
    load: () => {
      loading ??= loadShellGrammar(options).catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return loading;
    },
  };
}

/** Takes some 100 ms. Throws when a file is missing or can't be compiled; the message names the file. */
async function loadShellGrammar(options: GrammarOptions = {}): Promise<ShellGrammar> {
  const [runtime, bash, library] = await Promise.all([
    readWasm('web-tree-sitter/web-tree-sitter.wasm', options.wasmDir),
    readWasm('tree-sitter-bash/tree-sitter-bash.wasm', options.wasmDir),
    import('web-tree-sitter'),
  ]);
  await library.Parser.init({ wasmBinary: runtime });
  const parser = new library.Parser();
  parser.setLanguage(await library.Language.load(bash));
  return { read: script => read(parser, script) };
}

/** Some scripts of a few kilobytes keep the parser busy for minutes; an honest one takes milliseconds. */
const PARSE_LIMIT_MS = 500;

function read(parser: Parser, script: string): TreeReading | null {
  if (script.length > MAX_SCRIPT_LENGTH || script.includes('\0')) return null;
  let tree: Tree | null = null;
  try {
    const deadline = performance.now() + PARSE_LIMIT_MS;
    tree = parser.parse(script, null, { progressCallback: () => performance.now() > deadline });
    if (tree === null) parser.reset();
    return tree === null ? null : readTree(tree.rootNode);
  } catch {
    // The parser gave up inside WebAssembly (its stack, its memory): such a script counts as unreadable.
    parser.reset();
    return null;
  } finally {
    tree?.delete();
  }
}

async function readWasm(specifier: string, wasmDir: string | undefined): Promise<Uint8Array> {
  const file =
    wasmDir === undefined ? packageFile(specifier) : join(wasmDir, specifier.slice(specifier.indexOf('/') + 1));
  try {
    return await readFile(file);
  } catch (cause) {
    throw new Error(`The shell grammar can't be read from ${file}: reinstall the package.`, { cause });
  }
}
