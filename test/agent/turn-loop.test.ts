import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event, ModelError, TurnErrorKind } from '../../src/protocol/index.js';
import { AgentWorld, runTurn, type Turn } from '../support/agent-world.js';
import { DOT } from '../support/dot-image.js';
import { describeIf } from '../support/requires.js';
import { type ModelAnswerScript, outputOf, textsOf } from '../support/scripted-provider.js';

const types = (turn: Turn) => turn.events.map(event => event.type);

/** Kind and id of the items of start and end events, in order. */
function steps(events: readonly Event[]): string[] {
  return events.flatMap(event => {
    if (event.type !== 'item.started' && event.type !== 'item.completed') return [];
    return event.item.type === 'warning' ? [] : [`${event.type.slice(5)} ${event.item.type}`];
  });
}

/** Outputs of the calls of a request, in order, with the ids of their calls. */
function calls(world: AgentWorld, request: number): string[] {
  return (world.provider.requests[request]?.input ?? []).flatMap(item =>
    'call_id' in item && item.type.endsWith('_output') ? [String(item.call_id)] : [],
  );
}

const RETRIES = { provider: { stream_max_retries: 2 } };
const cutStream = { fail: { message: 'the stream broke', kind: 'stream_disconnected', retryable: true } } as const;

it('an unknown model is warned about once in a thread, unless its window is configured', async () => {
  const world = new AgentWorld([], { model: { known: false } });
  const thread = await world.thread();
  expect((await runTurn(thread, 'go')).warnings).toEqual([expect.stringContaining('Set model_context_window')]);
  expect((await runTurn(thread, 'again')).warnings).toEqual([]);
  const told = await world.thread({ c: ['model_context_window=64000'] });
  expect((await runTurn(told, 'go')).warnings).toEqual([]);
});

describe('a turn', () => {
  it('that only answers tells its events in order', async () => {
    const world = new AgentWorld([[{ think: 'hm' }, { say: 'hello there', chunks: 2 }]]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(types(turn)).toEqual([
      'thread.started',
      'turn.started',
      'mcp_servers.ready',
      'history.added',
      'history.added',
      'history.added',
      'item.started',
      'item.completed',
      'item.started',
      'reasoning.delta',
      'item.completed',
      'history.added',
      'item.started',
      'text.delta',
      'text.delta',
      'item.completed',
      'history.added',
      'response.completed',
      'usage.updated',
      'turn.completed',
    ]);
    expect(steps(turn.events)).toEqual([
      'started user_message',
      'completed user_message',
      'started reasoning',
      'completed reasoning',
      'started agent_message',
      'completed agent_message',
    ]);
    expect(turn).toMatchObject({
      status: 'completed',
      content: 'hello there',
      error: null,
      aborted_by: null,
      changes: {},
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    });
  });

  it('goes on until the model calls no tool, with all it said and did', async () => {
    const world = new AgentWorld([
      [
        { say: 'looking', phase: 'commentary' },
        { shell: 'echo a', id: 'c1' },
      ],
      [{ shell: 'echo b', id: 'c2' }],
      [{ say: 'all done', phase: 'final_answer' }],
    ]);
    const turn = await runTurn(await world.thread(), 'go');
    const input = world.provider.requests[2]?.input ?? [];
    expect(input.map(item => item.type).slice(-6)).toEqual([
      'message',
      'message',
      'function_call',
      'function_call_output',
      'function_call',
      'function_call_output',
    ]);
    expect(input.at(-5)).toMatchObject({ role: 'assistant', phase: 'commentary' });
    expect(turn).toMatchObject({ content: 'all done', usage: { total_tokens: 45 } });
    expect(turn.events.at(-1)).toMatchObject({ type: 'turn.completed', last_message: 'all done' });
  });

  it('whose last answer is empty ends with an empty result', async () => {
    const world = new AgentWorld([[{ say: 'first' }, { shell: 'true' }], []]);
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn).toMatchObject({ status: 'completed', content: '' });
    expect(turn.events.at(-1)).toMatchObject({ type: 'turn.completed', last_message: null });
  });

  it('ends with the last message when an answer has several', async () => {
    const world = new AgentWorld([[{ say: 'one' }, { say: 'two' }]]);
    expect(await runTurn(await world.thread(), 'go')).toMatchObject({ content: 'two' });
  });

  it('sends the totals of the thread, also over several turns', async () => {
    const world = new AgentWorld([[{ usage: { input: 100, output: 1 } }], [{ usage: { input: 200, output: 2 } }]]);
    const thread = await world.thread();
    await runTurn(thread, 'one');
    expect((await runTurn(thread, 'two')).usage).toMatchObject({ input_tokens: 300, output_tokens: 3 });
  });
});

