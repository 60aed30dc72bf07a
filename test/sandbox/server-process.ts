/** Starts `fixture-server.ts` and lets tests kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SandboxPolicy } from '../../src/protocol/index.js';
import type { Place } from './support.js';

export type ServerProcess = {
  readonly pid: number;
  /** The beginning of the path of its folder, by which its watchdog is known too. */
  readonly state: string;
  /** What it has printed so far. */
  output(): string;
  kill(signal: NodeJS.Signals): Promise<void>;
};

/** Resolves when its commands have been started. */
export async function startServer(place: Place, policy: SandboxPolicy, lines: string[]): Promise<ServerProcess> {
  const orders = JSON.stringify({ home: place.home, stateDir: place.stateDir, cwd: place.ws, policy, lines });
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'fixture-server.ts'), orders],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', chunk => {
      output += chunk;
      if (output.includes('ready\n')) resolve();
    });
    child.once('exit', () => reject(new Error(`the server ended: ${output}`)));
  });
  return {
    pid: child.pid ?? 0,
    state: join(place.stateDir, 'servers', `${child.pid}-`),
    output: () => output,
    async kill(signal) {
      child.kill(signal);
      await once(child, 'exit');
    },
  };
}
