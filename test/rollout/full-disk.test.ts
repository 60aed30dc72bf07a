import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createRollout, findRollout, readRollout, rolloutPath } from '../../src/rollout/index.js';
import { appendTurn, linesOf, META, nextLine, startProgram, THREAD, tempHome, turnHistory, user } from './support.js';

const STARTED = new Date(2026, 10, 29);
const PRLIMIT = '/usr/bin/prlimit';

test.runIf(existsSync('/dev/full'))(
  'on a full disk the thread goes on with one warning, and nothing is lost',
  async () => {
    const home = tempHome();
    const path = rolloutPath(home, THREAD, STARTED);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync('/dev/full', path);
    const warnings: string[] = [];
    const writer = createRollout({ home, threadId: THREAD, startedAt: STARTED, warn: text => warnings.push(text) });
    writer.append({ type: 'session_meta', payload: META });
    for (const n of [1, 2, 3]) {
      appendTurn(writer, n);
      expect(writer.flush()).toBe(false);
      expect(writer.check()).toBe('current');
    }
    expect(warnings).toEqual([expect.stringMatching(/^Cannot write .*ENOSPC/)]);

    rmSync(path);
    appendTurn(writer, 4);
    expect(writer.flush()).toBe(true);
    writer.close();
    const record = await readRollout(home, path);
    expect(record.problems).toEqual([]);
    expect(record.history).toEqual([1, 2, 3, 4].flatMap(turnHistory));
    expect(warnings).toHaveLength(1);
  },
);

test.runIf(existsSync('/dev/full'))('what waits for the disk is written by itself once there is room', async () => {
  const home = tempHome();
  const path = rolloutPath(home, THREAD, STARTED);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync('/dev/full', path);
  const writer = createRollout({ home, threadId: THREAD, startedAt: STARTED, warn: () => {} });
  writer.append({ type: 'session_meta', payload: META });
  appendTurn(writer, 1);
  writer.close();
  rmSync(path);
  await expect.poll(() => existsSync(path), { timeout: 10_000 }).toBe(true);
  expect((await readRollout(home, path)).history).toEqual(turnHistory(1));
});

test.runIf(existsSync('/dev/full'))('memory is bounded: what no resume needs is given up first', async () => {
  const home = tempHome();
  const path = rolloutPath(home, THREAD, STARTED);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync('/dev/full', path);
  const warnings: string[] = [];
  const writer = createRollout({ home, threadId: THREAD, startedAt: STARTED, warn: text => warnings.push(text) });
  writer.append({ type: 'session_meta', payload: META });
  writer.flush();
  const item = { type: 'AgentMessage', id: 'm', content: [{ type: 'Text', text: 'x'.repeat(4_000_000) }] };
  const times = { started_at_ms: 1, completed_at_ms: 2 };
  for (let n = 0; n < 20; n++) {
    writer.append({ type: 'response_item', payload: user(`kept ${n}`) });
    const payload = { type: 'item_completed', thread_id: THREAD, turn_id: 't', item, ...times } as const;
    writer.append({ type: 'event_msg', payload });
  }
  rmSync(path);
  expect(writer.flush()).toBe(true);
  writer.close();
  const record = await readRollout(home, path);
  expect(record.history).toEqual(Array.from({ length: 20 }, (_, n) => user(`kept ${n}`)));
  expect(statSync(path).size).toBeLessThan(70_000_000);
  expect(warnings).toEqual([expect.stringContaining('ENOSPC'), expect.stringContaining('given up')]);
});

test('a home that cannot be written to costs the record, not the thread', () => {
  const home = join(tempHome(), 'a-file');
  writeFileSync(home, '');
  const warnings: string[] = [];
  const writer = createRollout({ home, threadId: THREAD, startedAt: STARTED, warn: text => warnings.push(text) });
  writer.append({ type: 'session_meta', payload: META });
  writer.close();
  expect(warnings).toHaveLength(1);
});

test.runIf(existsSync(PRLIMIT))(
  'a line that was written in part when the disk became full is completed later',
  async () => {
    const home = tempHome();
    const limited = ['/bin/bash', '-c', `trap '' XFSZ; ulimit -S -f 64; exec "$0" "$@"`];
    const child = startProgram('fill-disk.program.ts', [home, THREAD], limited);
    const lines = linesOf(child);
    expect(await nextLine(lines)).toMatch(/EFBIG/);
    spawnSync(PRLIMIT, ['--pid', String(child.pid), '--fsize=unlimited']);
    child.stdin?.write('room again\n');
    const count = Number(await nextLine(lines));
    const file = await findRollout(home, THREAD);
    const record = await readRollout(home, file?.path ?? '');
    expect(record.problems).toEqual([]);
    expect(record.history).toHaveLength(count);
    expect(record.append_point.next_ordinal).toBe(count + 1);
  },
);
