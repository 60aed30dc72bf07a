/** Puts commands into bubblewrap: reads the disk, plans, opens descriptors, holds mount points. */
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import type { CommandResult, CommandSpec } from '../protocol/index.js';
import { messageOf } from '../util/index.js';
import { type BwrapPlan, planBwrap } from './bwrap-plan.js';
import { BwrapFinder, type BwrapProgram } from './bwrap-program.js';
import { type ChildExit, exitCodeOf, FIRST_FD, signalName } from './child.js';
import { type Enclosed, type EncloseRequest, type Enclosure, isProblem } from './enclosure.js';
import { explainBwrapFailure, type Problem, refusal } from './enforcement.js';
import type { Layout } from './layout.js';
import type { MountHold, MountRegister } from './mount-register.js';
import { openForReading, type PipePool } from './pipe-pool.js';
import { networkOf, policyEnvironment, writableRoots } from './policy-paths.js';
import { type LayoutFacts, readLayout, realPathOf } from './read-layout.js';
import { scanGlobs } from './scan-globs.js';
import { scratchFile } from './scratch-file.js';
import { seccompFilter } from './seccomp/filter.js';
import { type Architecture } from './seccomp/syscalls.js';

export type LinuxOptions = {
  readonly home: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of this process, for files without names. */
  readonly scratch: string;
  readonly mounts: MountRegister;
  readonly pool: PipePool | null;
};

/** O_PATH, which Node has no name for; the same number on x86-64 and arm64. */
const O_PATH = 0o10000000;
const OPEN_FOLDER = O_PATH | constants.O_NOFOLLOW;
/** A shell can redirect descriptors up to 9. */
const TTY_FDS = 7;
/** A longer plan goes through a file: the space for arguments is limited. */
const LONG_PLAN_BYTES = 64 * 1024;

export class LinuxEnclosure implements Enclosure {
  readonly #options: LinuxOptions;
  readonly #finder: BwrapFinder;
  /** The real path of each writable root when it was first seen. */
  readonly #pinned = new Map<string, string>();
  readonly #filters = new Map<boolean, number>();

  constructor(options: LinuxOptions) {
    this.#options = options;
    this.#finder = new BwrapFinder(options.env['PATH']);
  }

  async enclose(request: EncloseRequest): Promise<Enclosed | Problem> {
    const { spec, terminal } = request;
    const moved = this.#movedRoot(spec);
    if (moved !== null) return moved;
    const matches = await scanGlobs(spec.policy);
    if ('cause' in matches) return matches;
    const facts = this.#facts(spec, matches.found);
    const bwrap = await this.#finder.find(untrustedFolders(readLayout(spec.policy, facts), spec.cwd));
    if (isProblem(bwrap)) return bwrap;

    const opened = new Descriptors();
    try {
      const seccompFd = opened.add(this.#openFilter(spec));
      const status = terminal === 'own' || !this.#options.pool ? null : await openStatus(this.#options.pool, opened);
      const [planned, hold] = await this.#options.mounts.hold(() =>
        plan({ request, facts, bwrap, opened, seccompFd, statusFd: status?.fd ?? null }),
      );
      if (planned.problem !== null) {
        opened.close();
        return planned.problem;
      }
      return this.#enclosed({ request, bwrap, plan: planned, opened, hold, status });
    } catch (error) {
      opened.close();
      return { cause: messageOf(error), advice: 'make room on the disk, or correct the rights of that path' };
    }
  }

  async close(): Promise<void> {
    for (const fd of this.#filters.values()) closeSync(fd);
    this.#filters.clear();
  }

  #facts(spec: CommandSpec, matches: LayoutFacts['matches']): LayoutFacts {
    const { home, stateDir } = this.#options;
    return { cwd: spec.workspace ?? '', home, tmpdir: spec.env['TMPDIR'] ?? null, ownFolders: [stateDir], matches };
  }

