/** Words as one line of shell, quoted where a shell needs it. */
export function joinShellWords(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
