/** What the tests of this room share: scratch folders, policies, and a quick way to run a line of shell. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { CommandResult, CommandSpec, SandboxPolicy } from '../../src/protocol/index.js';
import { createSandbox, runToEnd, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.js';

export const FULL: SandboxPolicy = { type: 'danger-full-access' };
export const READ_ONLY: SandboxPolicy = { type: 'read-only' };

type Profile = SandboxPolicy & { type: 'profile' };

export function profile(filesystem: Profile['filesystem'], changes: Partial<Profile> = {}): Profile {
  return { type: 'profile', name: 'p', filesystem, network: { type: 'off' }, allow_unix_sockets: false, ...changes };
}

export function entry(access: 'read' | 'write' | 'deny', path: string): Profile['filesystem'][number] {
  return { access, target: { path } };
}

/** Outside /tmp, which is a writable folder of most policies. */
const BASE = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();

export type Place = { root: string; ws: string; outside: string; home: string; stateDir: string };

/** A fresh set of folders; removed after the test, when everything that was opened has been closed. */
export function makePlace(base = BASE): Place {
  const root = realpathSync(mkdtempSync(join(base, 'oi-sandbox-')));
  const place = {
    root,
    ws: join(root, 'ws'),
    outside: join(root, 'outside'),
    home: join(root, 'home'),
    stateDir: join(root, 'home', 'sandbox'),
  };
  for (const folder of [place.ws, place.outside, place.home]) mkdirSync(folder);
  cleanups.push(() => rmSync(root, { recursive: true, force: true }));
  return place;
}

export function openSandbox(place: Place, changes: Partial<SandboxOptions> = {}): Sandbox {
  const sandbox = createSandbox({
    home: place.home,
    stateDir: place.stateDir,
    env: process.env,
    warn: message => warnings.push(message),
    ...changes,
  });
  cleanups.push(() => sandbox.close());
  return sandbox;
}

const warnings: string[] = [];
const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  warnings.length = 0;
});

/** The spec of one line of bash in the workspace. */
export function bash(place: Place, line: string, changes: Partial<CommandSpec> = {}): CommandSpec {
  return {
    argv: ['/bin/bash', '-c', line],
    cwd: place.ws,
    workspace: place.ws,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: place.root },
    policy: FULL,
    ...changes,
  };
}

export type Ran = { result: CommandResult; stdout: string; stderr: string };

export async function run(sandbox: Sandbox, spec: CommandSpec, timeoutMs = 15_000): Promise<Ran> {
  const { result, stdout, stderr } = await runToEnd(sandbox, spec, { timeoutMs, maxBytes: 1024 * 1024 });
  return { result, stdout: stdout.toString(), stderr: stderr.toString() };
}

export const exited = (exit_code: number, signal: string | null = null): CommandResult => ({
  type: 'exited',
  exit_code,
  signal,
});
