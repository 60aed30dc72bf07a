import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RunningCommand } from '../../src/protocol/index.js';
import { runToEnd, type Sandbox } from '../../src/sandbox/index.js';
import { processesWith, uniqueSeconds } from '../support/processes.js';
import { until } from '../support/until.js';
import { bash, exited, makePlace, openSandbox, type Place, run } from './support.js';

async function start(sandbox: Sandbox, place: Place, line: string, changes = {}): Promise<RunningCommand> {
  const command = await sandbox.start(bash(place, line, changes));
  if ('type' in command) throw new Error(command.message);
  return command;
}

describe('a command without a sandbox', () => {
  test('stdout, stderr and the exit code arrive', async () => {
    const place = makePlace();
    const ran = await run(openSandbox(place), bash(place, 'echo out; echo err >&2; exit 3'));
    expect(ran).toEqual({ result: exited(3), stdout: 'out\n', stderr: 'err\n' });
  });

  test('a death by signal is reported as in a shell', async () => {
    const place = makePlace();
    const ran = await run(openSandbox(place), bash(place, 'kill -KILL $$'));
    expect(ran.result).toEqual(exited(137, 'SIGKILL'));
  });

  test('/dev/stdout, /dev/stderr and /dev/stdin can be opened by name', async () => {
    const place = makePlace();
    const { result, stdout, stderr } = await runToEnd(
      openSandbox(place),
      bash(place, 'cat /dev/stdin > /dev/stdout; echo e > /dev/stderr'),
      { timeoutMs: 10_000, maxBytes: 100, input: 'in' },
    );
    expect([result, String(stdout), String(stderr)]).toEqual([exited(0), 'in', 'e\n']);
  });

  test('merged output keeps its order', async () => {
    const place = makePlace();
    const line = 'for i in 1 2 3 4 5 6 7 8; do echo $i; echo $i >&2; done';
    const ran = await run(openSandbox(place), bash(place, line, { merge_output: true }));
    expect(ran.stdout).toBe([1, 2, 3, 4, 5, 6, 7, 8].map(i => `${i}\n${i}\n`).join(''));
  });

  test('standard input is at its end unless asked for', async () => {
    const place = makePlace();
    const ran = await run(openSandbox(place), bash(place, 'readlink /proc/self/fd/0; read x || echo end'));
    expect(ran.stdout).toBe('/dev/null\nend\n');
  });

  test('input can be written while it runs, and closed', async () => {
    const place = makePlace();
    const command = await start(openSandbox(place), place, 'read a; echo "got $a"; cat', { stdin: 'pipe' });
    let output = '';
    command.onOutput(chunk => {
      output += chunk;
    });
    await command.write('one\n');
    await until(() => output === 'got one\n');
    await command.write('two');
    command.closeStdin();
    expect(await command.ended).toEqual(exited(0));
    expect(output).toBe('got one\ntwo');
  });

  test('writing to a command that has ended is an error of that write alone', async () => {
    const place = makePlace();
    const command = await start(openSandbox(place), place, 'exec 0<&-; exit 0', { stdin: 'pipe' });
    await command.ended;
    await expect(command.write('x')).rejects.toThrow(/closed/);
  });

  test('the environment is the given one and a mark', async () => {
    const place = makePlace();
    const ran = await run(openSandbox(place), bash(place, '', { argv: ['/usr/bin/env'], env: { A: '1' } }));
    expect(ran.stdout).toMatch(/^A=1\nOPEN_INTERPRETER_COMMAND=[\w.-]+\n$/);
  });

  test('no descriptor besides the standard ones is inherited', async () => {
    const place = makePlace();
    const line = 'for f in /proc/self/fd/*; do readlink $f; done | grep -v -e pipes/ -e /proc -e /dev/null -e pipe:';
    expect((await run(openSandbox(place), bash(place, line))).stdout).toBe('');
  });

  test('a program that does not exist is told as missing', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    expect((await run(sandbox, bash(place, '', { argv: ['no-such-program'] }))).result).toEqual({
      type: 'not_started',
      reason: 'missing',
      message: 'no-such-program: command not found.',
    });
  });

  test('a working directory that does not exist is named', async () => {
    const place = makePlace();
    const { result } = await run(openSandbox(place), bash(place, 'true', { cwd: `${place.root}/nope` }));
    expect(result).toEqual({
      type: 'not_started',
      reason: 'spawn',
      message: `The working directory ${place.root}/nope does not exist or is no directory.`,
    });
  });

  test('too long an argument list is explained', async () => {
    const place = makePlace();
    const { result } = await run(openSandbox(place), bash(place, '', { argv: ['/bin/echo', 'x'.repeat(3_000_000)] }));
    expect(result).toMatchObject({ type: 'not_started', reason: 'spawn', message: /too long/ });
  });

  test('100 MB of output pass through without being kept', async () => {
    const place = makePlace();
    const command = await start(openSandbox(place), place, 'head -c 100000000 /dev/zero');
    let bytes = 0;
    let most = 0;
    const before = process.memoryUsage().rss;
    command.onOutput(chunk => {
      bytes += chunk.length;
      most = Math.max(most, process.memoryUsage().rss - before);
    });
    await command.ended;
    expect(bytes).toBe(100_000_000);
    expect(most).toBeLessThan(60_000_000);
  });
});

