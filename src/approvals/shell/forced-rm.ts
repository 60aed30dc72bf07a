/** The one kind of command that is dangerous by itself: deleting without a question (`rm -f`). */
import { basename } from 'node:path';
import { hasCodedCharacters, type SeenCommand } from './every-command.js';

/** True for `rm` with `--force` or a short flag group that holds `f`, before `--`. */
export function isForcedRm(words: SeenCommand): boolean {
  const [program, ...rest] = words;
  if (program == null || basename(program) !== 'rm') return false;
  const end = rest.indexOf('--');
  return rest.slice(0, end < 0 ? rest.length : end).some(word => word !== null && isForce(word));
}

function isForce(word: string): boolean {
  // Braces are left as written: `-{r,f}` counts, since the shell makes `-r -f` of it.
  if (!word.startsWith('--')) return word.startsWith('-') && word.includes('f');
  return word.length > 2 && ('--force'.startsWith(word) || /^--\{?.*force/.test(word));
}

/** True when the text could hold a forced rm at all; false is certain. */
export function mayForce(argv: readonly string[]): boolean {
  const text = argv.join('\n');
  const dash = text.indexOf('-');
  return (dash >= 0 && text.indexOf('f', dash) >= 0) || hasCodedCharacters(text);
}
