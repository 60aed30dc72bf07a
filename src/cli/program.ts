/** The command line: names, options and help. Bodies of sub-commands are loaded when they run. */
import { Command, type Help, type Option } from 'commander';
import { packageVersion } from '../util/index.js';
import type { Boot } from './boot/boot.js';
import { addCompletion } from './completion-command.js';
import { addExec } from './exec-command.js';
import { addMcp } from './mcp-program.js';
import { addConfigOptions, configFlags, loadOptions, repeatable } from './options.js';
import { addThreads } from './threads-program.js';

export function createProgram(boot: Boot): Command {
  const program = new Command('interpreter')
    .description('A coding agent behind MCP, the command line and a TypeScript library.')
    .version(`interpreter ${packageVersion()}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .showHelpAfterError()
    .exitOverride()
    .enablePositionalOptions()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: outerOptions });
  addConfigOptions(program);
  addExec(program, boot);
  addMcpServer(program, boot);
  addMcp(program, streams);
  addSandbox(program);
  addConfig(program);
  addExecpolicy(program);
  addLogin(program);
  addThreads(program, streams);
  addDiagnosis(program);
  addCompletion(program, streams);
  return program;
}

/** Options of the commands around this one that it does not have itself: most may stand on either side. */
function outerOptions(this: Help, command: Command): Option[] {
  const shown = new Map(this.visibleOptions(command).map(option => [option.attributeName(), option]));
  const outer: Option[] = [];
  for (let at = command.parent; at; at = at.parent) {
    for (const option of this.visibleOptions(at)) {
      if (shown.has(option.attributeName())) continue;
      shown.set(option.attributeName(), option);
      outer.push(option);
    }
  }
  return outer;
}

function addMcpServer(program: Command, boot: Boot): void {
  addConfigOptions(program.command('mcp-server'))
    .description('serve the agent as an MCP server over stdin and stdout: tools `codex` and `codex-reply`')
    .action(async (_, command: Command) => {
      const { runMcpServer } = await import('./mcp-server-command.js');
      await runMcpServer(configFlags(command), boot);
    });
}

function addSandbox(program: Command): void {
  addConfigOptions(program.command('sandbox'))
    .description('run one command as the agent would run it, inside the sandbox')
    .argument('<command...>', 'the command and its arguments, after --')
    .option('-s, --sandbox <mode>', 'read-only, workspace-write or danger-full-access')
    .option('-P, --permissions <profile>', 'a profile of [permissions.<name>]')
    .option('-C, --cd <dir>', 'the working directory and workspace')
    .passThroughOptions()
    .action(
      async (argv: string[], options: { sandbox?: string; permissions?: string; cd?: string }, command: Command) => {
        const { sandboxCommand } = await import('./sandbox-command.js');
        process.exitCode = await sandboxCommand(argv, { ...options, ...configFlags(command) });
      },
    );
}

function addConfig(program: Command): void {
  const config = program.command('config').description('show or change the configuration');
  addConfigOptions(config.command('show'))
    .description('print every value in force and the layer it comes from')
    .option('--json', 'print JSON')
    .option('-C, --cd <dir>', 'the working directory')
    .action(async (options: { json?: boolean; cd?: string }, command: Command) => {
      const { showConfig } = await import('./config-command.js');
      const load = loadOptions(process.env, configFlags(command), options.cd);
      showConfig(load, options.json === true, streams);
    });
  config
    .command('set')
    .description("set a value in the user's config.toml; comments and layout stay")
    .argument('<key>', 'dotted key, e.g. model_providers.x.base_url')
    .argument('<value>', 'TOML value; anything that is none is taken as a text')
    .action(async (key: string, value: string) => {
      const { setConfig } = await import('./config-command.js');
      setConfig(process.env, key, value, streams);
    });
}

function addExecpolicy(program: Command): void {
  program
    .command('execpolicy')
    .description('ask the rules files about a command')
    .command('check')
    .description('print what the rules say about a command, as JSON')
    .requiredOption('--rules <file>', 'a .rules file; repeatable', repeatable)
    .option('--pretty', 'indent the JSON')
    .argument('<command...>', 'the command and its arguments')
    .passThroughOptions()
    .action(async (argv: string[], options: { rules: string[]; pretty?: boolean }) => {
      const { checkExecpolicy } = await import('./execpolicy-command.js');
      process.exitCode = await checkExecpolicy(
        { rules: options.rules, pretty: options.pretty === true, command: argv },
        streams,
      );
    });
}

function addLogin(program: Command): void {
  const login = program
    .command('login')
    .description('store the API key of a model provider; the key is read from a pipe or asked for')
    .argument('<provider>', 'e.g. openai, anthropic, deepseek')
    .option('--file', 'keep it in a file that you alone can read, not in the keyring')
    .action(async (provider: string, options: { file?: boolean }) => {
      const { loginCommand } = await import('./login-command.js');
      process.exitCode = await loginCommand(process.env, provider, options.file ? 'file' : undefined, streams);
    });
  login
    .command('status')
    .description('list the providers whose key is stored')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const { loginStatusCommand } = await import('./login-command.js');
      process.exitCode = await loginStatusCommand(process.env, options.json === true, streams);
    });
  program
    .command('logout')
    .description('remove the stored API key of a model provider')
    .argument('<provider>', 'as given to login')
    .action(async (provider: string) => {
      const { logoutCommand } = await import('./login-command.js');
      process.exitCode = await logoutCommand(process.env, provider, streams);
    });
}

function addDiagnosis(program: Command): void {
  addConfigOptions(program.command('doctor'))
    .description('check whether turns would work here, and say what to do where they would not')
    .option('--online', 'also send one short request to the model')
    .option('--json', 'print JSON')
    .option('-C, --cd <dir>', 'the working directory')
    .action(async (options: { online?: boolean; json?: boolean; cd?: string }, command: Command) => {
      const { doctorCommand } = await import('./doctor-command.js');
      const load = loadOptions(process.env, configFlags(command), options.cd);
      const flags = { online: options.online === true, json: options.json === true };
      process.exitCode = await doctorCommand({ load, ...flags, colors: process.stdout.isTTY === true }, streams);
    });
  const debug = program.command('debug').description('help with finding faults');
  addConfigOptions(debug.command('bundle'))
    .description('write one archive for a bug report: configuration, doctor, logs and a thread, without secrets')
    .option('-o, --output <file>', 'where it goes; default: a name with the time')
    .option('--thread <id>', 'this thread instead of the one used last')
    .option('--no-thread', 'leave threads out')
    .option('--texts', 'keep prompts, answers, commands and their output in the thread')
    .option('--online', 'the doctor also sends one short request to the model')
    .option('-y, --yes', 'write without asking')
    .option('-C, --cd <dir>', 'the working directory')
    .action(async (options: BundleFlags, command: Command) => {
      const { bundleCommand, confirmOnTerminal } = await import('./debug-command.js');
      process.exitCode = await bundleCommand(
        {
          load: loadOptions(process.env, configFlags(command), options.cd),
          thread: options.thread === false ? null : (options.thread ?? 'latest'),
          texts: options.texts === true,
          online: options.online === true,
          ...(options.output === undefined ? {} : { output: options.output }),
          confirm: options.yes === true ? () => Promise.resolve(true) : confirmOnTerminal,
        },
        streams,
      );
    });
}

type BundleFlags = {
  output?: string;
  /** False: --no-thread. */
  thread?: string | false;
  texts?: boolean;
  online?: boolean;
  yes?: boolean;
  cd?: string;
};

const streams = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
