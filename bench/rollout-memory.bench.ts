import { interleaved, type Table } from './measure.js';
import { withJobs } from './rollout-jobs.js';

export const name = 'rollout-memory';

/** Peak memory of a process that reads a thread of 50 MB and holds it. Bound: 250 MB. */
export async function run(): Promise<Table> {
  return withJobs(async job => {
    const peak = (label: string, jobName: string) => ({ label, once: async () => (await job(jobName)).mb });
    const rows = await interleaved(
      [
        peak('a list of threads', 'list'),
        peak('a thread of 50 MB, ASCII', 'read-ascii'),
        peak('a thread of 50 MB, other characters', 'read-other'),
      ],
      3,
    );
    return { unit: 'MB', rows };
  });
}
