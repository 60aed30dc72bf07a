/** The sandbox of this process, for commands that run something. */
import path from 'node:path';
import { homeDir } from '../config/index.js';
import { createSandbox, type Sandbox } from '../sandbox/index.js';
import type { Env } from '../util/index.js';
import type { Log } from './log.js';

/** Whoever opens it closes it. Throws ConfigError when the home can't be found. */
export function openSandbox(env: Env, log: Log): Sandbox {
  const home = homeDir(env);
  return createSandbox({
    home,
    stateDir: path.join(home, 'state'),
    env,
    warn: message => log('warn', message),
    debug: message => log('debug', message),
  });
}
