/** The server in this process, on in-memory streams. */
import { PassThrough } from 'node:stream';
import { type CodexCall, type McpServer, type ServeOptions, serveMcp } from '../../src/mcp-server/index.js';
import { ScriptedThreads } from '../support/scripted-threads.js';
import { LineClient } from './line-client.js';
import { configFor, SETTINGS } from './test-config.js';

export type LocalServer = {
  readonly server: McpServer;
  readonly client: LineClient;
  readonly logs: string[];
  /** The calls that configuration was asked for. */
  readonly calls: CodexCall[];
  readonly output: PassThrough;
};

export function startServer(options: Partial<ServeOptions> = {}): LocalServer {
  const input = new PassThrough();
  const output = new PassThrough();
  const logs: string[] = [];
  const calls: CodexCall[] = [];
  const threads = new ScriptedThreads();
  const server = serveMcp({
    threads: () => Promise.resolve(threads),
    resolveConfig: call => {
      calls.push(call);
      return configFor(call);
    },
    version: '1.2.3',
    input,
    output,
    log: message => logs.push(message),
    settings: SETTINGS,
    ...options,
  });
  return { server, client: new LineClient(input, output), logs, calls, output };
}
