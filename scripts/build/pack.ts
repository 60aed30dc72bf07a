/**
 * The pack: one file with a copy of everything that a turn needs from start to end. Reading one file and its code cache
 * takes a fraction of what forty take, and a text of this size stays out of the garbage collector's way: Node keeps
 * strings of more than a megabyte outside of V8's heap.
 */
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { PACK } from '../../src/cli/boot/boot.js';
import type { Bundle } from './bundle.js';

/** What is loaded lazily on the way to the end of a first turn with the most used wire API. */
const ROOTS = [
  'src/cli/main.ts',
  'src/cli/mcp-server-command.ts',
  'src/mcp-server/heavy.ts',
  'src/cli/observation.ts',
  'src/cli/agent-wiring.ts',
  'src/providers/server-events.ts',
  'src/providers/responses/wire.ts',
];

/** Writes the pack beside the files of the bundle: an expression, an object of functions by file name. */
export async function writePack(outdir: string, { files, metafile }: Bundle): Promise<void> {
  const modules = [...needed(metafile.outputs)].map(name => {
    const text = files.get(name);
    if (text === undefined) throw new Error(`${name} is no file of the bundle.`);
    // In parentheses, V8 compiles a function at once instead of reading it twice.
    return `${JSON.stringify(name)}:(function(exports,require,module,__filename,__dirname){${text}\n})`;
  });
  await writeFile(join(outdir, PACK), `({${modules.join(',\n')}})`);
}

/** The roots and whatever they import at once. */
function needed(outputs: Metafile['outputs']): Set<string> {
  const found = new Set<string>();
  const add = (path: string) => {
    if (found.has(basename(path))) return;
    found.add(basename(path));
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external) add(imported);
    }
  };
  for (const root of ROOTS) {
    const [output] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === root) ?? [];
    if (output === undefined) throw new Error(`${root} is not loaded lazily any more: correct the list of the pack.`);
    add(output);
  }
  return found;
}
