/** Which git commands only read. */
import { isLongOption } from './long-option.js';

/** Options before the sub-command that change nothing but the display. All others point git elsewhere. */
const HARMLESS_GLOBAL = new Set(['--no-pager', '-P', '--no-optional-locks']);

const READING = new Set(['status', 'log', 'diff', 'show']);

/** They write a file or start a program. */
const REFUSED = ['--output', '--ext-diff', '--textconv', '--exec', '--show-signature'];

const LISTING = new Set(['-l', '--list', '-a', '--all', '-r', '--remotes', '-v', '-vv', '--verbose', '--show-current']);

/** `args`: the words behind `git`. */
export function isSafeGit(args: readonly string[]): boolean {
  const start = args.findIndex(word => !HARMLESS_GLOBAL.has(word));
  if (start < 0) return false;
  const [command = '', ...rest] = args.slice(start);
  if (command === 'branch') return rest.every(word => LISTING.has(word) || word.startsWith('--format='));
  return READING.has(command) && rest.every(isReading);
}

function isReading(word: string): boolean {
  // `%G?` and its kin in a format have gpg check signatures.
  if (word.startsWith('--output') || word.includes('%G')) return false;
  return !REFUSED.some(option => isLongOption(word, option));
}
