/** Appends until a warning comes, prints it, waits for a line on stdin, and prints how many items it wrote in all. */
import { createRollout } from '../../src/rollout/index.js';
import { assistant, META } from './thread-parts.js';

const [home = '', threadId = ''] = process.argv.slice(2);
let warned = false;
const warn = (message: string) => {
  warned = true;
  process.stdout.write(`${message}\n`);
};
const writer = createRollout({ home, threadId, startedAt: new Date(2026, 10, 29), warn });
writer.append({ type: 'session_meta', payload: META });
let items = 0;
const appendOne = () => writer.append({ type: 'response_item', payload: assistant(`${items++} ${'x'.repeat(3_000)}`) });
while (!warned) {
  for (let i = 0; i < 5; i++) appendOne();
  writer.flush();
}
process.stdin.once('data', () => {
  appendOne();
  if (writer.flush()) process.stdout.write(`${items}\n`);
  process.exit();
});
