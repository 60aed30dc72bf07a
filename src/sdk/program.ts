/** Which program is run, and with what environment. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setVariables } from '../util/index.js';
import { ProgramNotStartedError } from './errors.js';
import type { InterpreterOptions } from './options.js';

export type Program = { readonly file: string; readonly args: readonly string[] };

/** Throws ProgramNotStartedError when this package's own program is wanted and not there. */
export function findProgram({ interpreterPath, codexPathOverride }: InterpreterOptions): Program {
  const file = interpreterPath ?? codexPathOverride ?? ownProgram();
  return /\.[cm]?js$/.test(file) ? { file: process.execPath, args: [file] } : { file, args: [] };
}

/** Beside the library in the package; the second place is that of the sources. */
function ownProgram(): string {
  const places = ['../interpreter.js', '../../dist/interpreter.js'].map(place =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const found = places.find(place => existsSync(place));
  if (found !== undefined) return found;
  throw new ProgramNotStartedError(
    `The program of open-interpreter is not beside this library (${places[0]}), perhaps because it was bundled. Name it with \`interpreterPath\`.`,
  );
}

const ORIGINATOR = 'CODEX_INTERNAL_ORIGINATOR_OVERRIDE';

/** The environment of the program. */
export function programEnvironment({ env, apiKey }: InterpreterOptions): Record<string, string> {
  const own = setVariables(env ?? process.env);
  return {
    ...own,
    [ORIGINATOR]: own[ORIGINATOR] ?? 'open_interpreter_sdk',
    ...(apiKey === undefined ? {} : { CODEX_API_KEY: apiKey }),
  };
}
