import { packageVersion } from '../util/index.js';

const USAGE = `Usage: interpreter [options]

A coding agent behind MCP, the command line and a TypeScript library.

Options:
  -V, --version  print the version
  -h, --help     print this help
`;

/** Runs the command line. `argv`: the words after the program's name. Sets `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  const [first] = argv;
  if (first === '--version' || first === '-V') {
    process.stdout.write(`interpreter ${packageVersion()}\n`);
  } else if (first === undefined || first === '--help' || first === '-h') {
    process.stdout.write(USAGE);
  } else {
    process.stderr.write(`interpreter: unknown argument '${first}'\n\n${USAGE}`);
    process.exitCode = 2;
  }
}
