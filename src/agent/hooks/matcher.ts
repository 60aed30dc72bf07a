/** Which handlers of an event are run. */
import type { HookSettings } from '../../protocol/index.js';
import { parsePattern } from '../../util/index.js';

/** Words and `|` alone are names, compared whole; anything else is a regular expression, searched for. */
const NAMES_ONLY = /^[A-Za-z0-9_|]+$/;

/**
 * True when the matcher of a handler takes one of `names`. Absent, empty or `*` takes everything. Case counts.
 * A matcher that is no regular expression takes nothing; configuration refuses it with a message.
 */
export function matches(matcher: HookSettings['matcher'], names: readonly string[]): boolean {
  if (matcher === null || matcher === '' || matcher === '*') return true;
  if (NAMES_ONLY.test(matcher)) {
    const wanted = matcher.split('|');
    return names.some(name => wanted.includes(name));
  }
  try {
    const pattern = parsePattern(matcher);
    return names.some(name => pattern.test(name));
  } catch {
    // Said when the configuration was read.
    return false;
  }
}
