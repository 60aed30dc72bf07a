import { interleaved, type Table } from './measure.js';
import { withJobs } from './rollout-jobs.js';

export const name = 'rollout';

/** Reading a thread of 50 MB back, listing 1,000 threads, and what a turn costs. Bounds: 1,500 ms to read, 100 ms to list. */
export async function run(): Promise<Table> {
  return withJobs(async job => {
    // The first list reads every file; the lists that are measured find them in the index.
    await job('list');
    const timed = (label: string, jobName: string) => ({ label, once: async () => (await job(jobName)).ms });
    const rows = await interleaved(
      [
        timed('read a thread of 50 MB, ASCII', 'read-ascii'),
        timed('read a thread of 50 MB, other characters', 'read-other'),
        timed('summary of a thread of 50 MB', 'summary'),
        timed('list 1,000 threads', 'list'),
        timed('append and flush 200 turns of 26 lines', 'turns'),
        timed('take and release 200 locks', 'locks'),
      ],
      5,
    );
    return { unit: 'ms', rows };
  });
}
