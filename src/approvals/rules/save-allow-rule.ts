/** Saves a person's "always" as a rule in the agent's home. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { delay, hasCode, replaceFile } from '../../util/index.js';
import { isTooBroad } from './broad-prefix.js';

/** Where saved rules lie, below the agent's home. */
function savedRulesPath(home: string): string {
  return join(home, 'rules', 'default.rules');
}

/**
 * Adds `prefix_rule(pattern=[...], decision="allow")` to HOME/rules/default.rules, which is made when missing; a rule
 * that is there already is not added again. Readers see the old file or the new one, and several processes may save at
 * the same time. Throws when the prefix is too broad (see `isTooBroad`) or the file can't be written.
 */
export async function saveAllowRule(home: string, prefix: readonly string[]): Promise<void> {
  if (isTooBroad(prefix)) {
    throw new Error(`A rule that allows every command beginning with '${prefix.join(' ')}' is too broad to be saved.`);
  }
  const line = `prefix_rule(pattern=[${prefix.map(word => JSON.stringify(word)).join(', ')}], decision="allow")`;
  await mkdir(join(home, 'rules'), { recursive: true, mode: 0o700 });
  const path = await resolveLinks(savedRulesPath(home));
  await withLock(`${path}.lock`, () => addLine(path, line));
}

async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return path;
    throw error;
  }
}

async function addLine(path: string, line: string): Promise<void> {
  let before = '';
  let mode = 0o600;
  try {
    [before, mode] = await Promise.all([readFile(path, 'utf8'), stat(path).then(found => found.mode & 0o777)]);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  if (before.split('\n').includes(line)) return;
  const separator = before === '' || before.endsWith('\n') ? '' : '\n';
  await replaceFile(path, `${before}${separator}${line}\n`, mode);
}

/** A lock left by a process that died is broken after this time; an honest holder needs milliseconds. */
const STALE_MS = 10_000;
const RETRY_MS = 20;

/** Runs `work` while no other process holds the lock file. */
async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  while (!(await tryLock(path))) {
    if (await isStale(path)) await breakLock(path);
    else await delay(RETRY_MS);
  }
  try {
    await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.close();
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE_MS;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Renaming first: of several processes that find the same stale lock only one takes it away. */
async function breakLock(path: string): Promise<void> {
  const taken = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.stale`;
  try {
    await rename(path, taken);
    await rm(taken, { force: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
