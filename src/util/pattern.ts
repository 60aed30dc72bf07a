/**
 * A regular expression as configuration files have it. Flags may stand in front, `(?i)` or `(?im)`, as other programs
 * write them. Throws SyntaxError.
 */
export function parsePattern(source: string): RegExp {
  const [, flags, rest] = /^\(\?([ims]+)\)([\s\S]*)$/.exec(source) ?? [];
  return flags === undefined ? new RegExp(source) : new RegExp(rest ?? '', [...new Set(flags)].join(''));
}
