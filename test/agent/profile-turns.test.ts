import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { describe, expect, test } from 'vitest';
import type { ApprovalRequest, Approver } from '../../src/protocol/index.js';
import { AgentWorld, runTurn } from '../support/agent-world.js';
import { describeIf } from '../support/requires.js';
import { type ModelAnswerScript, outputOf } from '../support/scripted-provider.js';
import { seen, writeHooks } from './hooks-support.js';

const call = (name: string, args: object, id: string) => ({ call: name, args, id });

function worldOf(...answers: ModelAnswerScript[]): AgentWorld {
  return new AgentWorld(answers, { deps: { extraPath: () => [path.dirname(rgPath)] } });
}

const harness = (name: string, ...c: string[]) => ({ c: [`harness="${name}"`, ...c] });
const CLAUDE = harness('claude');

/** Decides all questions alike and keeps them. */
function answering(decision: Awaited<ReturnType<Approver>>): { approver: Approver; asked: ApprovalRequest[] } {
  const asked: ApprovalRequest[] = [];
  return {
    asked,
    approver: request => {
      asked.push(request);
      return Promise.resolve(decision);
    },
  };
}

const outputs = (world: AgentWorld, ...ids: string[]) => ids.map(id => outputOf(world.provider.requests.at(-1), id));