describe('processes in the background', () => {
  test('the end does not wait for one that holds the output, and its later output still arrives', async () => {
    const place = makePlace();
    const command = await start(
      openSandbox(place),
      place,
      '(while [ ! -e go ]; do sleep 0.02; done; echo late; sleep 60) & echo hi',
    );
    let output = '';
    command.onOutput(chunk => {
      output += chunk;
    });
    expect(await command.ended).toEqual(exited(0));
    expect(output).toBe('hi\n');
    writeFileSync(join(place.ws, 'go'), '');
    await until(() => output === 'hi\nlate\n');
    command.kill('aborted');
  });

  test('one that never stops writing does not hold up the end, and is made to wait', async () => {
    const place = makePlace();
    const command = await start(openSandbox(place), place, 'yes & echo hi');
    let bytes = 0;
    command.onOutput(chunk => {
      bytes += chunk.length;
    });
    expect(await command.ended).toEqual(exited(0));
    const soon = async () => {
      const before = bytes;
      await sleep(50);
      return bytes - before;
    };
    while ((await soon()) > 0);
    expect(bytes).toBeLessThan(16 * 1024 * 1024);
    command.kill('aborted', 0);
  });

  test('closing ends those that earlier commands have left', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const seconds = uniqueSeconds();
    await run(sandbox, bash(place, `nohup sleep ${seconds} >/dev/null 2>&1 & setsid sleep ${seconds} & echo`));
    await until(() => processesWith(seconds).length === 2);
    await sandbox.close();
    expect(processesWith(seconds)).toEqual([]);
  });

  test('killAllNow ends everything without waiting', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const seconds = uniqueSeconds();
    const command = await start(sandbox, place, `setsid sleep ${seconds} & sleep ${seconds}; true`);
    await until(() => processesWith(`sleep ${seconds}`).length >= 2);
    sandbox.killAllNow();
    expect(await command.ended).toEqual(exited(137, 'SIGKILL'));
    await until(() => processesWith(seconds).length === 0);
  });

  test('nothing is started any more after closing', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    await sandbox.close();
    expect(await sandbox.start(bash(place, 'true'))).toMatchObject({ type: 'not_started', message: /shutting down/ });
  });

  test('a command that is being started while everything is closed does not survive', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const seconds = uniqueSeconds();
    const starting = sandbox.start(bash(place, `sleep ${seconds}`));
    await sandbox.close();
    const command = await starting;
    if (!('type' in command)) await command.ended;
    expect(processesWith(seconds)).toEqual([]);
  });

  test('twenty commands leave no zombies', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    for (let i = 0; i < 20; i++) await run(sandbox, bash(place, 'true & false'));
    const { stdout } = await run(
      sandbox,
      bash(
        place,
        `grep -l '^PPid:[[:space:]]*${process.pid}$' /proc/[0-9]*/status | xargs grep -h '^State' | grep -c Z`,
      ),
    );
    expect(stdout).toBe('0\n');
  });
});

