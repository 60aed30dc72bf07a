/** Puts commands into bubblewrap: reads the disk, plans, opens descriptors, holds mount points. */
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import type { CommandSpec } from '../protocol/index.js';
import { type Env, messageOf } from '../util/index.js';
import { type Filter, mountPointsOf, planBwrap, planInnerBwrap } from './bwrap-plan.js';
import { BwrapFinder, type BwrapProgram } from './bwrap-program.js';
import { BwrapStatus, bwrapResult } from './bwrap-status.js';
import type { Crossing } from './domain-access.js';
import { bridgeArgv, DomainBridge } from './domain-bridge.js';
import type { Dialer } from './domain-proxy/gate.js';
import { type Enclosed, type EncloseRequest, type Enclosure, isProblem } from './enclosure.js';
import { type Problem, SOCAT_MISSING } from './enforcement.js';
import { chooseTrusted, findCandidates, isInside } from './find-program.js';
import type { Layout } from './layout.js';
import type { MountRegister } from './mount-register.js';
import { Opened } from './opened.js';
import { networkOf, policyEnvironment } from './policy-paths.js';
import { type LayoutFacts, layoutFacts, readLayout, realPathOf } from './read-layout.js';
import { RootPins } from './root-pins.js';
import { type GlobMatch, scanGlobs } from './scan-globs.js';
import { scratchFile } from './scratch-file.js';
import { seccompFilter } from './seccomp/filter.js';
import type { Architecture } from './seccomp/syscalls.js';

export type LinuxOptions = {
  readonly home: string;
  readonly stateDir: string;
  readonly env: Env;
  /** The folder of this process. */
  readonly directory: string;
  readonly mounts: MountRegister;
  readonly dialer: Dialer | undefined;
};

/** O_PATH, which Node has no name for; the same number on x86-64 and arm64. */
const O_PATH = 0o10000000;
const OPEN_FOLDER = O_PATH | constants.O_NOFOLLOW;
/** The shell before a terminal's program can only redirect up to descriptor 9. */
const MAX_TTY_DESCRIPTORS = 7;
/** A longer plan goes through a file: the space for arguments is limited. */
const LONG_PLAN_BYTES = 64 * 1024;

export class LinuxEnclosure implements Enclosure {
  readonly #options: LinuxOptions;
  readonly #finder: BwrapFinder;
  readonly #bridge: DomainBridge;
  readonly #pins = new RootPins();
  readonly #filters = new Map<boolean, number>();

  constructor(options: LinuxOptions) {
    this.#options = options;
    this.#finder = new BwrapFinder(options.env['PATH']);
    this.#bridge = new DomainBridge(options.directory, options.dialer);
  }

  async enclose(request: EncloseRequest): Promise<Enclosed | Problem> {
    const opened = new Opened();
    try {
      const enclosed = await this.#enclose(request, opened);
      if (isProblem(enclosed)) await opened.release();
      return enclosed;
    } catch (error) {
      await opened.release();
      return { cause: messageOf(error), advice: 'make room on the disk, or correct the rights of that path' };
    }
  }