describe('a turn with a profile', () => {
  test('does the same and tells the same as one with the native tools', async () => {
    const world = worldOf(
      [
        call('Write', { path: 'a.txt', content: 'one\ntwo\n' }, 'w'),
        call('TodoList', { todos: [{ title: 'edit', status: 'in_progress' }] }, 't'),
      ],
      [
        call('Read', { path: 'a.txt', line_offset: 2 }, 'r'),
        call('Edit', { path: 'a.txt', old_string: 'two', new_string: '2' }, 'e'),
        call('Bash', { command: 'cat a.txt' }, 'b'),
        call('Grep', { pattern: '2', output_mode: 'content' }, 'g'),
        call('Glob', { pattern: '*.txt' }, 'f'),
      ],
    );
    const turn = await runTurn(await world.thread(harness('kimi')), 'go');
    const file = path.join(world.cwd, 'a.txt');
    expect(outputs(world, 'w', 't', 'r', 'e', 'g', 'f')).toEqual([
      'Made a.txt (2 lines).',
      'Plan updated',
      '     2\ttwo\n(the end; 2 lines in all)',
      'Changed a.txt at line 2.',
      'a.txt:2:2',
      'a.txt',
    ]);
    expect(outputs(world, 'b')[0]).toMatch(/^Exit code: 0\n[^]*Output:\none\n2\n$/);
    const events = turn.events.filter(event => event.type === 'item.completed' || event.type === 'item.updated');
    const items = events
      .map(event => event.item)
      .filter(item => !/message|warning/.test(item.type))
      .toSorted(byId);
    expect(items).toMatchObject(
      [
        { type: 'file_change', id: 'w', status: 'completed', changes: { [file]: { type: 'add' } } },
        { type: 'plan', id: 'plan', steps: [{ step: 'edit', status: 'in_progress' }] },
        { type: 'command_execution', id: 'r', parsed: [{ type: 'read', path: file }] },
        { type: 'file_change', id: 'e', status: 'completed', changes: { [file]: { type: 'update' } } },
        { type: 'command_execution', id: 'b', exit_code: 0, aggregated_output: 'one\n2\n' },
        { type: 'command_execution', id: 'g', parsed: [{ type: 'search', query: '2' }] },
        { type: 'command_execution', id: 'f', parsed: [{ type: 'list_files' }] },
      ].toSorted(byId),
    );
    expect(turn.changes).toEqual({ [file]: { type: 'add', content: 'one\n2\n' } });
    const diffs = turn.events.flatMap(event => (event.type === 'diff.updated' ? [event.unified_diff] : []));
    expect(diffs.at(-1)).toContain('+2\n');
    expect(world.provider.requests[1]?.input).toContainEqual(expect.objectContaining({ name: 'Write', call_id: 'w' }));
  });

  test('has its own instructions, unless the caller brings some', async () => {
    const world = worldOf();
    await runTurn(await world.thread(CLAUDE), 'go');
    await runTurn(await world.thread({ ...CLAUDE, arguments: { base_instructions: 'Be brief.' } }), 'go');
    const [own, callers] = world.provider.requests.map(request => request.instructions);
    expect(own).toMatch(/with Edit\. Write is for new files/);
    expect(callers).toBe('Be brief.');
  });

  test.each(['claude', 'kimi', 'qwen', 'glm', 'minimal', 'native'])(
    '%s takes a patch, as a call and as the text of a command',
    async name => {
      const patch = (file: string) => `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch`;
      const shell = { claude: 'Bash', kimi: 'Bash', glm: 'Bash', qwen: 'run_shell_command', minimal: 'shell_command' }[
        name
      ];
      const command = `apply_patch <<'EOF'\n${patch('b')}\nEOF`;
      const world = worldOf(
        [{ call: 'apply_patch', args: { input: patch('a') } }],
        [{ call: shell ?? 'exec_command', args: { command, cmd: command } }],
      );
      const turn = await runTurn(await world.thread(harness(name)), 'go');
      expect(Object.keys(turn.changes)).toEqual(['a', 'b'].map(file => path.join(world.cwd, file)));
    },
  );

  test('a name that the profile does not have is answered with those that it has', async () => {
    const world = worldOf([call('exec_command', { cmd: 'ls' }, 'x')]);
    await runTurn(await world.thread(harness('minimal')), 'go');
    expect(outputs(world, 'x')).toEqual(['unsupported call: exec_command. The tools are: shell_command, edit_file']);
  });

  test('ends commands after the seconds that Kimi gives, and after the milliseconds that others give', async () => {
    const world = worldOf([call('Bash', { command: 'echo hi; sleep 60', timeout: 1 }, 'b')]);
    await runTurn(await world.thread(harness('kimi')), 'go');
    expect(outputs(world, 'b')[0]).toMatch(/^Exit code: 124\n[^]*timed out after 1000 milliseconds\nhi/);
    world.provider.add([call('Bash', { command: 'sleep 60', timeout: 100 }, 'c')]);
    await runTurn(await world.thread(harness('glm')), 'go');
    expect(outputs(world, 'c')[0]).toMatch(/timed out after 100 milliseconds/);
  });

  test('starts commands in the background, reads what they print and stops them', async () => {
    const id = (world: AgentWorld) => Number(/session ID (\d+)/.exec(outputs(world, 'b')[0] ?? '')?.[1]);
    const world = worldOf([call('Bash', { command: 'cat; sleep 60', run_in_background: true }, 'b')]);
    world.provider.add(() => [call('TaskOutput', { task_id: id(world), block: false }, 'o')]);
    world.provider.add(() => [call('TaskStop', { task_id: String(id(world)) }, 's')]);
    world.provider.add(() => [call('TaskOutput', { task_id: id(world) }, 'g')]);
    const turn = await runTurn(await world.thread(CLAUDE), 'go');
    const [started, output, stopped, gone] = outputs(world, 'b', 'o', 's', 'g');
    expect(started).toMatch(/Process running with session ID/);
    expect(output).toMatch(/Process running with session ID/);
    expect(stopped).toMatch(/Process was ended/);
    expect(gone).toMatch(/No command has the session ID/);
    expect(turn.items).toContainEqual(
      expect.objectContaining({ type: 'command_execution', id: 'b', status: 'failed' }),
    );
  });

  test('tells the end of a command in the background, and all it printed', async () => {
    const id = (world: AgentWorld) => Number(/session ID (\d+)/.exec(outputs(world, 'b')[0] ?? '')?.[1]);
    const command = 'until [ -e go ]; do sleep 0.05; done; echo ready; exit 3';
    const world = worldOf([call('run_shell_command', { command, is_background: true }, 'b')]);
    world.provider.add([call('write_file', { file_path: 'go', content: '' }, 'w')]);
    world.provider.add(() => [call('task_output', { task_id: id(world), timeout: 60_000 }, 'o')]);
    await runTurn(await world.thread(harness('qwen')), 'go');
    expect(outputs(world, 'o')[0]).toMatch(/Process exited with code 3\n[^]*Output:\nready\n$/);
  });
});

