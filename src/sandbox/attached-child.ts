/** Starts a program on our own standard streams. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Child, type ChildExit, type Launch, reportOf, stdioOf } from './child.js';
import type { DescriptorGuard } from './descriptor-guard.js';

/** Throws what `spawn` reports. `sharesTerminal`: it stays in our session, so that the terminal's keys reach it. */
export async function startAttached(launch: Launch, guard: DescriptorGuard, sharesTerminal: boolean): Promise<Child> {
  const child = spawn(launch.argv[0] ?? '', launch.argv.slice(1), {
    cwd: launch.cwd,
    env: launch.env,
    detached: !sharesTerminal,
    stdio: guard.cover(['inherit' as const, 'inherit' as const, 'inherit' as const, ...stdioOf(launch.inherit)]),
  });
  await once(child, 'spawn');
  const exited = new Promise<ChildExit>(resolve => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  return {
    pid: child.pid ?? 0,
    report: reportOf(child, launch.inherit),
    exited,
    // Its streams are ours: nothing passes through here.
    read: () => {},
    drained: () => Promise.resolve(),
    write: () => Promise.reject(new Error('the command reads our own standard input')),
    closeStdin: () => {},
    release: () => {},
  };
}