describeIf('bubblewrap', 'a sandbox that can not be made', () => {
  it('is told to the person as well, once in a turn', async () => {
    const world = new AgentWorld([[{ shell: 'echo 1' }, { shell: 'echo 2', id: 'c2' }]]);
    world.write('home/state', 'in the way');
    const turn = await runTurn(await world.thread({ c: ['sandbox_mode=workspace-write'] }), 'go');
    expect(turn.warnings).toEqual([expect.stringMatching(/^Cannot enforce sandbox mode workspace-write: .* Fix: /)]);
    expect(outputOf(world.provider.requests[1], 'c2')).toContain('The command was not run: Cannot enforce');
  });
});

describe('reasoning', () => {
  const thinking = (): ModelAnswerScript => [
    {
      item: {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'short' }],
        content: [{ type: 'reasoning_text', text: 'raw thoughts' }],
        encrypted_content: 'secret',
      },
    },
    { shell: 'true' },
  ];

  it.each([
    ['is shown as its summary', [], [{ type: 'reasoning', id: 'rs_1', summary: ['short'], raw: [] }]],
    [
      'is shown raw on request',
      ['show_raw_agent_reasoning=true'],
      [{ type: 'reasoning', id: 'rs_1', summary: ['short'], raw: ['raw thoughts'] }],
    ],
    ['is hidden on request', ['hide_agent_reasoning=true', 'show_raw_agent_reasoning=true'], []],
  ])('%s', async (_name, c, items) => {
    const world = new AgentWorld([thinking()]);
    const turn = await runTurn(await world.thread({ c }), 'go');
    expect(turn.items.filter(item => item.type === 'reasoning')).toEqual(items);
  });

  it('goes back to the model as it came, also when it is hidden', async () => {
    const world = new AgentWorld([thinking()]);
    await runTurn(await world.thread({ c: ['hide_agent_reasoning=true'] }), 'go');
    expect(world.provider.requests[1]?.input.find(item => item.type === 'reasoning')).toEqual({
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'short' }],
      content: [{ type: 'reasoning_text', text: 'raw thoughts' }],
      encrypted_content: 'secret',
    });
  });

  it('that led to nothing is not sent again', async () => {
    const world = new AgentWorld([[{ think: 'lost' }, cutStream], [{ fail: { message: 'no' } }]], RETRIES);
    const thread = await world.thread();
    await runTurn(thread, 'go');
    world.provider.add([{ think: 'also lost' }, { fail: { message: 'no' } }]);
    await runTurn(thread, 'again');
    await runTurn(thread, 'and again');
    const kinds = world.provider.requests.map(
      request => request.input.filter(item => item.type === 'reasoning').length,
    );
    expect(kinds).toEqual([0, 0, 0, 0]);
  });
});

