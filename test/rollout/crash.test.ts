import { expect, test } from 'vitest';
import { findRollout, openRollout, readRollout } from '../../src/rollout/index.js';
import { assistant, linesOf, noWarning, startProgram, tempHome } from './support.js';

/** Kills happen after so many flushed batches; the writer runs on meanwhile, so each hits another point of a write. */
const KILL_AFTER = [1, 2, 4, 9, 17, 33];

const numberOf = (text: string) => Number(text.split(' ')[0]);

test('a killed writer loses no line that was flushed, and its thread goes on', async () => {
  const home = tempHome();
  await Promise.all(
    KILL_AFTER.map(async (batches, index) => {
      const threadId = `01a227d0-0000-7000-8000-0000000001${String(index).padStart(2, '0')}`;
      const child = startProgram('append-lines.program.ts', [home, threadId]);
      const ended = new Promise(resolve => child.once('exit', resolve));
      let flushed = -1;
      let seen = 0;
      for await (const line of linesOf(child)) {
        flushed = Number(line);
        if (++seen === batches) child.kill('SIGKILL');
      }
      await ended;

      const file = await findRollout(home, threadId);
      const record = await readRollout(home, file?.path ?? '');
      const numbers = record.history.map(item =>
        item.type === 'message' && item.content[0]?.type === 'output_text' ? numberOf(item.content[0].text) : -1,
      );
      expect(numbers.length).toBeGreaterThan(flushed);
      expect(numbers).toEqual([...Array(numbers.length).keys()]);
      expect(record.problems.length).toBeLessThanOrEqual(1);

      const writer = openRollout(record.append_point, { warn: noWarning });
      writer.append({ type: 'response_item', payload: assistant('goes on') });
      writer.close();
      const again = await readRollout(home, file?.path ?? '');
      expect(again.history.slice(0, -1)).toEqual(record.history);
      expect(again.history.at(-1)).toEqual(assistant('goes on'));
    }),
  );
});
