/** Takes a thread and keeps it until it is killed. Arguments: home, thread id. */
import { acquireThreadLock } from '../../src/rollout/index.js';

const [home = '', threadId = ''] = process.argv.slice(2);
const warn = (message: string) => process.stderr.write(`${message}\n`);
const result = await acquireThreadLock(home, threadId, { waitMs: 0, warn });
process.stdout.write(`${result.type}\n`);
process.stdin.resume();
