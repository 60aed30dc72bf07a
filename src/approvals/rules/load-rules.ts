/** Reads `.rules` files from disk. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, messageOf } from '../../util/index.js';
import { type RulesFile, readRules } from './read-rules.js';
import { mergeRules, NO_RULES, type Rules } from './rules.js';

export type LoadedRules = {
  readonly rules: Rules;
  /**
   * One line per file or folder that can't be used: `path:line:col: what is wrong`. Such a file still restricts as far
   * as it could be read, and allows nothing.
   */
  readonly problems: readonly string[];
};

/** All `*.rules` files of the folders, in the order of the folders and of the file names. Missing folders are empty. */
export async function loadRules(folders: readonly string[]): Promise<LoadedRules> {
  const listings = await Promise.all(folders.map(listRulesFiles));
  const loaded = await loadRulesFiles(listings.flatMap(listing => listing.paths));
  return { rules: loaded.rules, problems: [...listings.flatMap(listing => listing.problems), ...loaded.problems] };
}

/** The given files; a missing one is a problem. */
export async function loadRulesFiles(paths: readonly string[]): Promise<LoadedRules> {
  const files = await Promise.all(paths.map(loadFile));
  return {
    rules: mergeRules(files.map(file => file.rules)),
    problems: files.flatMap(file => (file.problem === null ? [] : [file.problem])),
  };
}

async function listRulesFiles(folder: string): Promise<{ paths: string[]; problems: string[] }> {
  try {
    const names = await readdir(folder);
    const paths = names.filter(name => name.endsWith('.rules')).toSorted();
    return { paths: paths.map(name => join(folder, name)), problems: [] };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { paths: [], problems: [] };
    return { paths: [], problems: [`${folder}:1:1: the rules in this folder can't be listed: ${messageOf(error)}`] };
  }
}

async function loadFile(path: string): Promise<RulesFile> {
  try {
    return readRules(await readFile(path, 'utf8'), path);
  } catch (error) {
    return { rules: NO_RULES, problem: `${path}:1:1: can't be read: ${messageOf(error)}` };
  }
}