  /** A command of another thread may have put a link in the place of this thread's folder. */
  #movedRoot(spec: CommandSpec): Problem | null {
    const roots = writableRoots(spec.policy, { cwd: spec.workspace ?? '', tmpdir: spec.env['TMPDIR'] ?? null });
    for (const root of roots) {
      const real = realPathOf(root);
      if (real === null) continue;
      const before = this.#pinned.get(root);
      if (before === undefined) this.#pinned.set(root, real);
      else if (before !== real) {
        return {
          cause: `${root} was ${before} before and now leads to ${real}`,
          advice: 'put the folder back, or start a new server if the change was meant',
        };
      }
    }
    return null;
  }

  /** A descriptor of the filter, at its beginning. The file itself has no name, so nobody can change it. */
  #openFilter(spec: CommandSpec): number {
    const unixSockets = 'allow_unix_sockets' in spec.policy && spec.policy.allow_unix_sockets;
    let fd = this.#filters.get(unixSockets);
    if (fd === undefined) {
      const architecture = process.arch as Architecture;
      fd = scratchFile(this.#options.scratch, seccompFilter({ architecture, unixSockets }));
      this.#filters.set(unixSockets, fd);
    }
    return openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY);
  }

  #enclosed(parts: {
    request: EncloseRequest;
    bwrap: BwrapProgram;
    plan: BwrapPlan;
    opened: Descriptors;
    hold: MountHold;
    status: Status | null;
  }): Enclosed {
    const { bwrap, opened, hold, status } = parts;
    const { spec, program, terminal } = parts.request;
    const args = this.#shortened(parts.plan.args, opened);
    return {
      argv: [bwrap.path, ...args, '--', program, ...spec.argv.slice(1)],
      env: { ...spec.env, ...policyEnvironment(spec.policy) },
      inherit: opened.all,
      // A terminal's shell opens them by way of /proc a moment after the start: they stay until the end.
      closeDescriptors: () => {
        if (terminal !== 'own') opened.close();
      },
      resultOf: async (exit, head) => bwrapResult(spec, exit, head, status && (await status.text)),
      release: async () => {
        opened.close();
        status?.drop();
        await hold.release();
      },
    };
  }

  #shortened(args: readonly string[], opened: Descriptors): readonly string[] {
    if (args.reduce((sum, arg) => sum + Buffer.byteLength(arg) + 1, 0) < LONG_PLAN_BYTES) return args;
    return ['--args', String(opened.add(scratchFile(this.#options.scratch, args.map(arg => `${arg}\0`).join(''))))];
  }
}

type Planned = BwrapPlan & { readonly problem: Problem | null };

function plan(parts: {
  request: EncloseRequest;
  facts: LayoutFacts;
  bwrap: BwrapProgram;
  opened: Descriptors;
  seccompFd: number;
  statusFd: number | null;
}): Planned {
  const { facts, bwrap, opened } = parts;
  const { spec, terminal } = parts.request;
  const layout = readLayout(spec.policy, facts);
  const [problem] = layout.problems;
  if (problem !== undefined) return { args: [], mountPoints: [], problem: { cause: problem, advice: ADVICE_LAYOUT } };
  const planned = planBwrap({
    layout,
    network: networkOf(spec.policy) === 'on' ? 'on' : 'off',
    isRoot: process.getuid?.() === 0,
    tty: terminal !== 'none',
    cwd: realPathOf(spec.cwd) ?? spec.cwd,
    rootFds: bwrap.bindsDescriptors
      ? openRoots(layout, opened, terminal === 'own' ? TTY_FDS : Number.POSITIVE_INFINITY)
      : NO_FDS,
    seccompFd: parts.seccompFd,
    statusFd: parts.statusFd,
  });
  return { ...planned, problem: null };
}

const ADVICE_LAYOUT = 'change the folder or the configuration as said';
const NO_FDS: ReadonlyMap<string, number> = new Map();

/** Throws when a folder is no longer what it was a moment ago. */
function openRoots(layout: Layout, opened: Descriptors, limit: number): Map<string, number> {
  const fds = new Map<string, number>();
  for (const { path, access } of layout.rules) {
    if (access !== 'write' || path === '/' || opened.all.length >= limit) continue;
    const fd = openSync(path, OPEN_FOLDER);
    const number = opened.add(fd);
    if (readlinkSync(`/proc/self/fd/${fd}`) !== path) throw new Error(`${path} has been replaced by a link`);
    fds.set(path, number);
  }
  return fds;
}

/** Descriptors for one start, with the numbers they will have in the program. */
class Descriptors {
  readonly all: number[] = [];
  #closed = false;

  add(fd: number): number {
    this.all.push(fd);
    return FIRST_FD + this.all.length - 1;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const fd of this.all) closeSync(fd);
  }
}

/** Everything that the program must not write to may be replaced by the command itself: not trusted as bubblewrap. */
function untrustedFolders(layout: Layout, cwd: string): string[] {
  const writable = layout.rules.filter(rule => rule.access === 'write').map(rule => rule.path);
  return [...writable, realPathOf(cwd) ?? cwd];
}

type Status = { readonly fd: number; readonly text: Promise<string>; drop(): void };

/** bubblewrap writes there that the command was started, and how it ended; the command itself can't. */
async function openStatus(pool: PipePool, opened: Descriptors): Promise<Status> {
  const [name = ''] = await pool.take(1);
  const { ours, theirs } = openForReading(name);
  const chunks: Buffer[] = [];
  ours.on('data', chunk => chunks.push(chunk));
  const text = new Promise<string>(resolve => {
    ours.on('error', () => {});
    ours.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
  return { fd: opened.add(theirs), text, drop: () => ours.destroy() };
}

/** `status` null: bubblewrap could not be asked, and its words decide. */
function bwrapResult(spec: CommandSpec, exit: ChildExit, head: string, status: string | null): CommandResult {
  const exit_code = exitCodeOf(exit);
  const ran = status === null ? !/^bwrap: /m.test(head) : status.includes('"exit-code"');
  const missing = /^bwrap: execvp .*?: (.*)$/m.exec(head)?.[1];
  if (missing !== undefined && exit_code === 1) {
    return {
      type: 'not_started',
      reason: 'missing',
      message: `${spec.argv[0] ?? ''} can't be started in the sandbox: ${missing}.`,
    };
  }
  if (ran || exit.code === null) {
    return { type: 'exited', exit_code, signal: exit.signal ?? (exit_code > 128 ? signalName(exit_code - 128) : null) };
  }
  return { type: 'not_started', reason: 'sandbox', message: refusal(spec.policy, explainBwrapFailure(head)) };
}
