/** `interpreter exec`: its words on the command line. What they do is loaded when it runs. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { SANDBOX_MODES, type SandboxMode } from '../protocol/index.js';
import type { Boot } from './boot/boot.js';
import type { ExecFlags, ExecTarget, ReviewSubject } from './exec/exec-job.js';
import { EXEC_HELP, FORK_HELP, RESUME_HELP, REVIEW_HELP } from './exec/help.js';
import { ExitError } from './exit-error.js';
import { addConfigOptions, configFlags, repeatable } from './options.js';

/** Adds `exec` with `resume`, `fork` and `review`. */
export function addExec(program: Command, boot: Boot): void {
  const run = async (target: ExecTarget, prompt: string | undefined, command: Command) => {
    const flags = execFlags(command);
    const { runExec } = await import('./exec/run-exec.js');
    await runExec({ target, prompt, flags }, boot);
  };
  const exec = program
    .command('exec')
    .alias('e')
    .summary('run one turn without questions, for scripts and CI')
    .description(
      'Runs one turn without questions. The answer goes to standard output, progress to standard error; the exit status is 0 only when the turn was completed.',
    )
    .argument('[prompt]', 'the prompt; - or none reads it from standard input', unprotected)
    .action((prompt: string | undefined, _, command: Command) => run({ type: 'start' }, prompt, command));
  addOwnOptions(addSharedOptions(exec, true));
  exec.addHelpText('after', EXEC_HELP).showHelpAfterError('(interpreter exec --help lists all options)');
  addResume(exec, run);
  addFork(exec, run);
  addReview(exec, run);
}

type Run = (target: ExecTarget, prompt: string | undefined, command: Command) => Promise<void>;

function addResume(exec: Command, run: Run): void {
  const resume = exec
    .command('resume')
    .summary('go on with an earlier thread')
    .description('Goes on with an earlier thread: it knows all that was said and done, and is added to.')
    .argument('[id]', 'thread id; left out with --last', unprotected)
    .argument('[prompt]', 'the prompt; - or none reads it from standard input', unprotected)
    .option('--last', 'the thread of this directory that was used last')
    .option('--all', 'with --last: of all directories')
    .action(
      (
        id: string | undefined,
        prompt: string | undefined,
        options: { last?: boolean; all?: boolean },
        command: Command,
      ) => {
        if (!options.last) {
          if (id === undefined) throw new ExitError(2, 'error: name the thread to resume, or say --last');
          return run({ type: 'resume', id }, prompt, command);
        }
        if (prompt !== undefined) throw new ExitError(2, 'error: with --last there is no thread id; quote the prompt');
        return run({ type: 'resume_last', all: options.all === true }, id, command);
      },
    );
  addSharedOptions(resume, false).addHelpText('after', RESUME_HELP);
}

function addFork(exec: Command, run: Run): void {
  const fork = exec
    .command('fork')
    .summary('go on with a copy of an earlier thread')
    .description('Makes a new thread that begins as a copy of an earlier one, which stays as it is.')
    .argument('<id>', 'thread id', unprotected)
    .argument('[prompt]', 'the prompt; - reads it from standard input; without one the copy is only made', unprotected)
    .action((id: string, prompt: string | undefined, _, command: Command) =>
      run({ type: 'fork', id }, prompt, command),
    );
  addSharedOptions(fork, false).addHelpText('after', FORK_HELP);
}

function addReview(exec: Command, run: Run): void {
  const review = exec
    .command('review')
    .summary('review a change')
    .description('Reviews a change and reports what is wrong with it. Nothing is changed: the sandbox is read-only.')
    .argument('[prompt]', 'what to look at besides, or, without a change named, what to review', unprotected)
    .addOption(
      new Option('--uncommitted', 'staged, unstaged and untracked changes').conflicts(['base', 'commit', 'title']),
    )
    .addOption(
      new Option('--base <branch>', 'what this branch changed since it left another').conflicts(['commit', 'title']),
    )
    .addOption(new Option('--commit <sha>', 'what one commit changed'))
    .addOption(new Option('--title <text>', 'with --commit: the title to use for it'))
    .action((prompt: string | undefined, options: ReviewOptions, command: Command) =>
      run({ type: 'review', subject: reviewSubject(options, prompt) }, prompt, command),
    );
  addSharedOptions(review, false).addHelpText('after', REVIEW_HELP);
}

type ReviewOptions = { uncommitted?: boolean; base?: string; commit?: string; title?: string };

function reviewSubject({ uncommitted, base, commit, title }: ReviewOptions, prompt: string | undefined): ReviewSubject {
  if (title !== undefined && commit === undefined) throw new ExitError(2, 'error: --title belongs to --commit');
  if (uncommitted) return { type: 'uncommitted' };
  if (base !== undefined) return { type: 'base', branch: base };
  if (commit !== undefined) return { type: 'commit', sha: commit, title: title ?? null };
  if (prompt !== undefined) return { type: 'custom' };
  throw new ExitError(2, 'error: say what to review: --uncommitted, --base BRANCH, --commit SHA, or a prompt');
}

