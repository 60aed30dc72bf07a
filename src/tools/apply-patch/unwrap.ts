/** Takes a patch out of what models wrap around it. */

/** `a\r\nb\n` -> `["a", "b"]`, without blank lines at both ends and without fences, here-documents and indentation. */
export function unwrapPatch(text: string): string[] {
  let lines = trimBlankLines(
    text
      .replace(/^\uFEFF/, '')
      .split('\n')
      .map(line => (line.endsWith('\r') ? line.slice(0, -1) : line)),
  );
  for (;;) {
    const inner = insideFence(lines) ?? insideHereDocument(lines);
    if (!inner) return dedent(lines);
    lines = trimBlankLines(inner);
  }
}

const isBlank = (line: string | undefined) => line !== undefined && line.trim() === '';

function trimBlankLines(lines: string[]): string[] {
  let from = 0;
  let to = lines.length;
  while (from < to && isBlank(lines[from])) from++;
  while (to > from && isBlank(lines[to - 1])) to--;
  return lines.slice(from, to);
}

function insideFence(lines: readonly string[]): string[] | null {
  const fence = /^\s*(`{3,}|~{3,})[\w+.-]*\s*$/.exec(lines[0] ?? '')?.[1];
  return fence && lines.length > 1 && lines.at(-1)?.trim() === fence ? lines.slice(1, -1) : null;
}

/** The wrapper of a shell, with or without the program's name, in a call that needs no shell. */
function insideHereDocument(lines: readonly string[]): string[] | null {
  const start = /^\s*(?:(?:apply_patch|applypatch)\s*)?<<-?\s*(['"]?)(\w+)\1\s*$/.exec(lines[0] ?? '');
  return start && lines.length > 1 && lines.at(-1)?.trim() === start[2] ? lines.slice(1, -1) : null;
}

/**
 * Removes the indentation of the first line when every line has it: a patch indented as a whole. Read as it stands such
 * a patch could only hold context lines, so nothing that changes a file is read in two ways.
 */
function dedent(lines: string[]): string[] {
  const indent = /^\s*/.exec(lines[0] ?? '')?.[0] ?? '';
  if (indent === '' || !lines.every(line => isBlank(line) || line.startsWith(indent))) return lines;
  return lines.map(line => line.slice(indent.length));
}
