import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/protocol/index.js';
import { AgentWorld, runTurn, type Turn } from '../support/agent-world.js';
import { isAlive } from '../support/processes.js';
import { type ModelAnswerScript, outputOf } from '../support/scripted-provider.js';
import { until } from '../support/until.js';

/** One turn; `output` gives what the model was told about a call. */
async function turnOf(answers: ModelAnswerScript[], c: string[] = []) {
  const world = new AgentWorld(answers);
  const turn = await runTurn(await world.thread({ c }), 'go');
  return { world, turn, output: (id: string) => outputOf(world.provider.requests.at(-1), id) ?? '' };
}

const chunk = String.raw`Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\n`;

/** The session id that a call was told. */
const sessionIn = (text: string | undefined): number => Number(/session ID (\d+)/.exec(text ?? '')?.[1]);

function commands(turn: Turn) {
  return turn.items.filter(item => item.type === 'command_execution');
}

function outputEvents(events: readonly Event[]): string {
  const chunks = events.flatMap(event => (event.type === 'command.output' ? [Buffer.from(event.chunk, 'base64')] : []));
  return Buffer.concat(chunks).toString('utf8');
}

describe('a command that ends', () => {
  it('tells its exit code and all it printed, and is one item', async () => {
    const { turn, output, world } = await turnOf([[{ shell: 'echo out; echo err >&2; exit 3', id: 'c' }]]);
    expect(output('c')).toMatch(
      new RegExp(`^${chunk}Process exited with code 3\nOriginal token count: 2\nOutput:\nout\nerr\n$`),
    );
    expect(commands(turn)).toEqual([
      {
        type: 'command_execution',
        id: 'c',
        process_id: expect.stringMatching(/^\d+$/),
        command: ['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'],
        cwd: world.cwd,
        parsed: expect.any(Array),
        source: 'unified_exec_startup',
        status: 'failed',
        aggregated_output: 'out\nerr\n',
        exit_code: 3,
        duration_ms: expect.any(Number),
      },
    ]);
    expect(outputEvents(turn.events)).toBe('out\nerr\n');
  });

  it('may have null for every argument that can be left out', async () => {
    const left = ['workdir', 'shell', 'login', 'tty', 'yield_time_ms', 'max_output_tokens', 'sandbox_permissions'];
    const others = [...left, 'justification', 'prefix_rule'].map(name => [name, null]);
    const args = { cmd: 'echo done', ...Object.fromEntries(others) };
    const { output } = await turnOf([[{ call: 'exec_command', args, id: 'c' }]]);
    expect(output('c')).toMatch(new RegExp(`^${chunk}Process exited with code 0\n.*\nOutput:\ndone\n$`));
  });

  it('keeps the order of what it prints on both streams', async () => {
    const script = 'i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done';
    const { turn } = await turnOf([[{ shell: script }]]);
    const expected = Array.from({ length: 200 }, (_, i) => `o${i}\ne${i}\n`).join('');
    expect(commands(turn)[0]).toMatchObject({ aggregated_output: expected });
  });

  it('that a signal killed is told with the signal', async () => {
    const { output } = await turnOf([[{ shell: 'echo before; kill -9 $$', id: 'c' }]]);
    expect(output('c')).toContain('Process exited with code 137 (killed by signal SIGKILL)');
    expect(output('c')).toContain('before');
  });

  it('has no standard input to wait for', async () => {
    const { output } = await turnOf([[{ shell: 'cat; read -r x || echo "end of input"', id: 'c' }]]);
    expect(output('c')).toMatch(/Process exited with code 0[\s\S]*end of input/);
  });

  it('may print bytes that are no text', async () => {
    const { output, turn } = await turnOf([[{ shell: String.raw`printf 'a\377\000\302b\n'`, id: 'c' }]]);
    expect(output('c')).toContain('Output:\na\ufffd\0\ufffdb\n');
    expect(commands(turn)[0]).toMatchObject({ exit_code: 0 });
  });

  it('runs where workdir says, and is not run where that is no folder', async () => {
    const world = new AgentWorld([
      [
        { shell: 'pwd', id: 'in', args: { workdir: 'sub' } },
        { shell: 'touch ran', id: 'missing', args: { workdir: 'nowhere' } },
        { shell: 'touch ran', id: 'file', args: { workdir: 'file.txt' } },
      ],
    ]);
    world.write('work/sub/x', '');
    world.write('work/file.txt', '');
    const turn = await runTurn(await world.thread(), 'go');
    const told = (id: string) => outputOf(world.provider.requests[1], id);
    expect(told('in')).toContain(`Output:\n${world.cwd}/sub\n`);
    expect(told('missing')).toContain(`workdir ${world.cwd}/nowhere does not exist`);
    expect(told('file')).toContain(`workdir ${world.cwd}/file.txt is not a directory`);
    expect(commands(turn)).toHaveLength(1);
  });

  it('whose shell does not exist is answered, and the turn goes on', async () => {
    const { output, turn } = await turnOf([[{ shell: 'true', id: 'c', args: { shell: '/no/such/shell' } }]]);
    expect(output('c')).toContain('The command was not run: /no/such/shell: command not found.');
    expect(turn).toMatchObject({ status: 'completed', content: 'done' });
  });
});

