import { existsSync } from 'node:fs';
import path from 'node:path';

/** The person's shell where it takes the scripts that models write, else bash, else sh. */
export function userShell(env: Readonly<Record<string, string | undefined>>): string {
  const own = env['SHELL'] ?? '';
  const known = ['bash', 'zsh', 'sh', 'dash', 'ksh'].includes(path.basename(own));
  if (known && path.isAbsolute(own) && existsSync(own)) return own;
  return ['/bin/bash', '/usr/bin/bash'].find(file => existsSync(file)) ?? '/bin/sh';
}
