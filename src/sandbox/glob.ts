/**
 * Globs of permission profiles as regular expressions: `*` and `?` stay within one name and match leading dots, `**` goes
 * over folders, `[...]` and `{a,b}` as usual. Compiled without a library because the check of a path is synchronous
 * and must not load anything; the tests compare it with one.
 */

/** Matches paths relative to the folder of the glob, without a leading slash. */
export function globToRegExp(glob: string): RegExp {
  return new RegExp(`^${translate(glob)}$`, 's');
}

/** How many levels below its folder the glob can match; Infinity with `**`. */
export function globDepth(glob: string): number {
  return glob.includes('**') ? Number.POSITIVE_INFINITY : glob.split('/').length;
}

function translate(glob: string): string {
  let out = '';
  for (let i = 0; i < glob.length; ) {
    const [text, length] = translateAt(glob, i);
    out += text;
    i += length;
  }
  return out;
}

/** The expression for what starts at `i`, and how many characters it covers. */
function translateAt(glob: string, i: number): [string, number] {
  const rest = glob.slice(i);
  const atStart = i === 0 || glob[i - 1] === '/';
  if (atStart && rest.startsWith('**/')) return ['(?:[^/]+/)*', 3];
  // `a/**` is also `a` itself.
  if (rest === '/**') return ['(?:/.*)?', 3];
  if (atStart && rest === '**') return ['.*', 2];
  if (rest.startsWith('**')) return ['[^/]*', 2];
  const character = rest.charAt(0);
  switch (character) {
    case '*':
      // A name is never empty: `*` alone needs a character, `*.env` does not.
      return [atStart && (rest.length === 1 || rest[1] === '/') ? '[^/]+' : '[^/]*', 1];
    case '?':
      return ['[^/]', 1];
    case '[':
      return characterClass(rest);
    case '{':
      return alternatives(rest);
    case '\\':
      return rest.length > 1 ? [escape(rest.charAt(1)), 2] : ['\\\\', 1];
    default:
      return [escape(character), 1];
  }
}

function characterClass(rest: string): [string, number] {
  const end = rest.indexOf(']', rest[1] === '!' || rest[1] === '^' ? 3 : 2);
  if (end < 0) return ['\\[', 1];
  const body = rest.slice(1, end).replace(/^[!^]/, '');
  const negated = rest[1] === '!' || rest[1] === '^';
  return [`(?!/)[${negated ? '^' : ''}${body.replace(/[\\\][^]/g, '\\$&')}]`, end + 1];
}

function alternatives(rest: string): [string, number] {
  let depth = 0;
  const cuts: number[] = [];
  for (let i = 0; i < rest.length; i++) {
    if (rest[i] === '{') depth++;
    if (rest[i] === ',' && depth === 1) cuts.push(i);
    if (rest[i] !== '}' || --depth > 0) continue;
    if (cuts.length === 0) break;
    const ends = [...cuts, i];
    const parts = ends.map((end, n) => translate(rest.slice(n === 0 ? 1 : (ends[n - 1] ?? 0) + 1, end)));
    return [`(?:${parts.join('|')})`, i + 1];
  }
  return ['\\{', 1];
}

function escape(character: string): string {
  return /[.*+?^${}()|[\]\\/]/.test(character) ? `\\${character}` : character;
}