describe('a command that takes longer than yield_time_ms', () => {
  it('goes on as a session that can be polled until its end', async () => {
    const shell = 'echo first; while [ ! -e go ]; do sleep 0.02; done; echo second; exit 4';
    const world = new AgentWorld([[{ shell, id: 'a', args: yieldMs(250) }]]);
    world.provider.add(request => {
      world.write('work/go', '');
      const session_id = sessionIn(outputOf(request, 'a'));
      return [{ call: 'write_stdin', id: 'b', args: { session_id, yield_time_ms: 5000 } }];
    });
    const turn = await runTurn(await world.thread(), 'go');
    const [a = '', b = ''] = ['a', 'b'].map(id => outputOf(world.provider.requests[2], id));
    expect(a).toMatch(
      new RegExp(`^${chunk}Process running with session ID \\d+\nOriginal token count: \\d+\nOutput:\n`),
    );
    expect(b).toMatch(new RegExp(`^${chunk}Process exited with code 4\nOriginal token count: \\d+\nOutput:\n`));
    expect(`${a.split('Output:\n')[1]}${b.split('Output:\n')[1]}`).toBe('first\nsecond\n');
    expect(commands(turn)).toMatchObject([{ id: 'a', exit_code: 4, aggregated_output: 'first\nsecond\n' }]);
  });

  it('and ends before it is polled still tells its last output and exit code, once', async () => {
    const waits = 'while [ ! -e go ]; do sleep 0.02; done; echo late; exit 5';
    const world = new AgentWorld([[{ shell: waits, id: 'a', args: yieldMs(250) }]]);
    const poll =
      (id: string): ModelAnswerScript =>
      request => {
        world.write('work/go', '');
        const session_id = sessionIn(outputOf(request, 'a'));
        return [{ until: until(() => ended) }, { call: 'write_stdin', id, args: { session_id } }];
      };
    let ended = false;
    world.provider.add(poll('b'), poll('c'));
    await runTurn(await world.thread(), 'go', {
      onEvent: event => {
        if (event.type === 'item.completed' && event.item.type === 'command_execution') ended = true;
      },
    });
    const told = (id: string) => outputOf(world.provider.requests[3], id);
    expect(told('b')).toMatch(/Process exited with code 5\nOriginal token count: 2\nOutput:\nlate\n$/);
    expect(told('c')).toMatch(/^write_stdin failed: Unknown process id \d+/);
  });

  it('and ends between two turns tells the next turn', async () => {
    const shell = 'while [ ! -e go ]; do sleep 0.02; done; echo late; touch over';
    const world = new AgentWorld([[{ shell, id: 'a', args: yieldMs(250) }]]);
    const thread = await world.thread();
    const first = await runTurn(thread, 'one');
    expect(commands(first)).toEqual([]);
    expect(first.events.at(-1)?.type).toBe('turn.completed');
    const seen = first.events.length;
    world.write('work/go', '');
    await until(() => exists(world, 'over'));
    world.provider.add(request => [
      { call: 'write_stdin', id: 'b', args: { session_id: sessionIn(outputOf(request, 'a')) } },
    ]);
    const second = await runTurn(thread, 'two');
    expect(first.events).toHaveLength(seen);
    expect(commands(second)).toMatchObject([{ id: 'a', exit_code: 0, aggregated_output: 'late\n' }]);
    expect(outputOf(world.provider.requests.at(-1), 'b')).toMatch(/Process exited with code 0[\s\S]*late\n$/);
  });

  it('never has a character split between two reports', async () => {
    const script = String.raw`printf 'a\303'; touch half; while [ ! -e go ]; do sleep 0.02; done; printf '\251b'`;
    const world = new AgentWorld([[{ shell: script, id: 'a', args: yieldMs(1000) }]]);
    world.provider.add(request => [
      { until: until(() => exists(world, 'half')).then(() => world.write('work/go', '')) },
      { call: 'write_stdin', id: 'b', args: { session_id: sessionIn(outputOf(request, 'a')) } },
    ]);
    await runTurn(await world.thread(), 'go');
    const told = (id: string) => outputOf(world.provider.requests[2], id)?.split('Output:\n')[1];
    expect(`${told('a')}${told('b')}`).toBe('aéb');
    expect(told('a')).not.toContain('\ufffd');
  });

  it('does not hold the call up when only a background child of it goes on', async () => {
    const { output } = await turnOf([[{ shell: 'sleep 30 & echo hi', id: 'c', args: yieldMs(20_000) }]]);
    expect(output('c')).toMatch(/Process exited with code 0\n[\s\S]*hi\n$/);
  });
});

