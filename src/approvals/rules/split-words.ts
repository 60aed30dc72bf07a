/** Words of a line with shell quoting and nothing else: no operators, no expansions. Null when a quote is open. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let current: string | null = null;
  const pieces = /\s+|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)/y;
  for (let at = 0; at < line.length; at = pieces.lastIndex) {
    pieces.lastIndex = at;
    const piece = pieces.exec(line);
    if (piece === null) return null;
    const [whole, single, double, escaped, bare] = piece;
    if (/^\s/.test(whole)) {
      if (current !== null) words.push(current);
      current = null;
    } else {
      current = (current ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? bare ?? '');
    }
  }
  return current === null ? words : [...words, current];
}