describe('tool calls', () => {
  it('of one answer start at once and are answered in the order of the calls', async () => {
    const world = new AgentWorld([
      [
        { shell: 'while [ ! -e go ]; do sleep 0.02; done; echo first', id: 'slow' },
        { shell: 'echo second', id: 'fast' },
      ],
    ]);
    const turn = await runTurn(await world.thread(), 'go', {
      onEvent: event => {
        if (event.type === 'item.completed' && event.item.id === 'fast') world.write('work/go', '');
      },
    });
    expect(calls(world, 1)).toEqual(['slow', 'fast']);
    const ended = turn.items.flatMap(item => (item.type === 'command_execution' ? [item.id] : []));
    expect(ended).toEqual(['fast', 'slow']);
    expect(outputOf(world.provider.requests[1], 'slow')).toContain('first');
  });

  it('start while the answer is still streaming', async () => {
    let done = () => {};
    const ran = new Promise<void>(resolve => {
      done = resolve;
    });
    const world = new AgentWorld([[{ shell: 'true', id: 'c' }, { until: ran }, { say: 'still here' }]]);
    const turn = await runTurn(await world.thread(), 'go', {
      onEvent: event => {
        if (event.type === 'item.completed' && event.item.type === 'command_execution') done();
      },
    });
    expect(turn.status).toBe('completed');
    expect(steps(turn.events).indexOf('completed command_execution')).toBeLessThan(
      steps(turn.events).indexOf('started agent_message'),
    );
  });

  it('that change files run alone: after those before them, before those behind them', async () => {
    const patch = '*** Begin Patch\n*** Update File: f\n@@\n-one\n+two\n*** End Patch';
    const world = new AgentWorld([
      [
        { shell: 'sleep 0.3; cat f', id: 'before' },
        { patch, id: 'patch' },
        { shell: 'cat f', id: 'behind' },
      ],
    ]);
    world.write('work/f', 'one\n');
    const turn = await runTurn(await world.thread(), 'go');
    expect(outputOf(world.provider.requests[1], 'before')).toContain('Output:\none\n');
    expect(outputOf(world.provider.requests[1], 'behind')).toContain('Output:\ntwo\n');
    expect(calls(world, 1)).toEqual(['before', 'patch', 'behind']);
    expect(steps(turn.events).slice(2)).toEqual([
      'started command_execution',
      'completed command_execution',
      'started file_change',
      'completed file_change',
      'started command_execution',
      'completed command_execution',
      'started agent_message',
      'completed agent_message',
    ]);
  });

  it.each(['exec_command', 'shell_command'])('of %s that are patches run alone too', async tool => {
    const script = (from: string, to: string) =>
      `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n@@\n-${from}\n+${to}\n*** End Patch\nEOF`;
    const numbers = Array.from({ length: 8 }, (_, n) => n);
    const world = new AgentWorld([numbers.map(n => ({ shell: script(String(n), String(n + 1)) }))]);
    world.write('work/f', '0\n');
    const c = tool === 'exec_command' ? [] : ['features.unified_exec=false'];
    await runTurn(await world.thread({ c }), 'go');
    expect(readFileSync(path.join(world.cwd, 'f'), 'utf8')).toBe('8\n');
  });

  it('of unknown tools, with broken JSON or wrong arguments are answered, and the turn goes on', async () => {
    const world = new AgentWorld([
      [
        { call: 'nope', id: 'unknown' },
        { item: { type: 'custom_tool_call', call_id: 'custom', name: 'nope', input: 'x' } },
        { call: 'exec_command', args: '{"cmd": "touch ran"', id: 'broken' },
        { call: 'exec_command', args: '["touch ran"]', id: 'list' },
        { call: 'exec_command', args: { cmd: 7 }, id: 'wrong' },
        { call: 'exec_command', args: '', id: 'none' },
        { call: 'update_plan', args: { plan: [{ step: 'x', status: 'later' }] }, id: 'plan' },
      ],
    ]);
    const turn = await runTurn(await world.thread(), 'go');
    const told = (id: string) => outputOf(world.provider.requests[1], id);
    expect(told('unknown')).toMatch(/^unsupported call: nope\. The tools are: exec_command, /);
    expect(told('custom')).toMatch(/^unsupported custom tool call: nope\./);
    expect(
      world.provider.requests[1]?.input.find(
        item => 'call_id' in item && item.call_id === 'custom' && item.type !== 'custom_tool_call',
      )?.type,
    ).toBe('custom_tool_call_output');
    for (const id of ['broken', 'list', 'wrong', 'none', 'plan']) {
      expect(told(id)).toMatch(/^failed to parse function arguments: /);
    }
    expect(told('wrong')).toContain('cmd: ');
    expect(told('plan')).toContain('plan.0.status: ');
    expect(turn).toMatchObject({ status: 'completed', content: 'done' });
    expect(turn.items.some(item => item.type === 'command_execution')).toBe(false);
  });

  it('of a tool with a fault of ours are answered, logged, and end their item', async () => {
    const world = new AgentWorld([[{ patch: '*** Begin Patch\n*** Add File: x\n+x\n*** End Patch', id: 'c' }]], {
      deps: {
        env: new Proxy({} as Record<string, string>, {
          ownKeys: () => {
            throw new Error('no environment today');
          },
        }),
      },
    });
    const turn = await runTurn(await world.thread(), 'go');
    expect(outputOf(world.provider.requests[1], 'c')).toBe(
      'apply_patch failed because of an internal error: no environment today',
    );
    expect(turn.items).toContainEqual(expect.objectContaining({ type: 'file_change', id: 'c', status: 'failed' }));
    expect(world.log.join('\n')).toMatch(/apply_patch failed: Error: no environment today\n +at /);
    expect(turn).toMatchObject({ status: 'completed', content: 'done' });
  });

  it('of update_plan tell the plan', async () => {
    const plan = [
      { step: 'look', status: 'completed' },
      { step: 'mend', status: 'in_progress' },
    ] as const;
    const world = new AgentWorld([[{ call: 'update_plan', args: { explanation: 'why', plan }, id: 'c' }]]);
    const turn = await runTurn(await world.thread(), 'go');
    expect(outputOf(world.provider.requests[1], 'c')).toBe('Plan updated');
    expect(turn.events).toContainEqual({
      type: 'item.updated',
      item: { type: 'plan', id: 'plan', explanation: 'why', steps: plan },
      at_ms: expect.any(Number),
    });
  });

  it('of view_image show the picture, and say what is wrong with others', async () => {
    const world = new AgentWorld([
      [
        { call: 'view_image', args: { path: 'dot.png' }, id: 'dot' },
        { call: 'view_image', args: { path: 'dot.png', detail: 'original' }, id: 'original' },
        { call: 'view_image', args: { path: 'none.png' }, id: 'none' },
        { call: 'view_image', args: { path: 'text.png' }, id: 'text' },
        { call: 'view_image', args: { path: 'dot.bmp' }, id: 'bmp' },
        { call: 'view_image', args: { path: '.' }, id: 'folder' },
      ],
    ]);
    const file = world.write('work/dot.png', DOT);
    world.write('work/text.png', 'no picture');
    world.write('work/dot.bmp', Buffer.concat([Buffer.from('BM'), Buffer.alloc(60, 1)]));
    const turn = await runTurn(await world.thread(), 'go');
    const told = (id: string) => outputOf(world.provider.requests[1], id);
    const url = `data:image/png;base64,${DOT.toString('base64')}`;
    expect(told('dot')).toBe(JSON.stringify([{ type: 'input_image', image_url: url, detail: 'high' }]));
    expect(told('original')).toContain('"detail":"original"');
    expect(told('none')).toContain(`unable to locate image at \`${world.cwd}/none.png\``);
    expect(told('text')).toContain('is no image; PNG, JPEG, GIF and WebP can be shown');
    expect(told('bmp')).toContain('is bmp; PNG');
    expect(told('folder')).toContain('is not a file');
    expect(turn.items).toContainEqual({ type: 'image_view', id: 'dot', path: file });
  });

  it('of view_image are not offered to a model without eyes', async () => {
    const world = new AgentWorld([], { model: { images: false } });
    await runTurn(await world.thread(), 'go');
    const names = world.provider.requests[0]?.tools.map(tool => ('name' in tool ? tool.name : tool.type));
    expect(names).toEqual(['exec_command', 'write_stdin', 'update_plan', 'apply_patch']);
  });
});

