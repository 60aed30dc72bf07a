/** Takes and releases a thread many times; while it holds it, nobody else may. Arguments: home, thread id, rounds. */
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { acquireThreadLock } from '../../src/rollout/index.js';

const [home = '', threadId = '', rounds = '0'] = process.argv.slice(2);
const warn = (message: string) => process.stderr.write(`${message}\n`);
const witness = join(home, 'witness');
let clashes = 0;
let turns = 0;
while (turns < Number(rounds)) {
  const result = await acquireThreadLock(home, threadId, { waitMs: 15_000, warn });
  if (result.type === 'busy') break;
  turns++;
  try {
    closeSync(openSync(witness, 'wx'));
    await new Promise(resolve => setImmediate(resolve));
    rmSync(witness);
  } catch {
    // Somebody else's file was there.
    clashes++;
  }
  result.lock.release();
  await new Promise(resolve => setImmediate(resolve));
}
process.stdout.write(`${turns} turns, ${clashes} clashes\n`);
