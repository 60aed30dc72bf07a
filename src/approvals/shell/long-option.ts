/** True when `word` is the long option `option` (`--output`), with a value or abbreviated as option parsers allow. */
export function isLongOption(word: string, option: string): boolean {
  const end = word.indexOf('=');
  const name = end < 0 ? word : word.slice(0, end);
  return name.length > 2 && option.startsWith(name);
}
