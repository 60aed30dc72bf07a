/** Words as a line for a person, quoted as a shell would need them. */
export function joinWords(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

function quote(word: string): string {
  return /^[A-Za-z0-9_./=:,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
