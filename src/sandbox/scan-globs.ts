/** Finds on the disk what the globs of a permission profile mean. */
import { relative } from 'node:path';
import type { SandboxPolicy } from '../protocol/index.js';
import type { Problem } from './enforcement.js';
import { globDepth, globToRegExp } from './glob.js';
import type { Access } from './layout.js';

export type GlobMatch = { readonly path: string; readonly access: Access };

/** A folder with more entries than this can't be searched before every command. */
const MAX_ENTRIES = 200_000;
const MAX_MATCHES = 1000;

/** Links are not followed; folders that we can't read are left out, since the command can't read them either. */
export async function scanGlobs(policy: SandboxPolicy): Promise<{ found: GlobMatch[] } | Problem> {
  if (policy.type !== 'profile') return { found: [] };
  const found: GlobMatch[] = [];
  for (const { access, target } of policy.filesystem) {
    if (!('glob' in target)) continue;
    const paths = await findMatches(target.base, target.glob, target.max_depth);
    if (paths === null || found.length + paths.length > MAX_MATCHES) {
      return {
        cause: `the pattern ${target.base}/${target.glob} covers too many files to be looked for before every command`,
        advice: 'choose a deeper folder, set glob_scan_max_depth, or name the folders',
      };
    }
    found.push(...paths.map(path => ({ path, access })));
  }
  return { found };
}

/** Null: too much to look at. */
async function findMatches(base: string, glob: string, maxDepth = Number.POSITIVE_INFINITY): Promise<string[] | null> {
  const { fdir } = await import('fdir');
  const pattern = globToRegExp(glob);
  const stop = new AbortController();
  let entries = 0;
  const depth = Math.min(globDepth(glob), maxDepth);
  const crawler = new fdir()
    .withFullPaths()
    .withDirs()
    .withAbortSignal(stop.signal)
    .filter(path => {
      if (++entries > MAX_ENTRIES) stop.abort();
      return pattern.test(relative(base, path));
    });
  const matches = await (Number.isFinite(depth) ? crawler.withMaxDepth(depth) : crawler).crawl(base).withPromise();
  if (stop.signal.aborted) return null;
  return matches.map(path => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path));
}