/** Calls of one answer may end in any order. */
function byId(a: { id?: string }, b: { id?: string }): number {
  return (a.id ?? 'plan') < (b.id ?? 'plan') ? -1 : 1;
}

describe('what a profile may do is what the native tools may do', () => {
  test('a file outside of the workspace is written when a person says so', async () => {
    const world = worldOf();
    mkdirSync(path.join(world.root, 'out'));
    const file = path.join(world.root, 'out/f');
    const settings = harness('claude', 'sandbox_mode="workspace-write"', 'approval_policy="on-request"');
    const thread = await world.thread(settings);
    for (const decision of ['denied', 'approved'] as const) {
      const { approver, asked } = answering(
        decision === 'approved' ? { type: 'approved' } : { type: 'denied', by: 'person', reason: 'no' },
      );
      world.provider.add([call('Write', { file_path: file, content: 'x' }, decision)]);
      const turn = await runTurn(thread, 'go', { approver });
      expect(asked).toMatchObject([{ type: 'patch', changes: { [file]: { type: 'add', content: 'x' } } }]);
      expect(turn.items).toContainEqual(
        expect.objectContaining({
          type: 'file_change',
          id: decision,
          status: decision === 'approved' ? 'completed' : 'declined',
        }),
      );
      expect(existsSync(file)).toBe(decision === 'approved');
    }
  });

  test.each([
    ['read-only', 'f.txt', /blocked by the read-only sandbox/],
    ['workspace-write', '../f.txt', /rejected/],
    ['workspace-write', '.git/hooks/pre-commit', /rejected/],
  ])('in %s nobody who is not asked writes %s', async (sandbox, file, message) => {
    const world = worldOf([
      call('write_file', { file_path: file, content: 'x' }, 'w'),
      call('edit', { file_path: file, old_string: '', new_string: 'x' }, 'e'),
    ]);
    await runTurn(await world.thread(harness('qwen', `sandbox_mode="${sandbox}"`)), 'go');
    for (const output of outputs(world, 'w', 'e')) expect(output).toMatch(message);
    expect(existsSync(path.join(world.cwd, file))).toBe(false);
  });

  test('under untrusted, commands and changes are asked about, looking is not', async () => {
    const world = worldOf([
      call('Read', { file_path: 'f' }, 'r'),
      call('Bash', { command: 'touch x' }, 'b'),
      call('Edit', { file_path: 'f', old_string: 'a', new_string: 'b' }, 'e'),
    ]);
    world.write('work/f', 'a\n');
    const { approver, asked } = answering({ type: 'approved' });
    await runTurn(await world.thread(harness('glm', 'approval_policy="untrusted"')), 'go', { approver });
    expect(asked.map(request => request.type).toSorted()).toEqual(['command', 'patch']);
    expect(outputs(world, 'r')).toEqual(['     1\ta']);
    expect(readFileSync(path.join(world.cwd, 'f'), 'utf8')).toBe('b\n');
  });

  test('hooks know a tool by its name and its arguments, and by those that stand for all changes', async () => {
    const world = worldOf(
      [call('Write', { file_path: 'no.txt', content: 'x' }, 'a')],
      [call('Edit', { file_path: 'f', old_string: 'a', new_string: 'b' }, 'b')],
      [call('Bash', { command: 'true' }, 'c')],
      [call('Read', { file_path: 'f' }, 'd')],
    );
    world.write('work/f', 'a\n');
    writeHooks(world, [
      { event: 'PreToolUse', matcher: 'Write', run: 'case $IN in *no.txt*) echo "not that one" >&2; exit 2;; esac' },
      { event: 'PostToolUse', run: '' },
    ]);
    await runTurn(await world.thread(CLAUDE), 'go');
    expect(outputs(world, 'a')).toEqual(['Tool call blocked by PreToolUse hook: not that one. Tool: Write']);
    expect(
      seen(world).map(({ hook_event_name: event, tool_name, tool_input }) => [event, tool_name, tool_input]),
    ).toEqual([
      ['PreToolUse', 'Write', { file_path: 'no.txt', content: 'x' }],
      ['PreToolUse', 'Edit', { file_path: 'f', old_string: 'a', new_string: 'b' }],
      ['PostToolUse', 'Edit', { file_path: 'f', old_string: 'a', new_string: 'b' }],
      ['PostToolUse', 'Bash', { command: 'true' }],
      ['PostToolUse', 'Read', { file_path: 'f' }],
    ]);
  });
});

