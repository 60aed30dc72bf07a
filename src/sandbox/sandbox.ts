/** The runner of commands: picks the way for a policy, starts, keeps the register, and ends everything at the end. */
import { closeSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandResult, CommandRunner, CommandSpec, RunningCommand } from '../protocol/index.js';
import { hasCode, messageOf, within } from '../util/index.js';
import type { Child, Launch } from './child.js';
import { endTree, killTreesNow } from './end-tree.js';
import { findExecutable, findTrustedProgram } from './find-program.js';
import { startWithPipes } from './pipe-child.js';
import { PipePool } from './pipe-pool.js';
import { ProcessRegister, sweepProcesses } from './process-register.js';
import { startOnPty } from './pty-child.js';
import { ManagedCommand } from './running-command.js';
import { scratchFile } from './scratch-file.js';
import {
  deadServerDirectories,
  openServerDirectory,
  removeServerDirectory,
  type ServerDirectory,
} from './server-directory.js';
import { markedEnvironment, unsandboxedArgv } from './unsandboxed.js';

export type SandboxOptions = {
  /** The agent's own home, absolute. */
  readonly home: string;
  /** Where registers and mount points are written down; absolute, made when missing, for us alone. */
  readonly stateDir: string;
  /** The environment of this process: PATH is used to find our own tools, TMPDIR is a writable root. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Something a person should know. */
  readonly warn: (message: string) => void;
  readonly debug?: (message: string) => void;
};

type NotStarted = CommandResult & { type: 'not_started' };

export interface Sandbox extends CommandRunner {
  /** Ends every command, waits for their ends (a second at most) and removes what was made for them. Idempotent. */
  close(): Promise<void>;
  /** For exit handlers: KILL to everything that runs, without waiting. */
  killAllNow(): void;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  return new SystemSandbox(options);
}

const CLOSE_MS = 1000;

class SystemSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #programs: { setpriv: string | null; mkfifo: string | null };
  readonly #directory: ServerDirectory | null;
  readonly #register: ProcessRegister;
  readonly #pool: PipePool | null;
  #closed = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
    const find = (name: string) => findTrustedProgram(name, options.env['PATH'], []).path;
    this.#programs = { mkfifo: find('mkfifo'), setpriv: process.platform === 'linux' ? find('setpriv') : null };
    this.#directory = this.#openDirectory();
    this.#register = new ProcessRegister(this.#directory);
    this.#pool =
      this.#directory && this.#programs.mkfifo
        ? new PipePool(join(this.#directory.path, 'pipes'), this.#programs.mkfifo)
        : null;
    setImmediate(() => this.#sweep()).unref();
  }

  async start(spec: CommandSpec): Promise<RunningCommand | NotStarted> {
    if (this.#closed) return notStarted('spawn', 'The command was not started: the server is shutting down.');
    if (!isDirectory(spec.cwd)) {
      return notStarted('spawn', `The working directory ${spec.cwd} does not exist or is no directory.`);
    }
    const program = findExecutable(spec.argv[0] ?? '', spec.env['PATH'], spec.cwd);
    if (program === null) return notStarted('missing', `${spec.argv[0] ?? ''}: command not found.`);
    if (spec.policy.type !== 'danger-full-access') {
      return notStarted('sandbox', `Cannot enforce sandbox mode ${spec.policy.type} yet. Nothing was run.`);
    }
    const marker = this.#register.nextMarker();
    return this.#launch(
      { spec, argv: unsandboxedArgv([program, ...spec.argv.slice(1)], this.#programs.setpriv) },
      marker,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    const trees = this.#register.trees();
    await within(Promise.all(trees.map(tree => endTree(tree, 0))), CLOSE_MS);
    this.killAllNow();
    if (this.#directory) removeServerDirectory(this.#directory);
  }

  killAllNow(): void {
    killTreesNow(this.#register.trees());
  }

  async #launch(what: { spec: CommandSpec; argv: string[] }, marker: string): Promise<RunningCommand | NotStarted> {
    const { spec, argv } = what;
    const stdin = this.#openStdin(spec);
    const launch: Launch = {
      argv,
      cwd: spec.cwd,
      env: markedEnvironment(spec.env, marker),
      stdin,
      mergeOutput: spec.merge_output ?? false,
      tty: spec.tty ?? null,
      inherit: [],
    };
    let child: Child;
    try {
      child = spec.tty ? await startOnPty(launch) : await startWithPipes(launch, this.#pool);
    } catch (error) {
      return notStarted('spawn', `${spec.argv[0] ?? ''} could not be started: ${explain(error)}`);
    } finally {
      if (typeof stdin === 'number') closeSync(stdin);
    }
    const tree = this.#register.add(child.pid, marker);
    return new ManagedCommand({
      child,
      tree,
      signalsAsCodes: false,
      onEnd: lingering => {
        if (!lingering) this.#register.remove(tree);
      },
    });
  }

  #openStdin({ stdin }: CommandSpec): Launch['stdin'] {
    if (typeof stdin !== 'object') return stdin ?? 'closed';
    return scratchFile(this.#directory?.path ?? tmpdir(), stdin.bytes);
  }

  #openDirectory(): ServerDirectory | null {
    try {
      return openServerDirectory(this.#options.stateDir);
    } catch (error) {
      this.#options.warn(
        `${this.#options.stateDir} can't be written (${messageOf(error)}): commands that survive a crash of this process won't be ended by the next one.`,
      );
      return null;
    }
  }

  #sweep(): void {
    for (const directory of deadServerDirectories(this.#options.stateDir)) {
      try {
        sweepProcesses(directory);
        removeServerDirectory(directory);
      } catch (error) {
        this.#options.debug?.(`${directory.path} could not be cleaned up: ${messageOf(error)}`);
      }
    }
  }
}

function notStarted(reason: NotStarted['reason'], message: string): NotStarted {
  return { type: 'not_started', reason, message };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function explain(error: unknown): string {
  if (hasCode(error, 'E2BIG')) return 'its arguments and environment are too long for this system.';
  if (hasCode(error, 'EAGAIN'))
    return 'no more processes can be started at the moment (limit of the user or the system).';
  if (hasCode(error, 'EMFILE', 'ENFILE')) return 'too many files are open; raise the limit (ulimit -n).';
  if (hasCode(error, 'EACCES')) return 'permission denied.';
  return messageOf(error);
}
