/** Words such as `$name` in a prompt that may name a skill. */

const WORD = /(?<![\w$\\{])\$([\p{L}\p{N}][\p{L}\p{N}._:-]*)/gu;

/**
 * The names, without `$`, in the order of their first mention; most will be no skills (`$PATH`, `$5`). Code is passed
 * over, since variables of scripts are written the same way; only code that is nothing but `$name` counts.
 */
export function mentionedNames(prompt: string): string[] {
  if (!prompt.includes('$')) return [];
  const names = [...withoutCode(prompt).matchAll(WORD)].flatMap(([, word = '']) => {
    const trimmed = word.replace(/[._:-]+$/, '');
    return trimmed === word ? [word] : [word, trimmed];
  });
  return [...new Set(names)];
}

function withoutCode(text: string): string {
  let fence: string | null = null;
  const lines = text.split('\n').filter(line => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null) {
      if (mark) fence = mark;
      return !mark;
    }
    if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
    return false;
  });
  return lines
    .join('\n')
    .replace(/(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, (_, _mark: string, code: string) =>
      /^\s*\$[^\s$]+\s*$/.test(code) ? ` ${code} ` : ' ',
    );
}