describeIf('bubblewrap', 'in the sandbox', () => {
  test('a command leaves it only when a person says so', async () => {
    const world = worldOf(
      [call('Bash', { command: 'echo x > ../out.txt' }, 'a')],
      [call('Bash', { command: 'echo x > ../out.txt', dangerouslyDisableSandbox: true, description: 'to try' }, 'b')],
    );
    const { approver, asked } = answering({ type: 'denied', by: 'person', reason: '' });
    const settings = harness('claude', 'sandbox_mode="workspace-write"', 'approval_policy="on-request"');
    await runTurn(await world.thread(settings), 'go', { approver });
    expect(asked).toMatchObject([{ type: 'command', call_id: 'b', unsandboxed: true, reason: 'to try' }]);
    expect(outputs(world, 'a')[0]).toMatch(/Exit code: [12]/);
    expect(existsSync(path.join(world.root, 'out.txt'))).toBe(false);
  });
});

describe('a thread keeps its profile', () => {
  test('when it is resumed, whatever configuration says then', async () => {
    const world = worldOf([call('write_file', { file_path: 'a', content: 'x' }, 'w')]);
    const { thread_id } = await runTurn(await world.thread(harness('qwen-code')), 'go');
    const names = () => world.provider.requests.at(-1)?.tools.map(tool => ('name' in tool ? tool.name : tool.type));
    const first = names();
    await runTurn(await world.manager().getThread(thread_id), 'more');
    expect(names()).toEqual(first);
    await runTurn(await world.manager().getThread(thread_id, world.config(harness('native'))), 'more');
    expect(names()).toEqual(first);
    const fork = await world.manager().startThread(world.config(CLAUDE), 'exec', thread_id);
    await runTurn(fork, 'more');
    expect(names()).toEqual(first);
    expect(first).toContain('run_shell_command');
  });

  test('under its name in the first line of the rollout, with the instructions that it had', async () => {
    const world = worldOf();
    const thread = await world.thread(harness('claude-code'));
    await runTurn(thread, 'go');
    const [line = ''] = readFileSync(thread.settings.rollout_path ?? '', 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject({
      payload: {
        base_instructions: { text: expect.stringContaining('TodoWrite') },
        interpreter: { harness: 'claude' },
      },
    });
  });

  test('and one that never had a known profile gets one once configuration is right', async () => {
    const world = worldOf();
    const turn = await runTurn(await world.thread(harness('cursor')), 'go');
    expect(turn).toMatchObject({
      status: 'failed',
      error: { kind: 'configuration', message: expect.stringMatching(/Unknown harness `cursor`.*Known: claude, glm/) },
    });
    expect(world.provider.requests).toEqual([]);
    const again = await runTurn(await world.manager().getThread(turn.thread_id, world.config(CLAUDE)), 'go');
    expect(again.status).toBe('completed');
    expect(world.provider.requests[0]?.tools).toContainEqual(expect.objectContaining({ name: 'Bash' }));
  });
});