describe('output that is too long', () => {
  const lines = (n: number) => `i=0; while [ $i -lt ${n} ]; do echo "line $i of many"; i=$((i+1)); done`;
  const all = (n: number) => Array.from({ length: n }, (_, i) => `line ${i} of many\n`).join('');

  it('keeps head and tail, and says how much there was', async () => {
    const world = new AgentWorld([[{ shell: `echo HEAD; ${lines(5000)}; printf TAIL; exit 2`, id: 'c' }]]);
    await runTurn(await world.thread({ c: ['tool_output_token_limit=100'] }), 'go');
    const output = outputOf(world.provider.requests[1], 'c') ?? '';
    const total = Buffer.byteLength(`HEAD\n${all(5000)}TAIL`);
    const [head, text = ''] = output.split('Output:\n');
    expect(head).toMatch(new RegExp(`Process exited with code 2\nOriginal token count: ${Math.ceil(total / 4)}\n$`));
    const warning = `Warning: truncated output (original token count: ${Math.ceil(total / 4)})\nTotal output lines: 5002\n\n`;
    expect(text.startsWith(`${warning}HEAD\nline 0`)).toBe(true);
    expect(text.endsWith('line 4999 of many\nTAIL')).toBe(true);
    const marker = `…${Math.ceil((total - 400) / 4)} tokens truncated…`;
    expect(text).toContain(marker);
    expect(Buffer.byteLength(text)).toBe(400 + Buffer.byteLength(warning) + Buffer.byteLength(marker));
  });

  it('splits no character', async () => {
    const script = `${String.raw`awk 'BEGIN { for (i = 0; i < 3000; i++) printf "é漢🙂" }'`}`;
    for (const limit of [99, 100, 101, 102, 103]) {
      const world = new AgentWorld([[{ shell: script, id: 'c', args: { max_output_tokens: limit / 4 } }]]);
      await runTurn(await world.thread(), 'go');
      const text = outputOf(world.provider.requests[1], 'c') ?? '';
      expect(text).not.toContain('\ufffd');
      expect(text).toMatch(/(é漢🙂|é漢|é)…\d+ tokens truncated…(é漢🙂|漢🙂|🙂)/);
    }
  });

  it.each([
    ['lowers the limit', 10, 40],
    ['cannot raise it', 5000, 400],
    ['may be nothing at all', 0, 0],
    ['means nothing when it is negative', -7, 0],
  ])('max_output_tokens %s', async (_name, tokens, bytes) => {
    const world = new AgentWorld([[{ shell: lines(100), id: 'c', args: { max_output_tokens: tokens } }]]);
    await runTurn(await world.thread({ c: ['tool_output_token_limit=100'] }), 'go');
    const text = (outputOf(world.provider.requests[1], 'c') ?? '').split('\n\n')[1] ?? '';
    expect(Buffer.byteLength(text.replace(/…\d+ tokens truncated…/, ''))).toBe(bytes);
  });

  it('is told with its number of lines by shell_command', async () => {
    const world = new AgentWorld([[{ shell: lines(500), id: 'c' }]]);
    const c = ['features.unified_exec=false', 'tool_output_token_limit=10'];
    await runTurn(await world.thread({ c }), 'go');
    const text = outputOf(world.provider.requests[1], 'c') ?? '';
    expect(text).toMatch(
      /^Exit code: 0\nWall time: \S+ seconds\nTotal output lines: 500\nOutput:\nline 0 of many\nline …\d+ tokens truncated…/,
    );
    expect(text.endsWith('line 499 of many\n')).toBe(true);
  });
});

