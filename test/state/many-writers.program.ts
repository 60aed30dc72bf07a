/** Opens the index of a home, notes and lists threads many times, prints how many it saw. Arguments: home, number. */
import { listRollouts, summarizeRollout } from '../../src/rollout/index.js';
import { openThreadIndex } from '../../src/state/index.js';
import { writeThread } from './write-thread.js';

const [home = '', number = '0'] = process.argv.slice(2);
const index = openThreadIndex({
  dir: home,
  rollouts: { list: () => listRollouts(home), summarize: summarizeRollout },
  warn: message => process.stderr.write(`warned: ${message}\n`),
});
for (let i = 0; i < 10; i++) {
  const path = writeThread(home, Number(number) * 10 + i);
  const file = (await listRollouts(home)).find(entry => entry.path === path);
  const summary = file && (await summarizeRollout(file));
  if (summary) index.put(summary);
  await index.list();
}
process.stdout.write(`${(await index.list()).length}\n`);
await index.close();