describe('kill', () => {
  test('ends the whole tree, also what has left its session or ignores TERM', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const line = `trap "" TERM; setsid sleep ${seconds} & (setsid bash -c "trap '' TERM; sleep ${seconds}; true" &) ; (sleep ${seconds} & sleep ${seconds}; wait) | cat`;
    const command = await start(openSandbox(place), place, line);
    await until(() => processesWith(`sleep ${seconds}`).length >= 5);
    command.kill('aborted', 50);
    expect(await command.ended).toEqual({ type: 'aborted' });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('gives a program the time to put things in order', async () => {
    const place = makePlace();
    const command = await start(
      openSandbox(place),
      place,
      'trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done',
    );
    let output = '';
    command.onOutput(chunk => {
      output += chunk;
    });
    await until(() => output === 'ready\n');
    command.kill('timed_out', 5000);
    expect(await command.ended).toEqual({ type: 'timed_out' });
    expect(output).toContain('bye');
  });

  test('is idempotent, and the first reason counts', async () => {
    const place = makePlace();
    const command = await start(openSandbox(place), place, 'sleep 60');
    command.kill('timed_out');
    command.kill('aborted');
    expect(await command.ended).toEqual({ type: 'timed_out' });
    command.kill('aborted');
  });

  test('after the end it still ends what was left in the background', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const command = await start(openSandbox(place), place, `env -i sleep ${seconds} & setsid sleep ${seconds} & echo`);
    expect(await command.ended).toEqual(exited(0));
    await until(() => processesWith(`sleep ${seconds}`).length === 2);
    command.kill('aborted', 0);
    await until(() => processesWith(seconds).length === 0);
  });

  test('a fork bomb of processes that start others is ended', async () => {
    const place = makePlace();
    const seconds = uniqueSeconds();
    const line = `f() { sleep ${seconds} & if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; wait; }; f 5`;
    const command = await start(openSandbox(place), place, line);
    await until(() => processesWith(`sleep ${seconds}`).length > 20);
    command.kill('aborted', 0);
    await command.ended;
    expect(processesWith(seconds)).toEqual([]);
  });
});

describe('runToEnd', () => {
  test('a time limit is told apart from an abort', async () => {
    const place = makePlace();
    const sandbox = openSandbox(place);
    const options = { maxBytes: 100 };
    expect((await runToEnd(sandbox, bash(place, 'echo x; sleep 60'), { ...options, timeoutMs: 300 })).result).toEqual({
      type: 'timed_out',
    });
    const stop = new AbortController();
    const running = runToEnd(sandbox, bash(place, 'touch started; sleep 60'), {
      ...options,
      timeoutMs: 20_000,
      signal: stop.signal,
    });
    await until(() => existsSync(join(place.ws, 'started')));
    stop.abort();
    expect((await running).result).toEqual({ type: 'aborted' });
    expect(
      (await runToEnd(sandbox, bash(place, 'true'), { ...options, timeoutMs: 1000, signal: stop.signal })).result,
    ).toEqual({ type: 'aborted' });
  });

  test('no more than maxBytes is kept', async () => {
    const place = makePlace();
    const { result, stdout } = await runToEnd(openSandbox(place), bash(place, 'head -c 100000 /dev/zero'), {
      timeoutMs: 10_000,
      maxBytes: 1000,
    });
    expect([result, stdout.length]).toEqual([exited(0), 1000]);
  });

  test('input that nobody reads is no error', async () => {
    const place = makePlace();
    const { result } = await runToEnd(openSandbox(place), bash(place, 'exit 4'), {
      timeoutMs: 10_000,
      maxBytes: 10,
      input: 'x'.repeat(1_000_000),
    });
    expect(result).toEqual(exited(4));
  });
});
