/** The runner of commands: picks the way for a policy, starts, keeps the register, and ends everything at the end. */
import { closeSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandResult, CommandRunner, CommandSpec, RunningCommand, SandboxPolicy } from '../protocol/index.js';
import { hasCode, messageOf, within } from '../util/index.js';
import { startAttached } from './attached-child.js';
import { type Child, exitCodeOf, type Launch } from './child.js';
import { DescriptorGuard } from './descriptor-guard.js';
import type { Dialer } from './domain-proxy/gate.js';
import { type Enclosed, type EncloseRequest, type Enclosure, isProblem } from './enclosure.js';
import { endTree, killTreesNow } from './end-tree.js';
import { type Problem, platformProblem, refusal } from './enforcement.js';
import { findExecutable, findTrustedProgram } from './find-program.js';
import { LinuxEnclosure } from './linux-enclosure.js';
import { MacosEnclosure } from './macos-enclosure.js';
import { MountRegister } from './mount-register.js';
import { startWithPipes } from './pipe-child.js';
import { PipePool } from './pipe-pool.js';
import { ProcessRegister, sweepProcesses } from './process-register.js';
import { startOnPty } from './pty-child.js';
import { runToEnd } from './run-to-end.js';
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
  /** The environment of this process: PATH is used to find our own tools. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Something a person should know. */
  readonly warn: (message: string) => void;
  readonly debug?: (message: string) => void;
  /** How the proxy of domain lists resolves names and connects; default: the system's way. */
  readonly dialer?: Dialer;
};

export type SandboxCheck = { readonly ok: true } | { readonly ok: false; readonly message: string };

type NotStarted = CommandResult & { type: 'not_started' };
type Prepared = Enclosed & { readonly marker: string; readonly isSandbox: boolean };
type Begin = (launch: Launch) => Promise<Child>;

export interface Sandbox extends CommandRunner {
  /** Whether commands can run under this policy: the real thing with `/bin/true`, once for a policy; two seconds at most. */
  check(policy: SandboxPolicy, cwd: string): Promise<SandboxCheck>;
  /**
   * Runs a command on our own standard streams, for a command line. `terminal`: they are a terminal, which it then
   * shares. What it prints, also that it could not be set up, goes to our stderr.
   */
  attach(spec: CommandSpec, terminal: boolean): Promise<RunningCommand | NotStarted>;
  /** Resolves when what was made for commands that have ended is gone; at the end of a turn nothing shows of them. */
  settled(): Promise<void>;
  /** Ends every command, waits for their ends (a second at most) and removes what was made for them. Idempotent. */
  close(): Promise<void>;
  /** For exit handlers: KILL to everything that runs, without waiting. */
  killAllNow(): void;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  return new SystemSandbox(options);
}

const CLOSE_MS = 1000;
const CHECK_MS = 2000;

class SystemSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #setpriv: string | null;
  readonly #directory: ServerDirectory | null;
  readonly #register: ProcessRegister;
  readonly #pool: PipePool | null;
  readonly #guard = new DescriptorGuard();
  readonly #enclosure: Enclosure | Problem;
  readonly #mounts: MountRegister | null = null;
  readonly #checks = new Map<string, Promise<SandboxCheck>>();
  readonly #starts = new Set<Promise<unknown>>();
  /** Ends of commands that are still being cleaned up after. */
  readonly #releases = new Set<Promise<void>>();
  #closing: Promise<void> | null = null;

  constructor(options: SandboxOptions) {
    this.#options = options;
    const find = (name: string) => findTrustedProgram(name, options.env['PATH']);
    this.#setpriv = process.platform === 'linux' ? find('setpriv') : null;
    this.#directory = this.#openDirectory();
    this.#register = new ProcessRegister(this.#directory);
    const mkfifo = find('mkfifo');
    this.#pool = this.#directory && mkfifo ? new PipePool(join(this.#directory.path, 'pipes'), mkfifo) : null;
    if (this.#directory) this.#mounts = new MountRegister(options.stateDir, this.#directory);
    this.#enclosure = this.#makeEnclosure();
    setImmediate(() => void this.#sweep()).unref();
  }

  start(spec: CommandSpec): Promise<RunningCommand | NotStarted> {
    return this.#starting(spec, spec.tty ? 'own' : 'none', launch =>
      spec.tty ? startOnPty(launch, this.#guard) : startWithPipes(launch, { pool: this.#pool, guard: this.#guard }),
    );
  }

  attach(spec: CommandSpec, terminal: boolean): Promise<RunningCommand | NotStarted> {
    return this.#starting(spec, terminal ? 'shared' : 'none', launch => startAttached(launch, this.#guard, terminal));
  }

  check(policy: SandboxPolicy, cwd: string): Promise<SandboxCheck> {
    const key = JSON.stringify([policy, cwd]);
    let check = this.#checks.get(key);
    if (check === undefined) {
      check = this.#tryOut(policy, cwd);
      this.#checks.set(key, check);
    }
    return check;
  }

  async settled(): Promise<void> {
    await within(Promise.all(this.#releases), CLOSE_MS);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await within(Promise.all(this.#starts), CLOSE_MS);
    const trees = this.#register.trees();
    await within(Promise.all(trees.map(tree => endTree(tree, 0))), CLOSE_MS);
    this.killAllNow();
    this.#register.close();
    await this.settled();
    if (!isProblem(this.#enclosure)) await this.#enclosure.close();
    if (this.#directory) await this.#tidy(this.#directory);
  }

  killAllNow(): void {
    killTreesNow(this.#register.trees());
  }

  /** Keeps count of starts under way: what they bring to life while we close must not be overlooked. */
  #starting(spec: CommandSpec, terminal: EncloseRequest['terminal'], begin: Begin) {
    const start = this.#start(spec, terminal, begin).finally(() => this.#starts.delete(start));
    this.#starts.add(start);
    return start;
  }

  async #start(spec: CommandSpec, terminal: EncloseRequest['terminal'], begin: Begin) {
    if (this.#closing) return notStarted('spawn', 'The command was not started: the server is shutting down.');
    if (!isDirectory(spec.cwd)) {
      return notStarted('spawn', `The working directory ${spec.cwd} does not exist or is no directory.`);
    }
    const program = findExecutable(spec.argv[0] ?? '', spec.env['PATH'], spec.cwd);
    if (program === null) return notStarted('missing', `${spec.argv[0] ?? ''}: command not found.`);
    if (spec.policy.type === 'danger-full-access') return this.#launch(spec, this.#unsandboxed(spec, program), begin);
    const enclosed = isProblem(this.#enclosure)
      ? this.#enclosure
      : await this.#enclosure.enclose({ spec, program, terminal });
    if (isProblem(enclosed)) return notStarted('sandbox', refusal(spec.policy, enclosed));
    const marker = this.#register.nextMarker();
    return this.#launch(
      spec,
      { ...enclosed, env: markedEnvironment(enclosed.env, marker), marker, isSandbox: true },
      begin,
    );
  }

  #unsandboxed(spec: CommandSpec, program: string): Prepared {
    const marker = this.#register.nextMarker();
    return {
      argv: unsandboxedArgv([program, ...spec.argv.slice(1)], this.#setpriv),
      env: markedEnvironment(spec.env, marker),
      inherit: [],
      marker,
      isSandbox: false,
      closeDescriptors: () => {},
      resultOf: async exit => ({ type: 'exited', exit_code: exitCodeOf(exit), signal: exit.signal }),
      release: () => Promise.resolve(),
    };
  }

  async #launch(spec: CommandSpec, prepared: Prepared, begin: Begin): Promise<RunningCommand | NotStarted> {
    let stdin: Launch['stdin'] = 'closed';
    let child: Child;
    try {
      stdin = this.#openStdin(spec);
      child = await begin({
        argv: prepared.argv,
        cwd: spec.cwd,
        env: prepared.env,
        stdin,
        mergeOutput: spec.merge_output ?? false,
        tty: spec.tty ?? null,
        inherit: prepared.inherit,
      });
    } catch (error) {
      this.#release(prepared);
      return notStarted('spawn', `${spec.argv[0] ?? ''} could not be started: ${explain(error)}`);
    } finally {
      prepared.closeDescriptors();
      if (typeof stdin === 'number') closeSync(stdin);
    }
    prepared.onStarted?.(child);
    const tree = this.#register.add(child.pid, prepared.marker, prepared.isSandbox);
    const command = new ManagedCommand({
      child,
      tree,
      resultOf: prepared.resultOf,
      onEnd: lingering => {
        if (!lingering) this.#register.remove(tree);
        this.#release(prepared);
      },
    });
    prepared.onNote?.(line => command.addNote(line));
    return command;
  }

  #release(prepared: Enclosed): void {
    const release = prepared.release().finally(() => this.#releases.delete(release));
    this.#releases.add(release);
  }

  async #tryOut(policy: SandboxPolicy, cwd: string): Promise<SandboxCheck> {
    const { result } = await runToEnd(
      this,
      { argv: ['/bin/true'], cwd, workspace: cwd, env: cleanEnvironment(this.#options.env), policy },
      { timeoutMs: CHECK_MS, maxBytes: HEAD },
    );
    switch (result.type) {
      case 'exited':
        return result.exit_code === 0
          ? { ok: true }
          : { ok: false, message: `/bin/true ended with exit code ${result.exit_code} in the sandbox.` };
      case 'timed_out':
        return { ok: false, message: `The sandbox did not start within ${CHECK_MS / 1000} seconds.` };
      case 'aborted':
        return { ok: false, message: 'The check was ended.' };
      case 'not_started':
        return { ok: false, message: result.message };
    }
  }

  #makeEnclosure(): Enclosure | Problem {
    const { home, stateDir, env, dialer } = this.#options;
    const problem = platformProblem(process.platform, process.arch);
    if (problem !== null) return problem;
    if (process.platform === 'darwin') return new MacosEnclosure({ home, stateDir, dialer });
    if (!this.#directory || !this.#mounts) {
      return {
        cause: `${this.#options.stateDir} can't be written`,
        advice: 'make it writable, or set INTERPRETER_HOME',
      };
    }
    return new LinuxEnclosure({
      home,
      stateDir,
      env,
      directory: this.#directory.path,
      dialer,
      mounts: this.#mounts,
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
        `${this.#options.stateDir} can't be written (${messageOf(error)}): commands can't be sandboxed, and those that survive a crash of this process won't be ended by the next one.`,
      );
      return null;
    }
  }

  /** Ends and removes what servers that are no more have left. */
  async #sweep(): Promise<void> {
    for (const directory of deadServerDirectories(this.#options.stateDir)) {
      sweepProcesses(directory);
      await this.#tidy(directory);
    }
  }

  /** Removes what a server has left, and its folder; that stays when a mount point is still in use, for a later sweep. */
  async #tidy(directory: ServerDirectory): Promise<void> {
    try {
      const isOwn = directory === this.#directory;
      const isDone = await (isOwn ? this.#mounts?.settle() : this.#mounts?.sweep(directory));
      if (isDone !== false) removeServerDirectory(directory);
    } catch (error) {
      // Another server was faster, or the state folder is gone: nobody is waiting for the result.
      this.#options.debug?.(`${directory.path} could not be cleaned up: ${messageOf(error)}`);
    }
  }
}

const HEAD = 4096;

function notStarted(reason: NotStarted['reason'], message: string): NotStarted {
  return { type: 'not_started', reason, message };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function cleanEnvironment(env: SandboxOptions['env']): Record<string, string> {
  const { PATH, HOME, TMPDIR } = env;
  return Object.fromEntries(
    Object.entries({ PATH, HOME, TMPDIR }).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
  );
}

function explain(error: unknown): string {
  if (hasCode(error, 'E2BIG')) return 'its arguments and environment are too long for this system.';
  if (hasCode(error, 'EAGAIN'))
    return 'no more processes can be started at the moment (limit of the user or the system).';
  if (hasCode(error, 'EMFILE', 'ENFILE')) return 'too many files are open; raise the limit (ulimit -n).';
  if (hasCode(error, 'EACCES')) return 'permission denied.';
  return messageOf(error);
}