/** Options that may stand before and after `resume`, `fork` and `review`. */
function addSharedOptions(command: Command, wordsMayFollow: boolean): Command {
  const images = (value: string, before: string[] | undefined) => [...(before ?? []), ...value.split(',')];
  const image = wordsMayFollow ? '-i, --image <file...>' : '-i, --image <file>';
  return addConfigOptions(command)
    .option('-m, --model <model>', 'the model to ask')
    .addOption(new Option(image, 'attach images to the prompt; repeatable, or joined by commas').argParser(images))
    .option('--json', 'print events as JSON lines')
    .addOption(new Option('--experimental-json').hideHelp())
    .option('-o, --output-last-message <file>', 'write the answer to a file')
    .option('--output-schema <file>', 'a JSON Schema that the answer has to match')
    .option('--ephemeral', 'keep no record of the thread')
    .option('--skip-git-repo-check', 'run outside a git work tree too')
    .option('--ignore-user-config', 'do not read config.toml of the home')
    .option('--ignore-rules', 'do not read .rules files')
    .option('--dangerously-bypass-hook-trust', 'run hooks that nobody trusts')
    .option('--dangerously-bypass-approvals-and-sandbox', 'run everything without a sandbox, outside git too (--yolo)')
    .addOption(new Option('--yolo').hideHelp());
}

/** Options that stand before `resume`, `fork` and `review`. */
function addOwnOptions(command: Command): void {
  command
    .addOption(new Option('-s, --sandbox <mode>', 'what commands may touch').choices(SANDBOX_MODES))
    .option('-C, --cd <dir>', 'the working directory')
    .addOption(new Option('--add-dir <dir>', 'a further folder to write in; repeatable').argParser(repeatable))
    .option('--oss', 'use a local provider')
    .addOption(new Option('--local-provider <name>', 'the local provider to use').choices(['lmstudio', 'ollama']))
    .addOption(
      new Option('--color <when>', 'colours of the report').choices(['always', 'never', 'auto']).default('auto'),
    )
    .addOption(
      new Option('--approvals-fd <n>', 'ask for approval over this open socket, as JSON lines').argParser(descriptor),
    )
    .addOption(new Option('--approve-for-me').hideHelp());
}

function descriptor(text: string): number {
  const fd = Number(text);
  if (!/^\d+$/.test(text) || fd < 3)
    throw new InvalidArgumentError('It is the number of an open descriptor, from 3 on.');
  return fd;
}

type Options = {
  model?: string;
  image?: string[];
  json?: true;
  experimentalJson?: true;
  outputLastMessage?: string;
  outputSchema?: string;
  ephemeral?: true;
  skipGitRepoCheck?: true;
  ignoreUserConfig?: true;
  ignoreRules?: true;
  dangerouslyBypassHookTrust?: true;
  dangerouslyBypassApprovalsAndSandbox?: true;
  yolo?: true;
  sandbox?: SandboxMode;
  cd?: string;
  addDir?: string[];
  oss?: true;
  localProvider?: 'lmstudio' | 'ollama';
  color?: 'always' | 'never' | 'auto';
  approvalsFd?: number;
  approveForMe?: true;
};

/** What was given before and after a sub-command together; what stands nearer wins. Throws ExitError. */
function execFlags(command: Command): ExecFlags {
  const outer = command.name() === 'exec' ? {} : (command.parent?.opts<Options>() ?? {});
  const inner = command.opts<Options>();
  const given: Options = { ...outer, ...inner };
  if (given.approveForMe) {
    throw new ExitError(
      2,
      'error: --approve-for-me is not offered: nobody but a person decides here. Use -s workspace-write, or ask over --approvals-fd.',
    );
  }
  const { model, sandbox, cd, localProvider, outputSchema, outputLastMessage, approvalsFd } = given;
  return {
    ...configFlags(command),
    ...defined({ model, sandbox, cd, localProvider, outputSchema, outputLastMessage, approvalsFd }),
    addDirs: given.addDir ?? [],
    images: [...(outer.image ?? []), ...(inner.image ?? [])],
    oss: given.oss === true,
    yolo: given.yolo === true || given.dangerouslyBypassApprovalsAndSandbox === true,
    bypassHookTrust: given.dangerouslyBypassHookTrust === true,
    skipGitCheck: given.skipGitRepoCheck === true,
    ephemeral: given.ephemeral === true,
    ignoreUserConfig: given.ignoreUserConfig === true,
    ignoreRules: given.ignoreRules === true,
    color: given.color ?? 'auto',
    json: given.json === true || given.experimentalJson === true,
  };
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

const SUB_COMMANDS = ['resume', 'fork', 'review'];
const PROTECTION = '\u0000';

/**
 * Marks a word behind `--` that would be taken for a sub-command of exec although it is a prompt: the library that
 * reads the arguments looks at such words too. `argv`: without the program.
 */
export function protectPrompt(argv: readonly string[]): string[] {
  const at = argv.indexOf('--') + 1;
  if (at === 0 || !argv.slice(0, at).some(word => word === 'exec' || word === 'e')) return [...argv];
  return argv.map((word, index) => (index === at && SUB_COMMANDS.includes(word) ? PROTECTION + word : word));
}

function unprotected(word: string): string {
  return word.startsWith(PROTECTION) ? word.slice(PROTECTION.length) : word;
}
