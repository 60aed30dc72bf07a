/** Hooks through whole turns, as shell programs. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { AgentWorld, runTurn } from '../support/agent-world.js';
import { isAlive } from '../support/processes.js';
import { outputOf, textsOf } from '../support/scripted-provider.js';
import { until } from '../support/until.js';
import { quote, seen, writeHooks } from './hooks-support.js';

const PATCH = '*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch';

describe('what hooks are given', () => {
  test('is the thread, the turn and what the event is about', async () => {
    const world = new AgentWorld([
      [{ shell: 'printf hi', id: 'c1' }],
      [{ patch: PATCH, id: 'c2' }],
      [{ call: 'update_plan', args: { plan: [] }, id: 'c3' }],
      [{ say: 'all done' }],
    ]);
    const events = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SessionEnd'] as const;
    writeHooks(
      world,
      events.map(event => ({ event, run: '' })),
    );
    const manager = world.manager();
    const thread = await manager.startThread(world.config(), 'mcp');
    const turn = await runTurn(thread, 'do it');
    await manager.close();
    const start = { session_id: thread.id, transcript_path: thread.settings.rollout_path, cwd: world.cwd };
    const base = { ...start, turn_id: turn.turn_id, model: 'scripted-model', permission_mode: 'bypassPermissions' };
    const bash = { tool_name: 'Bash', tool_input: { command: 'printf hi' }, tool_use_id: 'c1' };
    const patch = { tool_name: 'apply_patch', tool_input: { command: PATCH }, tool_use_id: 'c2' };
    const plan = { tool_name: 'update_plan', tool_input: { plan: [] }, tool_use_id: 'c3' };
    const { turn_id: _, ...session } = base;
    expect(seen(world)).toEqual([
      { ...session, hook_event_name: 'SessionStart', source: 'startup' },
      { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'do it' },
      { ...base, hook_event_name: 'PreToolUse', ...bash },
      { ...base, hook_event_name: 'PostToolUse', ...bash, tool_response: 'hi' },
      { ...base, hook_event_name: 'PreToolUse', ...patch },
      { ...base, hook_event_name: 'PostToolUse', ...patch, tool_response: outputOf(world.provider.requests[2], 'c2') },
      { ...base, hook_event_name: 'PreToolUse', ...plan },
      { ...base, hook_event_name: 'PostToolUse', ...plan, tool_response: 'Plan updated' },
      { ...base, hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'all done' },
      { ...start, hook_event_name: 'SessionEnd', reason: 'other' },
    ]);
    expect(turn.warnings).toEqual([]);
  });

  test('is told to whoever waits when a hook says what it does', async () => {
    const world = new AgentWorld([[{ shell: 'true' }], [{ say: 'done' }]]);
    writeHooks(world, [
      { event: 'PreToolUse', run: '', statusMessage: 'looking at the command' },
      { event: 'PreToolUse', matcher: 'apply_patch', run: '', statusMessage: 'of another tool' },
      { event: 'PostToolUse', run: '' },
    ]);
    const { events } = await runTurn(await world.thread(), 'hi');
    expect(events.filter(event => event.type === 'hook.started')).toEqual([
      { type: 'hook.started', hook: 'PreToolUse', message: 'looking at the command' },
    ]);
  });

  test('before a compaction is its trigger', async () => {
    const world = new AgentWorld([
      [{ shell: 'true' }, { usage: { input: 95_000, output: 1 } }],
      [{ say: 'the summary' }],
      [{ say: 'end' }],
    ]);
    writeHooks(world, [
      { event: 'PreCompact', run: 'echo no >&2; exit 2' },
      { event: 'PreCompact', matcher: 'manual', run: '' },
    ]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(seen(world)).toEqual([expect.objectContaining({ hook_event_name: 'PreCompact', trigger: 'auto' })]);
    expect(turn.content).toBe('end');
    expect(turn.warnings[0]).toMatch(/PreCompact hook .* asked to block \(no\), which it can't/);
  });

  test('at the start of a session that goes on says so, once', async () => {
    const world = new AgentWorld();
    writeHooks(world, [
      { event: 'SessionStart', run: 'echo "welcome"' },
      { event: 'SessionStart', matcher: 'resume', run: 'echo "back again"' },
    ]);
    const first = await world.thread();
    await runTurn(first, 'one');
    await runTurn(first, 'two');
    expect(textsOf(world.provider.requests[1], 'developer').filter(text => text === 'welcome')).toHaveLength(1);
    const again = await world.manager().getThread(first.id);
    await runTurn(again, 'three');
    expect(seen(world).map(hook => hook['source'])).toEqual(['startup', 'resume', 'resume']);
    const items = world.provider.requests[2]?.input ?? [];
    const texts = items.flatMap(item =>
      item.type === 'message' ? [item.content.map(p => 'text' in p && p.text)] : [],
    );
    expect(texts.slice(-2)).toEqual([['welcome', 'back again'], ['three']]);
  });
});

describe('a PreToolUse hook', () => {
  const denials: [string, string, string][] = [
    ['a decision', `echo ${quote({ decision: 'block', reason: 'not here' })}`, 'not here'],
    [
      'a permission decision',
      `echo ${quote({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'too risky' } })}`,
      'too risky',
    ],
    ['exit code 2', 'echo "by policy" >&2; exit 2', 'by policy'],
    ['exit code 2 without a word', 'exit 2', 'no reason given'],
    ['an answer that ends everything', `echo ${quote({ continue: false, stopReason: 'enough' })}`, 'enough'],
  ];
  test.each(denials)('that forbids by %s keeps a command from running', async (_, run, reason) => {
    const world = new AgentWorld([[{ shell: 'touch made', id: 'c1' }]]);
    writeHooks(world, [{ event: 'PreToolUse', matcher: 'Bash', run }]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(outputOf(world.provider.requests[1], 'c1')).toBe(
      `Command blocked by PreToolUse hook: ${reason}. Command: touch made`,
    );
    expect(existsSync(path.join(world.cwd, 'made'))).toBe(false);
    expect(turn.items.map(item => item.type)).not.toContain('command_execution');
    expect(turn.status).toBe('completed');
  });

  test('that forbids a patch keeps it from the files, also when it came through a shell', async () => {
    const heredoc = `apply_patch <<'EOF'\n${PATCH}\nEOF`;
    const world = new AgentWorld([[{ patch: PATCH, id: 'c1' }], [{ shell: heredoc, id: 'c2' }]]);
    writeHooks(world, [{ event: 'PreToolUse', matcher: 'Write|Other', run: 'echo "files stay" >&2; exit 2' }]);
    const turn = await runTurn(await world.thread(), 'hi');
    const text = `Command blocked by PreToolUse hook: files stay. Command: ${PATCH}`;
    expect(outputOf(world.provider.requests[1], 'c1')).toBe(text);
    expect(outputOf(world.provider.requests[2], 'c2')).toContain(text);
    expect(existsSync(path.join(world.cwd, 'new.txt'))).toBe(false);
    expect(turn.items.map(item => item.type)).not.toContain('file_change');
  });

  test('that forbids another tool names it', async () => {
    const world = new AgentWorld([[{ call: 'update_plan', args: { plan: [] }, id: 'c1' }]]);
    writeHooks(world, [{ event: 'PreToolUse', matcher: 'update_.*', run: 'echo "no plans" >&2; exit 2' }]);
    await runTurn(await world.thread(), 'hi');
    const text = 'Tool call blocked by PreToolUse hook: no plans. Tool: update_plan';
    expect(outputOf(world.provider.requests[1], 'c1')).toBe(text);
  });

  test('knows a tool of an MCP server by the names of both, and its arguments', async () => {
    const world = new AgentWorld([
      [{ call: 'mcp__box__open', args: { text: 'gently' }, id: 'c1' }],
      [{ call: 'mcp__box__shut', args: { text: 'hard' }, id: 'c2' }],
    ]);
    const read = { readOnlyHint: true };
    const tools = ['open', 'shut'].map(name => ({
      name,
      annotations: read,
      result: { content: [{ type: 'text', text: `${name} done` }] },
    }));
    const server = path.join(import.meta.dirname, '../fixtures/mcp-servers/scripted.mjs');
    const args = JSON.stringify([server, JSON.stringify({ tools })]);
    world.write(
      'home/config.toml',
      `[mcp_servers.box]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`,
    );
    writeHooks(world, [
      { event: 'PreToolUse', matcher: 'mcp__box__shut', run: 'echo "stays open" >&2; exit 2' },
      { event: 'PostToolUse', matcher: 'mcp__.*', run: '' },
    ]);
    await runTurn(await world.thread(), 'hi');
    expect(outputOf(world.provider.requests[2], 'c2')).toBe(
      'Tool call blocked by PreToolUse hook: stays open. Tool: mcp__box__shut',
    );
    expect(seen(world)).toMatchObject([
      {
        tool_name: 'mcp__box__open',
        tool_input: { text: 'gently' },
        tool_response: expect.stringContaining('open done'),
      },
      { tool_name: 'mcp__box__shut', tool_input: { text: 'hard' }, hook_event_name: 'PreToolUse' },
    ]);
  });

  test('that approves does not stand in for the approval policy', async () => {
    const world = new AgentWorld([[{ shell: 'rm -rf x', id: 'c1' }]]);
    const approval = { hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: 'fine' };
    writeHooks(world, [{ event: 'PreToolUse', run: `echo ${quote({ hookSpecificOutput: approval })}` }]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(turn.warnings).toEqual([]);
    expect(outputOf(world.provider.requests[1], 'c1')).toContain('rejected');
  });

  test('is one of several: each is asked, and all their reasons count', async () => {
    const world = new AgentWorld([[{ shell: 'true', id: 'c1' }]]);
    writeHooks(world, [
      { event: 'PreToolUse', run: 'echo one >&2; exit 2' },
      { event: 'PreToolUse', run: '' },
      { event: 'PreToolUse', run: 'echo three >&2; exit 2' },
    ]);
    await runTurn(await world.thread(), 'hi');
    expect(outputOf(world.provider.requests[1], 'c1')).toContain('hook: one; three. Command');
  });

  test('can add a text for the model', async () => {
    const world = new AgentWorld([[{ shell: 'printf out', id: 'c1' }]]);
    const answer = { hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'Mind the gap.' } };
    writeHooks(world, [{ event: 'PreToolUse', run: `echo ${quote(answer)}` }]);
    await runTurn(await world.thread(), 'hi');
    expect(outputOf(world.provider.requests[1], 'c1')).toMatch(/out\nMind the gap\.$/);
  });
});

describe('a hook that goes wrong', () => {
  const faults: [string, string, RegExp][] = [
    ['fails', 'echo "no luck" >&2; exit 7', /exited with code 7: no luck$/],
    ['is killed', 'kill -9 $$', /exited with code 137/],
    ['prints half an answer', 'echo "{\\"decision\\":"', /begins like JSON and is none/],
    ['answers for another event', `echo ${quote({ hookSpecificOutput: { hookEventName: 'Stop' } })}`, /of "Stop"/],
    ['decides something unknown', `echo ${quote({ decision: 'perhaps' })}`, /decided "perhaps", which is not/],
    [
      'asks for a person',
      `echo ${quote({ hookSpecificOutput: { permissionDecision: 'ask' } })}`,
      /decided "ask", which is not supported here/,
    ],
    ['wants another input', `echo ${quote({ hookSpecificOutput: { updatedInput: {} } })}`, /updatedInput/],
  ];
  test.each(faults)('because it %s costs a warning; the tool runs', async (_, run, warning) => {
    const world = new AgentWorld([[{ shell: 'touch made' }]]);
    writeHooks(world, [{ event: 'PreToolUse', run }]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(turn.warnings).toEqual([expect.stringMatching(warning)]);
    expect(turn.warnings[0]).toContain(`PreToolUse hook \`${world.root}/hook-home-0.sh\` of ${world.home}/hooks.json`);
    expect(existsSync(path.join(world.cwd, 'made'))).toBe(true);
  });

  test('because it takes too long is ended with everything it started', async () => {
    const world = new AgentWorld([[{ shell: 'touch made' }]]);
    const run = `sh -c 'echo $$ > ${world.root}/pid; exec sleep 600' & wait`;
    writeHooks(world, [{ event: 'PreToolUse', run, timeout: 0.3 }]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(turn.warnings).toEqual([expect.stringMatching(/did not end within 0\.3 seconds and was ended$/)]);
    expect(existsSync(path.join(world.cwd, 'made'))).toBe(true);
    const pid = readFileSync(path.join(world.root, 'pid'), 'utf8').trim();
    expect(isAlive(pid)).toBe(false);
  });

  test('says what it has to say to the person', async () => {
    const world = new AgentWorld();
    writeHooks(world, [{ event: 'UserPromptSubmit', run: `echo ${quote({ systemMessage: 'Look here.' })}` }]);
    expect((await runTurn(await world.thread(), 'hi')).warnings).toEqual(['Look here.']);
  });
});

describe('a UserPromptSubmit hook', () => {
  test('puts what it prints behind the prompt, with what the others print', async () => {
    const world = new AgentWorld();
    const answer = { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'from JSON' } };
    writeHooks(world, [
      { event: 'UserPromptSubmit', run: 'echo "[note] plain text"' },
      { event: 'UserPromptSubmit', run: `echo ${quote(answer)}` },
      { event: 'UserPromptSubmit', run: '' },
    ]);
    await runTurn(await world.thread(), 'the prompt');
    const [prompt, context] = world.provider.requests[0]?.input.slice(-2) ?? [];
    expect(prompt).toMatchObject({ role: 'user', content: [{ text: 'the prompt' }] });
    expect(context).toMatchObject({
      role: 'developer',
      content: [{ text: '[note] plain text' }, { text: 'from JSON' }],
    });
  });

  test.each([
    ['exit code 2', 'echo "no such prompts" >&2; exit 2'],
    ['a decision', `echo ${quote({ decision: 'block', reason: 'no such prompts' })}`],
    ['ending everything', `echo ${quote({ continue: false, stopReason: 'no such prompts' })}`],
  ])(
    'that blocks by %s fails the turn with its reason; the prompt is not kept and the thread goes on',
    async (_, run) => {
      const world = new AgentWorld();
      writeHooks(world, [{ event: 'UserPromptSubmit', run: `case "$IN" in *secret*) ${run};; esac` }]);
      const thread = await world.thread();
      const turn = await runTurn(thread, 'the secret');
      expect(turn).toMatchObject({
        status: 'failed',
        error: { message: 'The prompt was blocked by a UserPromptSubmit hook: no such prompts' },
      });
      expect(world.provider.requests).toHaveLength(0);
      expect((await runTurn(thread, 'fine')).status).toBe('completed');
      expect(JSON.stringify(world.provider.requests[0]?.input)).not.toContain('the secret');
    },
  );
});

describe('a PostToolUse hook', () => {
  test('adds its texts and its objection to the output', async () => {
    const world = new AgentWorld([[{ shell: 'printf out', id: 'c1' }]]);
    const context = { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'A remark.' } };
    writeHooks(world, [
      { event: 'PostToolUse', run: `echo ${quote(context)}` },
      { event: 'PostToolUse', run: `echo ${quote({ decision: 'block', reason: 'Looks wrong.' })}` },
      { event: 'PostToolUse', run: 'echo "plain text is for nobody"' },
    ]);
    await runTurn(await world.thread(), 'hi');
    expect(outputOf(world.provider.requests[1], 'c1')).toMatch(
      /\nout\nA remark\.\nFeedback of a PostToolUse hook: Looks wrong\.$/,
    );
  });

  test('does not run for a call that was refused', async () => {
    const world = new AgentWorld([[{ shell: 'rm -rf x' }]]);
    writeHooks(world, [{ event: 'PostToolUse', run: '' }]);
    await runTurn(await world.thread(), 'hi');
    expect(seen(world)).toEqual([]);
  });
});

describe('a Stop hook', () => {
  test('that blocks sends the turn on with its reason as a prompt, and knows the second time', async () => {
    const world = new AgentWorld([[{ say: 'first' }], [{ say: 'second' }]]);
    const run = `case "$IN" in *'"stop_hook_active":false'*) echo "Run the tests." >&2; exit 2;; esac`;
    writeHooks(world, [{ event: 'Stop', run }]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(turn.content).toBe('second');
    expect(seen(world).map(hook => hook['stop_hook_active'])).toEqual([false, true]);
    expect(textsOf(world.provider.requests[1], 'user').at(-1)).toBe(
      '<hook_prompt event="Stop">\nRun the tests.\n</hook_prompt>',
    );
  });

  test('can not keep a turn going for ever', async () => {
    const world = new AgentWorld();
    writeHooks(world, [{ event: 'Stop', run: 'echo more >&2; exit 2' }]);
    const turn = await runTurn(await world.thread(), 'hi');
    expect(turn.status).toBe('completed');
    expect(world.provider.requests).toHaveLength(9);
    expect(turn.warnings).toEqual([expect.stringContaining('more than 8 times')]);
  });

  test('that wants the end wins over one that wants to go on', async () => {
    const world = new AgentWorld();
    writeHooks(world, [
      { event: 'Stop', run: 'echo more >&2; exit 2' },
      { event: 'Stop', run: `echo ${quote({ continue: false })}` },
    ]);
    await runTurn(await world.thread(), 'hi');
    expect(world.provider.requests).toHaveLength(1);
  });
});

describe('matchers', () => {
  test.each([
    ['Bash', true],
    ['*', true],
    ['', true],
    ['Edit|Bash', true],
    ['^Ba', true],
    ['B.s', true],
    ['(?i)^bash$', true],
    ['bash', false],
    ['Bas', false],
    ['apply_patch', false],
    ['mcp__.*', false],
  ])('%j: a command matches %s', async (matcher, matching) => {
    const world = new AgentWorld([[{ shell: 'true' }]]);
    writeHooks(world, [{ event: 'PreToolUse', matcher, run: '' }]);
    await runTurn(await world.thread(), 'hi');
    expect(seen(world)).toHaveLength(matching ? 1 : 0);
  });
});

describe('hooks', () => {
  test('of one event run at the same time', async () => {
    const world = new AgentWorld();
    const meet = (mine: string, other: string) =>
      `touch ${world.root}/${mine}; while [ ! -e ${world.root}/${other} ]; do sleep 0.02; done; echo met`;
    writeHooks(world, [
      { event: 'UserPromptSubmit', run: meet('a', 'b') },
      { event: 'UserPromptSubmit', run: meet('b', 'a') },
    ]);
    await runTurn(await world.thread(), 'hi');
    expect(textsOf(world.provider.requests[0], 'developer').at(-1)).toBe('met\nmet');
  });

  test('run in the working directory, without a sandbox, in the environment that commands get', async () => {
    const world = new AgentWorld([], {
      deps: { env: { PATH: process.env['PATH'], HOME: '/h', MY_TOKEN: 't', MINE: 'm' } },
    });
    writeHooks(world, [{ event: 'Stop', run: `pwd > out; env >> out` }]);
    const thread = await world.thread({ c: ['sandbox_mode=read-only', 'shell_environment_policy.set.ADDED=yes'] });
    await runTurn(thread, 'hi');
    const lines = readFileSync(path.join(world.cwd, 'out'), 'utf8').split('\n');
    expect(lines[0]).toBe(world.cwd);
    expect(lines).toEqual(expect.arrayContaining(['MINE=m', 'ADDED=yes', `CODEX_THREAD_ID=${thread.id}`]));
    expect(lines.join('\n')).not.toMatch(/MY_TOKEN|SANDBOX_NETWORK/);
  });

  test('end with the turn when it is interrupted', async () => {
    const world = new AgentWorld();
    writeHooks(world, [{ event: 'UserPromptSubmit', run: `echo $$ > ${world.root}/pid; sleep 600` }]);
    const stop = new AbortController();
    const running = runTurn(await world.thread(), 'hi', { signal: stop.signal });
    const pid = await until(
      () => existsSync(path.join(world.root, 'pid')) && readFileSync(path.join(world.root, 'pid'), 'utf8').trim(),
    );
    stop.abort();
    expect((await running).status).toBe('aborted');
    expect(isAlive(pid)).toBe(false);
    expect(world.provider.requests).toHaveLength(0);
  });

  test('that hang at the end of a session do not hold up the end of the process', async () => {
    const world = new AgentWorld();
    writeHooks(world, [{ event: 'SessionEnd', run: 'sleep 600' }]);
    const manager = world.manager();
    await runTurn(await manager.startThread(world.config(), 'mcp'), 'hi');
    await manager.close();
    expect(world.log).toEqual([expect.stringMatching(/SessionEnd hook .* did not end within 1 seconds/)]);
  });

  test('do not run for a thread that ran no turn', async () => {
    const world = new AgentWorld();
    writeHooks(world, [{ event: 'SessionEnd', run: '' }]);
    const manager = world.manager();
    await manager.startThread(world.config(), 'mcp');
    await manager.close();
    expect(seen(world)).toEqual([]);
  });

  test('are all off when the feature is', async () => {
    const world = new AgentWorld();
    writeHooks(world, [{ event: 'UserPromptSubmit', run: 'exit 2' }]);
    expect((await runTurn(await world.thread({ c: ['features.hooks=false'] }), 'hi')).status).toBe('completed');
    expect(seen(world)).toEqual([]);
  });

  test('of a project that is not trusted do not run and are named once; with trust they run', async () => {
    const world = new AgentWorld();
    world.write('work/.git/HEAD', '');
    const file = writeHooks(world, [{ event: 'Stop', run: '' }], 'work/.openinterpreter/hooks.json');
    const thread = await world.thread();
    expect((await runTurn(thread, 'hi')).warnings).toEqual([
      `Hooks of ${file} do not run because the project is not trusted: Stop \`${world.root}/hook-.openinterpreter-0.sh\`. To run them, read them and add to config.toml in your home: [projects."${world.cwd}"] trust_level = "trusted"`,
    ]);
    expect((await runTurn(thread, 'hi')).warnings).toEqual([]);
    expect(seen(world)).toEqual([]);
    await runTurn(await world.thread({ c: [`projects."${world.cwd}".trust_level=trusted`] }), 'hi');
    expect(seen(world)).toHaveLength(1);
  });
});