describe('a stream that breaks', () => {
  it('is opened again, and what had arrived whole stays', async () => {
    const world = new AgentWorld([[{ say: 'first part' }, cutStream], [{ say: 'second part' }]], RETRIES);
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn).toMatchObject({ status: 'completed', content: 'second part' });
    expect(textsOf(world.provider.requests[1], 'assistant')).toEqual(['first part']);
    expect(turn.events.find(event => event.type === 'retry')).toEqual({
      type: 'retry',
      attempt: 1,
      max: 2,
      message: 'Reconnecting... 1/2',
      details: 'the stream broke',
      delay_ms: expect.any(Number),
    });
  });

  it.each([
    ['a call', []],
    ['text and a call', [{ say: 'I run it' }]],
  ])('after %s does not run the command twice', async (_name, before) => {
    const world = new AgentWorld(
      [[...before, { shell: 'echo x >> count; echo ran', id: 'c1' }, cutStream], [{ say: 'seen' }]],
      RETRIES,
    );
    const turn = await runTurn(await world.thread(), 'go');
    expect(readFileSync(path.join(world.cwd, 'count'), 'utf8')).toBe('x\n');
    expect(outputOf(world.provider.requests[1], 'c1')).toContain('ran');
    expect(turn).toMatchObject({ status: 'completed', content: 'seen' });
  });

  it('in the middle of a text gives nothing of it to the model', async () => {
    const world = new AgentWorld([[{ partial: 'never whole' }, cutStream], [{ say: 'whole' }]], RETRIES);
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn.content).toBe('whole');
    expect(textsOf(world.provider.requests[1], 'assistant')).toEqual([]);
  });

  it('again and again ends the turn with its error after the limit', async () => {
    const world = new AgentWorld([[cutStream], [cutStream], [cutStream], [cutStream]], RETRIES);
    const turn = await runTurn(await world.thread(), 'go');
    expect(world.provider.requests).toHaveLength(3);
    expect(turn).toMatchObject({
      status: 'failed',
      content: '',
      error: { message: 'the stream broke', kind: 'stream_disconnected' },
    });
  });

  it('after a call ends the turn when nothing comes any more, with the output in the history', async () => {
    const world = new AgentWorld([[{ shell: 'echo ran', id: 'c' }, { fail: { message: 'final' } }]]);
    const thread = await world.thread();
    const turn = await runTurn(thread, 'go');
    expect(turn.error?.message).toBe('final');
    await runTurn(thread, 'go on');
    expect(outputOf(world.provider.requests[1], 'c')).toContain('ran');
  });

  it('waits as long as the provider asks for', async () => {
    const told = { fail: { message: 'slow down', kind: 'rate_limited', retryable: true, retry_after_ms: 1 } } as const;
    const world = new AgentWorld([[told], [{ say: 'ok' }]], RETRIES);
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn.events.find(event => event.type === 'retry')).toMatchObject({ delay_ms: 1 });
    expect(turn.content).toBe('ok');
  });

  it('and the wait before the next try end at once when the turn is interrupted', async () => {
    const told = {
      fail: { message: 'later', kind: 'rate_limited', retryable: true, retry_after_ms: 3_600_000 },
    } as const;
    const world = new AgentWorld([[told]], RETRIES);
    const stop = new AbortController();
    const turn = await runTurn(await world.thread(), 'go', {
      signal: stop.signal,
      onEvent: event => {
        if (event.type === 'retry') stop.abort();
      },
    });
    expect(turn).toMatchObject({ status: 'aborted', aborted_by: 'signal' });
  });
});

