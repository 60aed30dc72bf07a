/** AGENTS.md: what the person and the project want the agent to know. */
import path from 'node:path';
import { hasCode, messageOf } from '../util/index.js';
import { readHead } from './skills/read-head.js';

/** The person's own file has no budget; this is where it ends all the same, bytes. */
const MAX_GLOBAL = 4 * 1024 * 1024;

export type ProjectDocOptions = {
  home: string;
  cwd: string;
  projectRoot: string;
  /** Budget of the project's files together, UTF-8 bytes. The files nearest to `cwd` are kept, the farthest are cut. */
  maxBytes: number;
  fallbackFilenames: readonly string[];
  warn: (message: string) => void;
};

/** The block for the first request, or null when nobody wrote anything. */
export async function agentsMdBlock(options: ProjectDocOptions): Promise<string | null> {
  const global = await readGlobal(options);
  const project = await readProject(options);
  if (!global && !project) return null;
  const text = [global, project].filter(part => part !== '').join('\n\n--- project-doc ---\n\n');
  return `# AGENTS.md instructions for ${options.cwd}\n\n<INSTRUCTIONS>\n${text}\n</INSTRUCTIONS>`;
}

async function readGlobal({ home, warn }: ProjectDocOptions): Promise<string> {
  for (const name of ['AGENTS.override.md', 'AGENTS.md']) {
    const text = (await readText(path.join(home, name), MAX_GLOBAL, warn))?.trim();
    if (text) return text;
  }
  return '';
}

async function readProject(options: ProjectDocOptions): Promise<string> {
  const names = ['AGENTS.override.md', 'AGENTS.md', ...options.fallbackFilenames];
  const found = await Promise.all(
    directoriesDown(options.projectRoot, options.cwd).map(async directory => {
      for (const name of names) {
        const text = await readText(path.join(directory, name), options.maxBytes, options.warn);
        if (text !== null) return text.trim();
      }
      return '';
    }),
  );
  return withinBudget(
    found.filter(text => text !== ''),
    options.maxBytes,
  ).join('\n\n');
}

/** Keeps whole texts from the last (nearest) to the first; the one that no longer fits is cut, the rest dropped. */
function withinBudget(texts: string[], maxBytes: number): string[] {
  const kept: string[] = [];
  let left = maxBytes;
  for (const text of texts.toReversed()) {
    if (left <= 0) break;
    const bytes = Buffer.from(text);
    // Decoding drops nothing but can leave a replacement mark where a character was split.
    kept.unshift(bytes.length <= left ? text : bytes.toString('utf8', 0, left).replace(/\ufffd$/, ''));
    left -= bytes.length;
  }
  return kept;
}

/** The folders from `root` down to `cwd`; only `cwd` when it is not below `root`. */
export function directoriesDown(root: string, cwd: string): string[] {
  const relative = path.relative(root, cwd);
  if (relative.startsWith('..') || path.isAbsolute(relative)) return [cwd];
  const parts = relative === '' ? [] : relative.split(path.sep);
  return [root, ...parts.map((_, i) => path.join(root, ...parts.slice(0, i + 1)))];
}

async function readText(file: string, maxBytes: number, warn: (message: string) => void): Promise<string | null> {
  try {
    return (await readHead(file, maxBytes)).replace(/^\ufeff/, '');
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) warn(`${file} could not be read: ${messageOf(error)}`);
    return null;
  }
}
