/**
 * Does one job of the rollout benches in this process and prints `{"ms", "mb"}`: its time and the peak memory of the whole
 * process. Arguments: job, home.
 */
import { join } from 'node:path';
import {
  acquireThreadLock,
  createRollout,
  heldThreads,
  listRollouts,
  readRollout,
  summarizeRollout,
} from '../src/rollout/index.js';
import { openThreadIndex } from '../src/state/index.js';
import { longThread, THREADS, threadId, turnLines } from './rollout-home.js';

const ROUNDS = 200;

const jobs: Readonly<Record<string, (home: string) => Promise<unknown>>> = {
  'read-ascii': home => readRollout(home, longThread(home, 'ascii')),
  'read-other': home => readRollout(home, longThread(home, 'other')),
  summary: home => summarizeRollout({ path: longThread(home, 'ascii'), thread_id: threadId(0), archived: false }),
  list: listThreads,
  turns: appendTurns,
  locks: takeLocks,
};

async function listThreads(home: string): Promise<void> {
  const rollouts = { list: () => listRollouts(home), summarize: summarizeRollout, running: () => heldThreads(home) };
  const index = openThreadIndex({ dir: home, rollouts, warn: console.error });
  const threads = await index.list();
  await index.close();
  if (threads.length < THREADS) throw new Error(`listed ${threads.length} threads`);
}

/** Each turn as one flush. */
async function appendTurns(home: string): Promise<void> {
  // Apart from the threads that are listed.
  const own = join(home, 'appended');
  const writer = createRollout({ home: own, threadId: threadId(0), startedAt: new Date(), warn: console.error });
  for (let n = 0; n < ROUNDS; n++) {
    for (const line of turnLines(n, 'word ')) writer.append(line);
    writer.flush();
  }
  writer.close();
}

async function takeLocks(home: string): Promise<void> {
  for (let n = 0; n < ROUNDS; n++) {
    const result = await acquireThreadLock(home, threadId(n), { waitMs: 0, warn: console.error });
    if (result.type === 'locked') result.lock.release();
  }
}

const [name = '', home = ''] = process.argv.slice(2);
const job = jobs[name];
if (job === undefined) throw new Error(`There is no job "${name}".`);
const began = performance.now();
// Held until the memory is measured, as a thread that goes on holds its history.
const result = await job(home);
const ms = performance.now() - began;
console.log(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1024, held: typeof result }));
