import { CommanderError } from 'commander';
import { ConfigError } from '../config/index.js';
import { hasCode, stackOf } from '../util/index.js';
import type { Boot } from './boot/boot.js';
import { protectPrompt } from './exec-command.js';
import { ExitError } from './exit-error.js';
import { createProgram } from './program.js';

/** Wrong words on the command line. */
const EXIT_USAGE = 2;

/** Runs the command line. `argv`: the words after the program's name. Sets `process.exitCode`. */
export async function main(argv: readonly string[], boot: Boot): Promise<void> {
  // A reader such as `head` that went away is no fault; what it did not want is not missed.
  process.stdout.on('error', error => {
    if (!hasCode(error, 'EPIPE')) process.exitCode = 1;
  });
  try {
    const program = createProgram(boot);
    // Without a sub-command there is nothing to do, and asking for nothing is no mistake.
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(protectPrompt(argv), { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  // Commander has printed what it has to say, help and version included.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof ExitError) {
    if (error.message !== '') process.stderr.write(`${error.message}\n`);
    return error.code;
  }
  process.stderr.write(`Error: ${error instanceof ConfigError ? error.message : stackOf(error)}\n`);
  return 1;
}