describe('an answer cut by the output limit', () => {
  it('that is text fails the turn, and the text stays', async () => {
    const world = new AgentWorld([[{ say: 'half a sent' }, { cut: true }], [{ say: 'ence' }]]);
    const thread = await world.thread();
    const turn = await runTurn(thread, 'go');
    expect(turn).toMatchObject({ status: 'failed', content: 'half a sent', error: { kind: 'other' } });
    expect(turn.error?.message).toContain('output limit');
    await runTurn(thread, 'go on');
    expect(textsOf(world.provider.requests[1], 'assistant')).toEqual(['half a sent']);
  });

  it('that is a call is told to the model, which goes on', async () => {
    const world = new AgentWorld([[{ cut: true }], [{ say: 'smaller' }]]);
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn).toMatchObject({ status: 'completed', content: 'smaller' });
    expect(textsOf(world.provider.requests[1], 'developer').at(-1)).toContain('cut at the output limit');
  });

  it('again and again fails the turn', async () => {
    const world = new AgentWorld(Array.from({ length: 10 }, () => [{ cut: true }] as const));
    const turn = await runTurn(await world.thread(), 'go');
    expect(turn.status).toBe('failed');
    expect(world.provider.requests).toHaveLength(4);
  });
});

describe('an error of the provider', () => {
  const kinds: TurnErrorKind[] = [
    'usage_limit_exceeded',
    'rate_limited',
    'server_overloaded',
    'unauthorized',
    'bad_request',
    'internal_server_error',
    'connection_failed',
    'stream_disconnected',
    'too_many_attempts',
    'configuration',
    'other',
  ];

  it.each(kinds)('of kind %s fails the turn as it is, and the thread goes on', async kind => {
    const error: ModelError = { message: `because of ${kind}`, kind, retryable: false, http_status: 418 };
    const world = new AgentWorld([[{ fail: error }], [{ say: 'better' }]]);
    const thread = await world.thread();
    const turn = await runTurn(thread, 'first');
    const expected = { message: `because of ${kind}`, kind, http_status: 418 };
    expect(turn).toMatchObject({ status: 'failed', error: expected, aborted_by: null });
    expect(turn.events.at(-1)).toMatchObject({ type: 'turn.failed', error: expected });
    expect(await runTurn(thread, 'second')).toMatchObject({ status: 'completed', content: 'better' });
    expect(textsOf(world.provider.requests[1], 'user').slice(-2)).toEqual(['first', 'second']);
  });

  it('that breaks its own contract by throwing ends the turn, is logged, and the thread goes on', async () => {
    const world = new AgentWorld([
      () => {
        throw new Error('a fault of the provider');
      },
      [{ say: 'fine' }],
    ]);
    const thread = await world.thread();
    const turn = await runTurn(thread, 'one');
    expect(turn).toMatchObject({ status: 'failed', error: { message: 'Internal error: a fault of the provider' } });
    expect(turn.events.at(-1)?.type).toBe('turn.failed');
    expect(world.log.join()).toContain('a fault of the provider');
    expect(await runTurn(thread, 'two')).toMatchObject({ content: 'fine' });
  });
});
