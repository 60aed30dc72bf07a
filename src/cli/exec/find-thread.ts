/** Which thread `resume` and `fork` mean. */
import { realpathSync } from 'node:fs';
import type { Config } from '../../config/index.js';
import { findRollout } from '../../rollout/index.js';
import { allThreads } from '../all-threads.js';
import { ExitError } from '../exit-error.js';

/** The id of an existing thread, in the form it has inside. `what`: the command, for messages. Throws ExitError. */
export async function findThread(home: string, id: string, what: 'resume' | 'fork'): Promise<string> {
  const wanted = id
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, '');
  const file = await findRollout(home, wanted);
  if (file) return file.thread_id;
  throw new ExitError(1, `Error: cannot ${what} ${id}: no rollout found for thread id ${id} in ${home}.`);
}

/** The id of the thread used last with the present provider: in the present directory, or with `all` anywhere. Throws ExitError. */
export async function findLastThread(config: Config, all: boolean, warn: (message: string) => void): Promise<string> {
  const here = realPath(config.cwd);
  const place = { home: config.home, sqliteHome: config.sqlite_home };
  const threads = await allThreads(place, { model_provider: config.provider.id }, warn);
  const last = threads.find(thread => all || realPath(thread.cwd) === here);
  if (last) return last.id;
  const where = all ? `in ${config.home}` : `of the directory ${config.cwd} (--all looks at every directory)`;
  throw new ExitError(1, `Error: there is no thread to resume ${where} that uses the provider ${config.provider.id}.`);
}

function realPath(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    // It is gone; its name has to do.
    return folder;
  }
}
