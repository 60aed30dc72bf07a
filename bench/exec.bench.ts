/**
 * `exec` of a turn with one message, against a model on loopback that answers at once: from the start of the process to
 * its end. BENCH_CODEX names a codex program to compare with (npm: @openai/codex@0.148.0); its home must lie outside the
 * temporary folders, so the home of the bench lies below /var/tmp.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { interleaved, milliseconds, type Table } from './measure.js';
import { say, startModel } from './model.js';
import { environment, makePlace, type Place, program } from './place.js';

export const name = 'exec';

const RUNS = 15;

/** Needs a build. */
export async function run(): Promise<Table> {
  const model = await startModel(() => [say('Hello.')]);
  const place = await makePlace(model);
  try {
    const exec = ['exec', '--json', '--skip-git-repo-check', 'say hello'];
    const reference = process.env['BENCH_CODEX'];
    const rows = await interleaved(
      [
        ...(reference ? [{ label: 'codex exec', once: () => timed([reference, ...exec], place) }] : []),
        { label: 'interpreter exec', once: () => timed([process.execPath, program, ...exec], place) },
        { label: 'node -e 0', once: () => timed([process.execPath, '-e', '0'], place) },
      ],
      RUNS,
    );
    return { unit: 'ms', rows };
  } finally {
    model.close();
    await place.remove();
  }
}

function timed([file = '', ...args]: readonly string[], place: Place): Promise<number> {
  return milliseconds(async () => {
    const child = spawn(file, args, {
      cwd: place.cwd,
      env: environment(place),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.resume();
    const [status] = await once(child, 'close');
    if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with status ${status}`);
  });
}
