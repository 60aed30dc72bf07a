/** A server process for the tests: the real front door over scripted threads. Options come as JSON in argv[2]. */
import { reserveStdout, serveMcp } from '../../src/mcp-server/index.js';
import { ScriptedThreads } from '../support/scripted-threads.js';
import { configFor, SETTINGS } from './test-config.js';

const output = reserveStdout();
const threads = new ScriptedThreads();
const server = serveMcp({
  threads: () => Promise.resolve(threads),
  resolveConfig: configFor,
  version: '1.2.3',
  input: process.stdin,
  output,
  log: message => process.stderr.write(`${message}\n`),
  settings: { ...SETTINGS, ...(JSON.parse(process.argv[2] ?? '{}') as object) },
});
process.on('SIGTERM', () => void server.close());
await server.gone;
await threads.close();
process.exit(0);
