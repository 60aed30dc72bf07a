/** The command line: names, options and help. Bodies of sub-commands are loaded when they run. */
import { Command } from 'commander';
import { packageVersion } from '../util/index.js';
import type { Boot } from './boot/boot.js';
import { addConfigOptions, configFlags } from './options.js';

/** Ends a command with this exit code and, on stderr, this message. */
export class ExitError extends Error {
  readonly code: number;
  constructor(code: number, message = '') {
    super(message);
    this.name = 'ExitError';
    this.code = code;
  }
}

export function createProgram(boot: Boot): Command {
  const program = new Command('interpreter')
    .description('A coding agent behind MCP, the command line and a TypeScript library.')
    .version(`interpreter ${packageVersion()}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .showHelpAfterError()
    .exitOverride()
    .enablePositionalOptions()
    .configureHelp({ showGlobalOptions: true });
  addConfigOptions(program);
  program.action(() => program.outputHelp());
  addMcpServer(program, boot);
  return program;
}

function addMcpServer(program: Command, boot: Boot): void {
  addConfigOptions(program.command('mcp-server'))
    .description('serve the agent as an MCP server over stdin and stdout: tools `codex` and `codex-reply`')
    .action(async (_, command: Command) => {
      const { runMcpServer } = await import('./mcp-server-command.js');
      await runMcpServer(configFlags(command), boot);
    });
}
