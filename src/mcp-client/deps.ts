/** What the command line gives this room. */
import type { CommandRunner } from '../protocol/index.js';
import type { Env } from '../util/index.js';
import type { McpLog } from './log.js';

export type McpClientDeps = {
  readonly version: string;
  /** The agent's own home, absolute: logins and remembered tool lists are kept below it. */
  readonly home: string;
  /** The environment of this process: tokens, proxies, and how deep we are nested. */
  readonly env: Env;
  readonly runner: CommandRunner;
  readonly log: McpLog;
  /** The file of our own program, to recognise ourselves among the servers; null = not known. */
  readonly program: string | null;
};
