/**
 * The head of a SKILL.md: `key: value` lines between two `---`. Understands the part of YAML that people use there
 * (quotes, `|` and `>` blocks, continued lines, comments) and passes over the rest: lists and nested tables are no texts.
 */

export type FrontMatter = {
  /** Top-level texts by key. */
  readonly fields: ReadonlyMap<string, string>;
  /** What follows the head. */
  readonly body: string;
};

/** Null when the text does not begin with a head, or the head has no end. Never throws. */
export function parseFrontMatter(text: string): FrontMatter | null {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  if (lines[0]?.trimEnd() !== '---') return null;
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return null;
  return { fields: readFields(lines.slice(1, end)), body: lines.slice(end + 1).join('\n') };
}

function readFields(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < lines.length; ) {
    const match = /^(["']?)([A-Za-z_][\w.-]*)\1\s*:(?:\s+(.*)|\s*)$/.exec(lines[at] ?? '');
    at++;
    if (!match) continue;
    const begin = at;
    while (at < lines.length && /^(\s|$)/.test(lines[at] ?? '')) at++;
    const value = readValue(match[3] ?? '', lines.slice(begin, at));
    if (value !== null) fields.set(match[2] ?? '', value);
  }
  return fields;
}

/** `first`: what stands behind the colon; `more`: the indented and blank lines below it. Null for what is no text. */
function readValue(first: string, more: readonly string[]): string | null {
  const block = /^([|>])[-+0-9]*\s*(#.*)?$/.exec(first);
  if (block) return readBlock(more, block[1] === '>');
  const quote = /^["']/.exec(first)?.[0];
  const joined = fold([first, ...more]);
  if (quote === '"') return readDoubleQuoted(joined);
  if (quote === "'") return /^'((?:[^']|'')*)'/.exec(joined)?.[1]?.replaceAll("''", "'") ?? joined.slice(1);
  const plain = fold([first, ...more].map(withoutComment));
  if (/^[[{&*!]/.test(plain) || (first === '' && /^(- |[\w.-]+:(\s|$))/.test(plain))) return null;
  return plain;
}

function withoutComment(line: string): string {
  return line.replace(/(^|\s)#.*$/, '');
}

function fold(lines: readonly string[]): string {
  return lines
    .map(line => line.trim())
    .filter(line => line !== '')
    .join(' ');
}

function readBlock(lines: readonly string[], folded: boolean): string {
  const indent = Math.min(
    ...lines.filter(line => line.trim() !== '').map(line => line.length - line.trimStart().length),
  );
  const texts = lines.map(line => (Number.isFinite(indent) ? line.slice(indent) : '').trimEnd());
  if (!folded) return texts.join('\n').trimEnd();
  return texts
    .join('\n')
    .trimEnd()
    .replace(/([^\n])\n(?!\n)/g, '$1 ');
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['0', ''],
]);

function readDoubleQuoted(text: string): string {
  const inner = /^"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? '';
  return inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code: string | undefined, one: string | undefined) =>
    code === undefined ? (ESCAPES.get(one ?? '') ?? one ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
