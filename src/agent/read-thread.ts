/** Finds and reads a thread on disk. */
import { findRollout, readRollout, type ThreadRecord } from '../rollout/index.js';
import { messageOf } from '../util/index.js';
import { ThreadUnavailableError } from './thread.js';

/** Throws ThreadUnavailableError. */
export async function readThread(home: string, id: string): Promise<ThreadRecord> {
  const file = await findRollout(home, id);
  if (!file) {
    throw new ThreadUnavailableError(
      'not_found',
      `No thread with the id ${id} was found, neither in this server nor in ${home}.`,
    );
  }
  try {
    return await readRollout(home, file.path);
  } catch (error) {
    throw new ThreadUnavailableError('unreadable', messageOf(error));
  }
}