  async close(): Promise<void> {
    await this.#bridge.close();
    for (const fd of this.#filters.values()) closeSync(fd);
    this.#filters.clear();
  }

  async #enclose(request: EncloseRequest, opened: Opened): Promise<Enclosed | Problem> {
    const { spec } = request;
    const facts = layoutFacts(spec, this.#options);
    const roots = this.#pins.check(spec.policy, facts);
    if (isProblem(roots)) return roots;
    const untrusted = [...roots, ...untrustedWorkspace(spec)];
    const bwrap = await this.#finder.find(untrusted);
    if (isProblem(bwrap)) return bwrap;
    const crossing = await this.#cross(spec, untrusted, opened);
    if (crossing !== null && isProblem(crossing)) return crossing;
    const matches = await scanGlobs(spec.policy);
    if (isProblem(matches)) return matches;
    return this.#prepare({ request, opened, bwrap, facts, crossing, matches: matches.found });
  }

  async #prepare(parts: {
    request: EncloseRequest;
    opened: Opened;
    bwrap: BwrapProgram;
    facts: LayoutFacts;
    crossing: (Crossing & { readonly socket: string; readonly socat: string }) | null;
    matches: readonly GlobMatch[];
  }): Promise<Enclosed | Problem> {
    const { request, opened, bwrap, crossing } = parts;
    const { spec, program, terminal } = request;
    const seccompFd = opened.add(this.#openFilter(spec));
    // On a terminal there is no way to pass one on; what bubblewrap says there is seen in the output.
    const status = terminal === 'own' ? null : new BwrapStatus();
    const here = { type: 'here', seccompFd, statusFd: status && opened.addReport() } as const;
    const facts = { ...parts.facts, matches: parts.matches };
    const filter: Filter = crossing ? { type: 'bridge', socket: crossing.socket } : here;
    const layout = readLayout(spec.policy, facts);
    const [cause] = layout.problems;
    if (cause !== undefined) return { cause, advice: 'change the folder or the configuration as said' };
    const hold = await this.#options.mounts.hold(mountPointsOf(layout));
    opened.onRelease(async () => {
      // In front of a bridge the number is one of the outer sandbox.
      if (status && !crossing) await status.isGone();
      await hold.release();
    });

    const args = planBwrap({
      ...base(spec),
      layout,
      network: networkOf(spec.policy) === 'on' ? 'on' : 'off',
      tty: terminal !== 'none',
      rootFds: bwrap.bindsDescriptors ? openRoots(layout, opened, terminal) : new Map(),
      filter,
    });
    const command = [program, ...spec.argv.slice(1)];
    const inner = crossing
      ? bridgeArgv(crossing.socat, [bwrap.path, ...planInnerBwrap({ ...base(spec), filter: here }), '--', ...command])
      : command;
    return {
      argv: [bwrap.path, ...this.#shortened(args, opened), '--', ...inner],
      env: { ...spec.env, ...policyEnvironment(spec.policy), ...crossing?.env },
      inherit: opened.inherit,
      onStarted: child => child.report && status?.read(child.report),
      ...(crossing ? { onNote: crossing.onNote } : {}),
      // A terminal's shell opens them by way of /proc a moment after the start: they stay until the end.
      closeDescriptors: () => {
        if (terminal !== 'own') opened.closeDescriptors();
      },
      resultOf: (exit, head) => bwrapResult(spec, exit, head, status),
      release: () => opened.release(),
    };
  }

  /** The way to the allowed domains, for a policy that has some. */
  async #cross(spec: CommandSpec, untrusted: readonly string[], opened: Opened) {
    if (spec.policy.type !== 'profile' || spec.policy.network.type !== 'domains') return null;
    const socat = chooseTrusted(findCandidates('socat', this.#options.env['PATH']), untrusted).path;
    if (socat === null) return SOCAT_MISSING;
    const crossing = await this.#bridge.open(spec.policy);
    opened.onRelease(crossing.close);
    return { ...crossing, socat };
  }

  /** A descriptor of the filter, at its beginning. The file itself has no name, so nobody can change it. */
  #openFilter(spec: CommandSpec): number {
    const unixSockets = 'allow_unix_sockets' in spec.policy && spec.policy.allow_unix_sockets;
    let fd = this.#filters.get(unixSockets);
    if (fd === undefined) {
      const architecture = process.arch as Architecture;
      fd = scratchFile(this.#options.directory, seccompFilter({ architecture, unixSockets }));
      this.#filters.set(unixSockets, fd);
    }
    return openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY);
  }

  #shortened(args: readonly string[], opened: Opened): readonly string[] {
    if (args.reduce((sum, arg) => sum + Buffer.byteLength(arg) + 1, 0) < LONG_PLAN_BYTES) return args;
    const file = scratchFile(this.#options.directory, args.map(arg => `${arg}\0`).join(''));
    return ['--args', String(opened.add(file))];
  }
}

function base(spec: CommandSpec): { isRoot: boolean; cwd: string } {
  return { isRoot: process.getuid?.() === 0, cwd: realPathOf(spec.cwd) ?? spec.cwd };
}

/** Throws when a folder is no longer what it was a moment ago. */
function openRoots(layout: Layout, opened: Opened, terminal: EncloseRequest['terminal']): Map<string, number> {
  const limit = terminal === 'own' ? MAX_TTY_DESCRIPTORS : Number.POSITIVE_INFINITY;
  const fds = new Map<string, number>();
  for (const { path, access } of layout.rules) {
    if (access !== 'write' || opened.inherit.length >= limit) continue;
    const fd = openSync(path, OPEN_FOLDER);
    fds.set(path, opened.add(fd));
    if (readlinkSync(`/proc/self/fd/${fd}`) !== path) throw new Error(`${path} has just been replaced`);
  }
  return fds;
}

/** A repository may bring a `bin/bwrap` of its own; a folder of the system is none. */
function untrustedWorkspace(spec: CommandSpec): string[] {
  return [spec.cwd, spec.workspace ?? '']
    .flatMap(folder => realPathOf(folder) ?? [])
    .filter(folder => !isInside('/usr/bin', folder) && !isInside(folder, '/usr'));
}