describe('write_stdin', () => {
  it('types into a command that has a terminal', async () => {
    const world = new AgentWorld([
      [{ shell: 'read -r x; echo "got:$x"', id: 'a', args: { tty: true, ...yieldMs(250) } }],
    ]);
    world.provider.add(request => [
      {
        call: 'write_stdin',
        id: 'b',
        args: { session_id: sessionIn(outputOf(request, 'a')), chars: 'Wörld\n', yield_time_ms: 5000 },
      },
    ]);
    const turn = await runTurn(await world.thread(), 'go');
    expect(outputOf(world.provider.requests[2], 'b')).toContain('Wörld\r\ngot:Wörld\r\n');
    expect(turn.events).toContainEqual({
      type: 'command.input',
      item_id: 'a',
      process_id: expect.any(String),
      text: 'Wörld\n',
    });
  });

  it('interrupts a command with a control character', async () => {
    const world = new AgentWorld([
      [{ shell: 'trap "echo trapped; exit 9" INT; touch up; sleep 30', id: 'a', args: { tty: true, ...yieldMs(250) } }],
    ]);
    world.provider.add(request => [
      { until: until(() => exists(world, 'up')) },
      {
        call: 'write_stdin',
        id: 'b',
        args: { session_id: sessionIn(outputOf(request, 'a')), chars: '\u0003', yield_time_ms: 5000 },
      },
    ]);
    await runTurn(await world.thread(), 'go');
    expect(outputOf(world.provider.requests[2], 'b')).toMatch(/Process exited with code 9[\s\S]*trapped/);
  });

  it('says what to do when a command has no terminal', async () => {
    const world = new AgentWorld([[{ shell: 'sleep 30', id: 'a', args: yieldMs(250) }]]);
    world.provider.add(request => [
      { call: 'write_stdin', id: 'b', args: { session_id: sessionIn(outputOf(request, 'a')), chars: 'x' } },
    ]);
    await runTurn(await world.thread(), 'go');
    expect(outputOf(world.provider.requests[2], 'b')).toMatch(/^write_stdin failed: .*tty true/);
  });

  it('to a command that has ended reports the end and says that nothing was written', async () => {
    const shell = 'while [ ! -e go ]; do sleep 0.02; done; exit 6';
    const world = new AgentWorld([[{ shell, id: 'a', args: { tty: true, ...yieldMs(250) } }]]);
    let ended = false;
    world.provider.add(request => {
      world.write('work/go', '');
      const session_id = sessionIn(outputOf(request, 'a'));
      return [{ until: until(() => ended) }, { call: 'write_stdin', id: 'b', args: { session_id, chars: 'x' } }];
    });
    await runTurn(await world.thread(), 'go', {
      onEvent: event => {
        if (event.type === 'item.completed' && event.item.type === 'command_execution') ended = true;
      },
    });
    expect(outputOf(world.provider.requests[2], 'b')).toMatch(/Process exited with code 6[\s\S]*not written/);
  });

  it('knows no session of another thread', async () => {
    const world = new AgentWorld([[{ shell: 'sleep 30', id: 'a', args: yieldMs(250) }]]);
    const manager = world.manager();
    await runTurn(await manager.startThread(world.config(), 'mcp'), 'one');
    const id = sessionIn(outputOf(world.provider.requests[1], 'a'));
    world.provider.add([{ call: 'write_stdin', id: 'b', args: { session_id: id } }]);
    await runTurn(await manager.startThread(world.config(), 'mcp'), 'two');
    expect(outputOf(world.provider.requests[3], 'b')).toMatch(/^write_stdin failed: Unknown process id/);
  });
});

