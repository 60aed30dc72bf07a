/** Patches that come as a shell command, as models do by habit. */

type PatchCommand = {
  readonly patch: string;
  /** The directory of `cd DIR &&` as written; null = none. */
  readonly cwd: string | null;
};

/**
 * The patch of a script that is nothing but `[cd DIR &&] apply_patch` with a here-document or one quoted argument; null
 * for every other script. The text is taken as it stands: nothing in a here-document is expanded, quoted delimiter or
 * not, because a patch is never meant to be. (`applypatch` is another name of the same program.)
 */
export function recognisePatchCommand(script: string): PatchCommand | null {
  const text = script.replace(/\r\n/g, '\n').trim();
  const cd = /^cd[ \t]+('[^'\n]*'|"[^"\n$`\\]*"|[\w./@%+=:,][\w./@%+=:,-]*)[ \t]*&&\s*/.exec(text);
  const command = /^(?:apply_patch|applypatch)(?=[ \t<])/.exec(cd ? text.slice(cd[0].length) : text);
  if (!command) return null;
  const cwd = cd ? (cd[1] ?? '').replace(/^(['"])(.*)\1$/, '$2') : null;
  if (cwd === '') return null;
  const rest = text.slice((cd?.[0].length ?? 0) + command[0].length).replace(/^[ \t]+/, '');
  const patch = hereDocument(rest) ?? quotedArgument(rest);
  return patch === null || !patch.includes('*** ') ? null : { patch, cwd };
}

function hereDocument(text: string): string | null {
  const start = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n$`\\]+)"|\\?([\w.]+))[ \t]*\n/.exec(text);
  if (!start) return null;
  const delimiter = start[2] ?? start[3] ?? start[4];
  const stripTabs = start[1] === '-';
  const lines = text
    .slice(start[0].length)
    .split('\n')
    .map(line => (stripTabs ? line.replace(/^\t+/, '') : line));
  // The shell ends the document at the first such line; anything behind it would be another command.
  return lines.indexOf(delimiter ?? '') === lines.length - 1 ? lines.slice(0, -1).join('\n') : null;
}

function quotedArgument(text: string): string | null {
  const inner = text.slice(1, -1);
  if (text.length < 2 || text[0] !== text.at(-1)) return null;
  if (text[0] === "'") {
    const parts = inner.split("'\\''");
    return parts.some(part => part.includes("'")) ? null : parts.join("'");
  }
  return text[0] === '"' ? doubleQuoted(inner) : null;
}

/** null where the shell would expand something or the quotes end early. */
function doubleQuoted(inner: string): string | null {
  const unescaped = inner.replaceAll('\\\\', '__');
  if (/(^|[^\\])["$`]/.test(unescaped) || unescaped.endsWith('\\')) return null;
  return inner.replace(/\\([\\"$`\n])/g, (_, char: string) => (char === '\n' ? '' : char));
}
