/** Writes ten threads and lists all after each; prints how many there are. Arguments: home, number of the process. */
import { heldThreads, listRollouts, summarizeRollout } from '../../src/rollout/index.js';
import { openThreadIndex } from '../../src/state/index.js';
import { writeThread } from './write-thread.js';

const [home = '', number = '0'] = process.argv.slice(2);
const index = openThreadIndex({
  dir: home,
  rollouts: { list: () => listRollouts(home), summarize: summarizeRollout, running: () => heldThreads(home) },
  warn: message => process.stderr.write(`warned: ${message}\n`),
});
for (let i = 0; i < 10; i++) {
  writeThread(home, Number(number) * 10 + i);
  await index.list();
}
process.stdout.write(`${(await index.list()).length}\n`);
await index.close();