describe('the commands of a thread', () => {
  it('may be 64 at the same time, and no more', async () => {
    const world = new AgentWorld([
      Array.from({ length: 70 }, (_, n) => ({ shell: 'sleep 60', id: `c${n}`, args: yieldMs(250) })),
    ]);
    await runTurn(await world.thread(), 'go');
    const outputs = Array.from({ length: 70 }, (_, n) => outputOf(world.provider.requests[1], `c${n}`) ?? '');
    expect(outputs.filter(text => text.includes('running with session ID'))).toHaveLength(64);
    const refused = outputs.filter(text => text.includes('64 commands of this thread are still running'));
    expect(refused).toHaveLength(6);
  }, 30_000);

  it('make room when they end', async () => {
    const world = new AgentWorld([
      Array.from({ length: 64 }, (_, n) => ({ shell: `sleep ${n === 0 ? 0.5 : 60}`, id: `c${n}`, args: yieldMs(250) })),
    ]);
    let ended = 0;
    world.provider.add(() => [{ until: until(() => ended > 0) }, { shell: 'echo room', id: 'more' }]);
    await runTurn(await world.thread(), 'go', {
      onEvent: event => {
        if (event.type === 'item.completed' && event.item.type === 'command_execution') ended++;
      },
    });
    expect(outputOf(world.provider.requests[2], 'more')).toContain('room');
  }, 30_000);

  it('that are many and short leave nothing behind', async () => {
    const world = new AgentWorld();
    for (let round = 0; round < 5; round++) {
      world.provider.add(Array.from({ length: 20 }, (_, n) => ({ shell: 'true', id: `r${round}_${n}` })));
    }
    const turn = await runTurn(await world.thread(), 'go');
    expect(commands(turn).map(item => item.exit_code)).toEqual(Array(100).fill(0));
  });
});

describe('shell_command', () => {
  const off = ['features.unified_exec=false'];

  it('waits for the end and tells exit code and output', async () => {
    const { output, world } = await turnOf([[{ shell: 'echo a; exit 3', id: 'c' }]], off);
    expect(output('c')).toMatch(/^Exit code: 3\nWall time: \d+\.\d seconds\nOutput:\na\n$/);
    const names = world.provider.requests[0]?.tools.map(tool => ('name' in tool ? tool.name : ''));
    expect(names).toContain('shell_command');
    expect(names).not.toContain('exec_command');
  });

  it('ends a command and its children at the time limit and keeps what they printed', async () => {
    const script = 'echo first; (sleep 31 &); echo $$ > pid; sleep 31';
    const { output, world, turn } = await turnOf([[{ shell: script, id: 'c', args: { timeout_ms: 400 } }]], off);
    expect(output('c')).toMatch(
      /^Exit code: 124\nWall time: \d+\.\d seconds\nOutput:\ncommand timed out after 400 milliseconds\nfirst\n$/,
    );
    expect(commands(turn)).toMatchObject([{ exit_code: 124, status: 'failed' }]);
    await until(() => !isAlive(readFileSync(path.join(world.cwd, 'pid'), 'utf8').trim()));
  });
});

function yieldMs(ms: number): { yield_time_ms: number } {
  return { yield_time_ms: ms };
}

function exists(world: AgentWorld, file: string): boolean {
  try {
    readFileSync(path.join(world.cwd, file));
    return true;
  } catch {
    // Not there yet.
    return false;
  }
}
