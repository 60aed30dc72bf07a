/** The command line as a whole: parsed, run, and its errors turned into exit codes. */
import { CommanderError } from 'commander';
import type { Boot } from './boot/boot.js';
import { protectPrompt } from './exec-command.js';
import { ExitError } from './exit-error.js';
import { createProgram } from './program.js';

/** Wrong words on the command line. */
const EXIT_USAGE = 2;

/** Throws what a command throws; for wrong words, whose message has been printed, ExitError. */
export async function runCommandLine(argv: readonly string[], boot: Boot): Promise<void> {
  try {
    const program = createProgram(boot);
    // Without a sub-command there is nothing to do, and asking for nothing is no mistake.
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(protectPrompt(argv), { from: 'user' });
  } catch (error) {
    // Commander has printed what it has to say, help and version included.
    if (!(error instanceof CommanderError)) throw error;
    throw new ExitError(error.exitCode === 0 ? 0 : EXIT_USAGE);
  }
}
