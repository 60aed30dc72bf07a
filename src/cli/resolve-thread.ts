/** Which thread a person means. */
import { findRollout, isThreadId, listRollouts, type RolloutFile } from '../rollout/index.js';
import { Refusal } from './refusing.js';

/** The file of the one thread with this id or this beginning of an id. Throws Refusal. */
export async function resolveThread(home: string, id: string): Promise<RolloutFile> {
  const wanted = id.toLowerCase();
  const whole = isThreadId(wanted) ? await findRollout(home, wanted) : null;
  if (whole !== null) return whole;
  if (!/^[0-9a-f][0-9a-f-]*$/.test(wanted)) throw new Refusal(`${id} is no thread id.`);
  const found = [...new Set((await listRollouts(home)).map(file => file.thread_id))].filter(one =>
    one.startsWith(wanted),
  );
  const [only] = found;
  if (found.length > 1) throw new Refusal(`${id} is the beginning of ${found.length} threads: ${found.join(', ')}`);
  const file = only === undefined ? null : await findRollout(home, only);
  if (file === null) throw new Refusal(`No thread with the id ${id} was found in ${home}.`);
  return file;
}
