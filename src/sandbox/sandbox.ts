/** The runner of commands: picks the way for a policy, starts, keeps the register, and ends everything at the end. */
import { closeSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { CommandResult, CommandRunner, CommandSpec, RunningCommand, SandboxPolicy } from '../protocol/index.js';
import { hasCode, messageOf, setVariables, within } from '../util/index.js';
import { startAttached } from './attached-child.js';
import type { Child, Launch } from './child.js';
import { type Enclosed, type EncloseRequest, isProblem } from './enclosure.js';
import { endTree, killTreesNow } from './end-tree.js';
import { refusal } from './enforcement.js';
import { type Equipment, makeEquipment, type SandboxOptions } from './equipment.js';
import { findExecutable } from './find-program.js';
import { startWithPipes } from './pipe-child.js';
import { sweepProcesses } from './process-register.js';
import { startOnPty } from './pty-child.js';
import { runToEnd } from './run-to-end.js';
import { ManagedCommand } from './running-command.js';
import { scratchFile } from './scratch-file.js';
import { deadServerDirectories, removeServerDirectory, type ServerDirectory } from './server-directory.js';
import { markedEnvironment, type Prepared, unsandboxed } from './unsandboxed.js';

export type SandboxCheck = { readonly ok: true } | { readonly ok: false; readonly message: string };

type NotStarted = CommandResult & { type: 'not_started' };
type Begin = (launch: Launch, equipment: Equipment) => Promise<Child>;

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
const CHECK_BYTES = 4096;

class SystemSandbox implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #checks = new Map<string, Promise<SandboxCheck>>();
  readonly #starts = new Set<Promise<unknown>>();
  /** Ends of commands that are still being cleaned up after. */
  readonly #releases = new Set<Promise<void>>();
  #equipment: Equipment | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: SandboxOptions) {
    this.#options = options;
    setImmediate(() => void this.#sweep()).unref();
  }

  start(spec: CommandSpec): Promise<RunningCommand | NotStarted> {
    return this.#starting(spec, spec.tty ? 'own' : 'none', (launch, equipment) =>
      spec.tty ? startOnPty(launch, equipment.guard) : startWithPipes(launch, equipment),
    );
  }

  attach(spec: CommandSpec, terminal: boolean): Promise<RunningCommand | NotStarted> {
    return this.#starting(spec, terminal ? 'shared' : 'none', (launch, { guard }) =>
      startAttached(launch, guard, terminal),
    );
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
    await within(this.#tidied(), CLOSE_MS);
  }

  async #tidied(): Promise<void> {
    await Promise.all(this.#releases);
    await this.#equipment?.mounts?.tidy();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await within(Promise.all(this.#starts), CLOSE_MS);
    const equipment = this.#equipment;
    if (!equipment) return;
    await within(Promise.all(equipment.register.trees().map(tree => endTree(tree, 0))), CLOSE_MS);
    this.killAllNow();
    equipment.register.close();
    await this.settled();
    await equipment.pool?.settled();
    if (!isProblem(equipment.enclosure)) await equipment.enclosure.close();
    if (equipment.directory) await this.#tidy(equipment.directory, equipment);
  }

  killAllNow(): void {
    if (this.#equipment) killTreesNow(this.#equipment.register.trees());
  }

  #equip(): Equipment {
    this.#equipment ??= makeEquipment(this.#options);
    return this.#equipment;
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
    const equipment = this.#equip();
    const marker = equipment.register.nextMarker();
    equipment.register.watch();
    if (spec.policy.type === 'danger-full-access') {
      // It sees the workspace as it is.
      await equipment.mounts?.tidy();
      return this.#launch(spec, unsandboxed(spec, program, marker, equipment.setpriv), begin);
    }
    const { enclosure } = equipment;
    const enclosed = isProblem(enclosure) ? enclosure : await enclosure.enclose({ spec, program, terminal });
    if (isProblem(enclosed)) return notStarted('sandbox', refusal(spec.policy, enclosed));
    return this.#launch(
      spec,
      { ...enclosed, env: markedEnvironment(enclosed.env, marker), marker, isSandbox: true },
      begin,
    );
  }

  async #launch(spec: CommandSpec, prepared: Prepared, begin: Begin): Promise<RunningCommand | NotStarted> {
    const equipment = this.#equip();
    let stdin: Launch['stdin'] = 'closed';
    let child: Child;
    try {
      stdin = openStdin(spec, equipment);
      const launch: Launch = {
        argv: prepared.argv,
        cwd: spec.cwd,
        env: prepared.env,
        stdin,
        mergeOutput: spec.merge_output ?? false,
        tty: spec.tty ?? null,
        inherit: prepared.inherit,
      };
      child = await begin(launch, equipment);
    } catch (error) {
      this.#release(prepared);
      return notStarted('spawn', `${spec.argv[0] ?? ''} could not be started: ${explain(error)}`);
    } finally {
      prepared.closeDescriptors();
      if (typeof stdin === 'number') closeSync(stdin);
    }
    prepared.onStarted?.(child);
    const { register } = equipment;
    const tree = register.add(child.pid, prepared.marker, prepared.isSandbox);
    const command = new ManagedCommand({
      child,
      tree,
      resultOf: prepared.resultOf,
      onEnd: lingering => {
        register.ended(tree, lingering);
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
      { timeoutMs: CHECK_MS, maxBytes: CHECK_BYTES },
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

  /** Ends and removes what servers that are no more have left. */
  async #sweep(): Promise<void> {
    for (const directory of deadServerDirectories(this.#options.stateDir)) {
      sweepProcesses(directory);
      await this.#tidy(directory, this.#equip());
    }
  }

  /** Removes what a server has left, and its folder; that stays when a mount point is still in use, for a later sweep. */
  async #tidy(directory: ServerDirectory, { directory: own, mounts }: Equipment): Promise<void> {
    try {
      const isDone = await (directory === own ? mounts?.settle() : mounts?.sweep(directory));
      if (isDone !== false) removeServerDirectory(directory);
    } catch (error) {
      // Another server was faster, or the state folder is gone: nobody is waiting for the result.
      this.#options.debug?.(`${directory.path} could not be cleaned up: ${messageOf(error)}`);
    }
  }
}

function openStdin({ stdin }: CommandSpec, { directory }: Equipment): Launch['stdin'] {
  if (typeof stdin !== 'object') return stdin ?? 'closed';
  return scratchFile(directory?.path ?? tmpdir(), stdin.bytes);
}

function notStarted(reason: NotStarted['reason'], message: string): NotStarted {
  return { type: 'not_started', reason, message };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function cleanEnvironment(env: SandboxOptions['env']): Record<string, string> {
  const { PATH, HOME, TMPDIR } = env;
  return setVariables({ PATH, HOME, TMPDIR });
}

function explain(error: unknown): string {
  if (hasCode(error, 'E2BIG')) return 'its arguments and environment are too long for this system.';
  if (hasCode(error, 'EAGAIN'))
    return 'no more processes can be started at the moment (limit of the user or the system).';
  if (hasCode(error, 'EMFILE', 'ENFILE')) return 'too many files are open; raise the limit (ulimit -n).';
  if (hasCode(error, 'EACCES')) return 'permission denied.';
  return messageOf(error);
}
