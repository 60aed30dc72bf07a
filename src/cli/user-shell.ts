import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '../util/index.js';

/** The person's shell where it takes the scripts that models write, else bash, else sh. */
export function userShell(env: Env): string {
  const own = env['SHELL'] ?? '';
  const known = ['bash', 'zsh', 'sh', 'dash', 'ksh'].includes(path.basename(own));
  if (known && path.isAbsolute(own) && existsSync(own)) return own;
  return ['/bin/bash', '/usr/bin/bash'].find(file => existsSync(file)) ?? '/bin/sh';
}
