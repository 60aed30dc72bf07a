/** Small pieces of text for people: commands, paths, counts of changed lines. */
import { isAbsolute, relative } from 'node:path';
import type { FileChange } from '../protocol/index.js';
import { joinShellWords } from '../util/index.js';

/** The script of a shell call, else the words of the command, quoted where a shell needs it. */
export function commandText(argv: readonly string[]): string {
  const [program, flag, script] = argv;
  const isShell = program !== undefined && /(?:^|\/)(?:ba|z|da|k|fi)?sh$/.test(program);
  if (isShell && argv.length === 3 && script !== undefined && (flag === '-c' || flag === '-lc')) return script;
  return joinShellWords(argv);
}

/**
 * `text` with everything spelled out that a screen would act upon or show as something else: control characters but
 * line ends and tabs, and the marks that change the direction of text.
 */
export function visible(text: string): string {
  return text.replace(ACTS_ON_SCREEN, character => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}

const ACTS_ON_SCREEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Relative to `cwd` where the path is below it. */
export function displayPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  return below === '' || below.startsWith('..') || isAbsolute(below) ? path : below;
}

/** `text` in one line of at most `max` characters. */
export function oneLine(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** `text` with its middle left out when it is longer than `max` characters; the cut is named. */
export function abridged(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters left out …\n${text.slice(-half)}`;
}

/** One line per changed file: `A new.txt (+3)`, `M a.ts (+2 -1)`, `D old.txt (-7)`, `M a.ts -> b.ts (+0 -0)`. */
export function changeLines(changes: Readonly<Record<string, FileChange>>, cwd: string): string[] {
  return Object.entries(changes).map(([path, change]) => changeLine(displayPath(path, cwd), change, cwd));
}

function changeLine(path: string, change: FileChange, cwd: string): string {
  switch (change.type) {
    case 'add':
      return `A ${path} (+${countLines(change.content)})`;
    case 'delete':
      return `D ${path} (-${countLines(change.content)})`;
    case 'update': {
      const lines = change.unified_diff.split('\n');
      const added = lines.filter(line => line.startsWith('+')).length;
      const removed = lines.filter(line => line.startsWith('-')).length;
      const moved = change.move_path === null ? '' : ` -> ${displayPath(change.move_path, cwd)}`;
      return `M ${path}${moved} (+${added} -${removed})`;
    }
  }
}

function countLines(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
