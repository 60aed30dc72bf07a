import { ConfigError } from '../config/index.js';
import { hasCode, stackOf } from '../util/index.js';
import type { Boot } from './boot/boot.js';
import { ExitError } from './exit-error.js';

/** Runs the command line. `argv`: the words after the program's name. Sets `process.exitCode`. */
export async function main(argv: readonly string[], boot: Boot): Promise<void> {
  // A reader such as `head` that went away is no fault; what it did not want is not missed.
  process.stdout.on('error', error => {
    if (!hasCode(error, 'EPIPE')) process.exitCode = 1;
  });
  try {
    if (argv.length === 1 && argv[0] === 'mcp-server') {
      // As most hosts start it: there is nothing to parse, and the parser takes a tenth of the start.
      const { runMcpServer } = await import('./mcp-server-command.js');
      await runMcpServer({}, boot);
    } else {
      const { runCommandLine } = await import('./command-line.js');
      await runCommandLine(argv, boot);
    }
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ExitError) {
    if (error.message !== '') process.stderr.write(`${error.message}\n`);
    return error.code;
  }
  process.stderr.write(`Error: ${error instanceof ConfigError ? error.message : stackOf(error)}\n`);
  return 1;
}
