/** What commands are started with. Made for the first command, so that a process that runs none leaves no trace. */
import { join } from 'node:path';
import { type Env, messageOf } from '../util/index.js';
import { DescriptorGuard } from './descriptor-guard.js';
import type { Dialer } from './domain-proxy/gate.js';
import type { Enclosure } from './enclosure.js';
import { type Problem, platformProblem } from './enforcement.js';
import { findTrustedProgram } from './find-program.js';
import { LinuxEnclosure } from './linux-enclosure.js';
import { MacosEnclosure } from './macos-enclosure.js';
import { MountRegister } from './mount-register.js';
import { PipePool } from './pipe-pool.js';
import { ProcessRegister } from './process-register.js';
import { openServerDirectory, type ServerDirectory } from './server-directory.js';

export type SandboxOptions = {
  /** The agent's own home, absolute. */
  readonly home: string;
  /** Where registers and mount points are written down; absolute, made when missing, for us alone. */
  readonly stateDir: string;
  /** The environment of this process: PATH is used to find our own tools. */
  readonly env: Env;
  /** Something a person should know. */
  readonly warn: (message: string) => void;
  readonly debug?: (message: string) => void;
  /** How the proxy of domain lists resolves names and connects; default: the system's way. */
  readonly dialer?: Dialer;
};

export type Equipment = {
  /** Null when the state folder can't be written: then nothing can be sandboxed or swept. */
  readonly directory: ServerDirectory | null;
  readonly mounts: MountRegister | null;
  readonly register: ProcessRegister;
  readonly pool: PipePool | null;
  readonly guard: DescriptorGuard;
  readonly setpriv: string | null;
  readonly enclosure: Enclosure | Problem;
};

export function makeEquipment(options: SandboxOptions): Equipment {
  const find = (name: string) => findTrustedProgram(name, options.env['PATH']);
  const directory = openDirectory(options);
  const mounts = directory && new MountRegister(options.stateDir, directory);
  const mkfifo = find('mkfifo');
  return {
    directory,
    mounts,
    register: new ProcessRegister(directory),
    pool: directory && mkfifo ? new PipePool(join(directory.path, 'pipes'), mkfifo) : null,
    guard: new DescriptorGuard(),
    setpriv: process.platform === 'linux' ? find('setpriv') : null,
    enclosure: makeEnclosure(options, directory, mounts),
  };
}

function openDirectory({ stateDir, warn }: SandboxOptions): ServerDirectory | null {
  try {
    return openServerDirectory(stateDir);
  } catch (error) {
    warn(
      `${stateDir} can't be written (${messageOf(error)}): commands can't be sandboxed, and those that survive a crash of this process won't be ended by the next one.`,
    );
    return null;
  }
}

function makeEnclosure(
  { home, stateDir, env, dialer }: SandboxOptions,
  directory: ServerDirectory | null,
  mounts: MountRegister | null,
): Enclosure | Problem {
  const problem = platformProblem(process.platform, process.arch);
  if (problem !== null) return problem;
  if (process.platform === 'darwin') return new MacosEnclosure({ home, stateDir, dialer });
  if (!directory || !mounts) {
    return { cause: `${stateDir} can't be written`, advice: 'make it writable, or set INTERPRETER_HOME' };
  }
  return new LinuxEnclosure({ home, stateDir, env, directory: directory.path, mounts, dialer });
}
