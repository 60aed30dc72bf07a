/** The words of `interpreter mcp`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ExitError } from './exit-error.js';
import { addConfigOptions, configFlags } from './options.js';
import type { Output } from './output.js';

const HINT = 'An MCP host that wants to use this agent starts `interpreter mcp-server`.';

export function addMcp(program: Command, output: Output): void {
  const mcp = program
    .command('mcp')
    .description('look after the MCP servers that the agent uses')
    .addHelpText('after', `\n${HINT}`)
    // Commander makes neither of these for a command that does something by itself.
    .helpCommand(true)
    .allowExcessArguments()
    .action(() => {
      const [word] = mcp.args;
      if (word !== undefined) mcp.error(`error: unknown command '${word}'`);
      output.err(`${HINT}\n\n${mcp.helpInformation()}`);
      throw new ExitError(2);
    });
  addAdd(mcp, output);
  addList(mcp, output);
  addGet(mcp, output);
  addRemove(mcp, output);
  addLogin(mcp, output);
  addLogout(mcp, output);
}

function addAdd(mcp: Command, output: Output): void {
  mcp
    .command('add')
    .description("put a server into the user's config.toml: a program after --, or --url")
    .usage('[options] <name> (-- <command> [args...] | --url <url>)')
    .argument('<name>', 'letters, digits, - and _')
    .argument('[command...]', 'the program and its arguments, after --')
    .addOption(new Option('--env <KEY=VALUE>', 'a variable for the program; repeatable').argParser(pairs(/=/)))
    .option('--cwd <dir>', 'its working directory; else that of the thread')
    .option('--url <url>', 'a server over streamable HTTP')
    .option('--bearer-token-env-var <variable>', 'environment variable with its token')
    .addOption(
      new Option('--header <NAME=VALUE>', 'a header for it, also as "NAME: VALUE"; repeatable').argParser(
        pairs(/[=:]/),
      ),
    )
    .action(async (name: string, argv: string[], options: AddOptions) => {
      const { addServer } = await import('./mcp-command.js');
      process.exitCode = addServer(process.env, { name, argv, ...options }, output);
    });
}

type AddOptions = {
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  bearerTokenEnvVar?: string;
  header?: Record<string, string>;
};

function addList(mcp: Command, output: Output): void {
  addConfigOptions(mcp.command('list'))
    .description('start or call each server and tell how it stands: state, transport, login, number of tools')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { listServers } = await import('./mcp-command.js');
      process.exitCode = await listServers(
        process.env,
        { json: options.json === true, ...configFlags(command) },
        output,
      );
    });
}

function addGet(mcp: Command, output: Output): void {
  addConfigOptions(mcp.command('get'))
    .description('print the settings of a server; secrets are not shown')
    .argument('<name>')
    .option('--json', 'print JSON')
    .action(async (name: string, options: { json?: boolean }, command: Command) => {
      const { getServer } = await import('./mcp-command.js');
      const flags = { json: options.json === true, ...configFlags(command) };
      process.exitCode = getServer(process.env, name, flags, output);
    });
}

function addRemove(mcp: Command, output: Output): void {
  mcp
    .command('remove')
    .description("take a server out of the user's config.toml, with its login")
    .argument('<name>')
    .action(async (name: string) => {
      const { removeServer } = await import('./mcp-command.js');
      process.exitCode = await removeServer(process.env, name, output);
    });
}

function addLogin(mcp: Command, output: Output): void {
  addConfigOptions(mcp.command('login'))
    .description('log in to a server over HTTP (OAuth); prints an address to open in a browser')
    .argument('<name>')
    .addOption(new Option('--scopes <list>', 'permissions to ask for, separated by commas').argParser(list))
    .option('--client-id <id>', 'a client that was registered by hand')
    .option('--client-secret-env-var <variable>', 'environment variable with its secret')
    .option('--client-metadata-url <url>', 'https address of a client metadata document to identify with')
    .addOption(new Option('--callback-port <port>', 'port of the way back; else any free one').argParser(port))
    .option('--file', 'keep the login in a file that you alone can read, not in the keyring')
    .action(async (name: string, options: LoginOptions, command: Command) => {
      const { loginToServer } = await import('./mcp-login.js');
      process.exitCode = await loginToServer(process.env, { name, ...options, ...configFlags(command) }, output);
    });
}

type LoginOptions = {
  scopes?: string[];
  clientId?: string;
  clientSecretEnvVar?: string;
  clientMetadataUrl?: string;
  callbackPort?: number;
  file?: boolean;
};

function addLogout(mcp: Command, output: Output): void {
  addConfigOptions(mcp.command('logout'))
    .description('forget the login to a server')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      const { logoutFromServer } = await import('./mcp-login.js');
      process.exitCode = await logoutFromServer(process.env, name, configFlags(command), output);
    });
}

/** Parser of a repeatable `NAME<separator>VALUE`. */
function pairs(separator: RegExp) {
  return (text: string, before: Record<string, string> | undefined): Record<string, string> => {
    const at = text.search(separator);
    const name = text.slice(0, at).trim();
    if (at < 0 || name === '') throw new InvalidArgumentError('Write NAME=VALUE.');
    return { ...before, [name]: text.slice(at + 1).trim() };
  };
}

function list(text: string): string[] {
  return text.split(/[\s,]+/).filter(one => one !== '');
}

function port(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) throw new InvalidArgumentError('Write a port.');
  return number;
}
