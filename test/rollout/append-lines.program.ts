/** Appends turns for ever and prints the number of a line once it is flushed. Arguments: home, thread id. */
import { createRollout } from '../../src/rollout/index.js';
import { META } from './thread-parts.js';

const [home = '', threadId = ''] = process.argv.slice(2);
const warn = (message: string) => process.stderr.write(`${message}\n`);
const writer = createRollout({ home, threadId, startedAt: new Date(2026, 10, 29), warn });
writer.append({ type: 'session_meta', payload: { ...META, id: threadId } });

let n = 0;
function next(): void {
  // Several lines at a time, some of them large, so that a kill may come inside a write.
  for (let i = 0; i < 3; i++) {
    const text = `${n++} ${'x'.repeat(n % 7 === 0 ? 300_000 : 100)}`;
    writer.append({
      type: 'response_item',
      payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
    });
  }
  writer.flush();
  process.stdout.write(`${n - 1}\n`);
  setImmediate(next);
}
next();
