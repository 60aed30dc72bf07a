/** `npm test`: makes sure of the tools, builds, then runs the tests. Arguments are passed on to vitest. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureTools } from './ensure-tools.js';
import { root } from './root.js';

function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

ensureTools(console.log);
run('tsx', ['scripts/build.ts']);
run('vitest', ['run', ...process.argv.slice(2)]);
