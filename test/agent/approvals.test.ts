import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ApprovalDecision, ApprovalRequest } from '../../src/protocol/index.js';
import { AgentWorld, type LoadMore, runTurn } from '../support/agent-world.js';
import { describeIf } from '../support/requires.js';
import { type ModelAnswerScript, outputOf } from '../support/scripted-provider.js';

type Asked = { requests: ApprovalRequest[]; approver: (request: ApprovalRequest) => Promise<ApprovalDecision> };

/** A person who gives these answers, the last one again and again. */
function person(...decisions: ApprovalDecision[]): Asked {
  const requests: ApprovalRequest[] = [];
  const approver = (request: ApprovalRequest): Promise<ApprovalDecision> => {
    requests.push(request);
    return Promise.resolve(decisions[Math.min(requests.length, decisions.length) - 1] ?? { type: 'abort' });
  };
  return { requests, approver };
}

const untrusted: LoadMore = { c: ['approval_policy=untrusted'] };
const touch = (file: string, id = 'c'): ModelAnswerScript => [{ shell: `touch ${file}`, id }];
const add = (file: string, id = 'c') => ({ patch: `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch`, id });
const exists = (world: AgentWorld, file: string) => existsSync(path.join(world.cwd, file));

describe('a command that needs an approval', () => {
  it('is asked about with all a person needs, and runs once approved', async () => {
    const world = new AgentWorld([touch('made')]);
    const { requests, approver } = person({ type: 'approved' });
    const turn = await runTurn(await world.thread(untrusted), 'go', { approver });
    expect(requests).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        thread_id: turn.thread_id,
        turn_id: turn.turn_id,
        call_id: 'c',
        reason: null,
        type: 'command',
        command: ['/bin/sh', '-c', 'touch made'],
        cwd: world.cwd,
        parsed: [{ type: 'unknown', cmd: 'touch made' }],
        unsandboxed: true,
        proposed_rule: ['touch', 'made'],
      },
    ]);
    expect(exists(world, 'made')).toBe(true);
    const asked = turn.events.findIndex(event => event.type === 'approval.requested');
    const decided = turn.events.findIndex(event => event.type === 'approval.decided');
    const begun = turn.events.findIndex(
      event => event.type === 'item.started' && event.item.type === 'command_execution',
    );
    expect([asked > 0, asked < decided, decided < begun]).toEqual([true, true, true]);
    expect(turn.events[decided]).toEqual({
      type: 'approval.decided',
      request_id: requests[0]?.id,
      decision: 'approved',
    });
  });

  it('tells the model what a person added', async () => {
    const world = new AgentWorld([touch('made')]);
    const { approver } = person({ type: 'approved', note: 'use less force' });
    await runTurn(await world.thread(untrusted), 'go', { approver });
    expect(outputOf(world.provider.requests[1], 'c')).toContain('The person who approved this added: use less force');
  });

  it.each<[ApprovalDecision & { type: 'denied' }, RegExp]>([
    [
      { type: 'denied', by: 'person', reason: 'too risky' },
      /denied by the person who was asked: too risky .*another way/,
    ],
    [{ type: 'denied', by: 'person', reason: '' }, /denied by the person who was asked\. /],
    [
      { type: 'denied', by: 'client', reason: 'declined' },
      /the client declined .*\(declined\); perhaps no person saw it/,
    ],
    [{ type: 'denied', by: 'policy', reason: 'no elicitation' }, /nobody can be asked \(no elicitation\)\. .*policy/],
    [
      { type: 'denied', by: 'timeout', reason: '600 s' },
      /nobody answered the approval request in time \(600 s\)\. .*policy/,
    ],
  ])('is not run when it is denied: $by, "$reason"', async (decision, text) => {
    const world = new AgentWorld([touch('made')]);
    const { approver } = person(decision);
    const turn = await runTurn(await world.thread(untrusted), 'go', { approver });
    expect(exists(world, 'made')).toBe(false);
    expect(outputOf(world.provider.requests[1], 'c')).toMatch(text);
    expect(turn).toMatchObject({ status: 'completed', content: 'done' });
    expect(turn.items.some(item => item.type === 'command_execution')).toBe(false);
    expect(turn.events).toContainEqual(expect.objectContaining({ type: 'approval.decided', decision: 'denied' }));
  });

  it('ends the turn when the answer is abort, and no further request is made', async () => {
    const world = new AgentWorld([touch('made')]);
    const { approver } = person({ type: 'abort' });
    const turn = await runTurn(await world.thread(untrusted), 'go', { approver });
    expect(turn).toMatchObject({ status: 'aborted', aborted_by: 'decision' });
    expect(exists(world, 'made')).toBe(false);
    expect(world.provider.requests).toHaveLength(1);
  });

  it('is not asked about again in a thread that has it granted; another command is', async () => {
    const world = new AgentWorld([touch('a'), touch('a'), touch('b')]);
    const { requests, approver } = person({ type: 'approved_for_thread' });
    await runTurn(await world.thread(untrusted), 'go', { approver });
    expect(requests.map(request => 'command' in request && request.command[2])).toEqual(['touch a', 'touch b']);
  });

  it('is still granted after the thread was resumed', async () => {
    const world = new AgentWorld([touch('a'), [], touch('a')]);
    const thread = await world.thread(untrusted);
    await runTurn(thread, 'go', { approver: person({ type: 'approved_for_thread' }).approver });
    const later = person({ type: 'abort' });
    const resumed = await world.manager().getThread(thread.id, world.config(untrusted));
    expect(await runTurn(resumed, 'again', { approver: later.approver })).toMatchObject({ status: 'completed' });
    expect(later.requests).toEqual([]);
  });

  it('is asked about each time where a rule asks, and the question says so', async () => {
    const world = new AgentWorld([touch('asked'), touch('asked')]);
    world.write('home/rules/default.rules', 'prefix_rule(pattern=["touch", "asked"], decision="prompt")\n');
    const { requests, approver } = person({ type: 'approved_for_thread' });
    const thread = await world.thread({ c: ['approval_policy=on-request'] });
    await runTurn(thread, 'go', { approver });
    expect(requests).toMatchObject([{ once_only: true }, { once_only: true }]);
    expect(readFileSync(thread.settings.rollout_path ?? '', 'utf8')).not.toContain('"grant"');
  });

  it('is saved as a rule, which counts at once and in other threads', async () => {
    const world = new AgentWorld([touch('a'), touch('b'), [], touch('c')]);
    const { requests, approver } = person({ type: 'approved_with_rule', prefix: ['touch'] }, { type: 'abort' });
    await runTurn(await world.thread(untrusted), 'go', { approver });
    await runTurn(await world.thread(untrusted), 'go', { approver });
    expect(requests).toHaveLength(1);
    expect(exists(world, 'c')).toBe(true);
    expect(readFileSync(path.join(world.home, 'rules/default.rules'), 'utf8')).toContain(
      'prefix_rule(pattern=["touch"], decision="allow")',
    );
  });

  it('still runs when the rule could not be saved, and says so', async () => {
    const world = new AgentWorld([touch('a')]);
    world.write('home/rules/default.rules/x', 'a folder is in the way');
    const { approver } = person({ type: 'approved_with_rule', prefix: ['touch'] });
    await runTurn(await world.thread(untrusted), 'go', { approver });
    expect(exists(world, 'a')).toBe(true);
    expect(outputOf(world.provider.requests[1], 'c')).toContain('The rule could not be saved: ');
  });

  it('that runs beside others is asked about while they go on', async () => {
    const world = new AgentWorld([
      [
        { shell: 'touch asked', id: 'asks' },
        { shell: 'ls; touch free', id: 'c2' },
      ],
    ]);
    world.write('home/rules/default.rules', 'prefix_rule(pattern=["touch", "asked"], decision="prompt")\n');
    const thread = await world.thread({ c: ['approval_policy=on-request'] });
    let ended = () => {};
    const other = new Promise<void>(resolve => {
      ended = resolve;
    });
    const turn = await runTurn(thread, 'go', {
      approver: async () => {
        await other;
        return { type: 'approved' };
      },
      onEvent: event => {
        if (event.type === 'item.completed' && event.item.id === 'c2') ended();
      },
    });
    expect(turn.status).toBe('completed');
    expect(exists(world, 'asked')).toBe(true);
  });
});

describe('what nobody may be asked about', () => {
  it('is refused with the policy that forbids the question, and the turn goes on', async () => {
    const world = new AgentWorld([[{ shell: 'touch x', id: 'c', args: { sandbox_permissions: 'require_escalated' } }]]);
    const { requests, approver } = person({ type: 'approved' });
    const turn = await runTurn(await world.thread({ c: ['sandbox_mode=read-only'] }), 'go', { approver });
    expect(requests).toEqual([]);
    expect(outputOf(world.provider.requests[1], 'c')).toContain('approval policy is never; command rejected');
    expect(turn.status).toBe('completed');
  });

  it.each([
    ['sandbox_approval', [{ shell: 'touch x', id: 'c', args: { sandbox_permissions: 'require_escalated' } }]],
    ['sandbox_approval', [add('/var/tmp/never-made')]],
    ['rules', [{ shell: 'touch prompted', id: 'c' }]],
  ] as const)('is refused by a granular policy without %s', async (category, answer) => {
    const world = new AgentWorld([answer]);
    world.write('home/rules/default.rules', 'prefix_rule(pattern=["touch", "prompted"], decision="prompt")\n');
    const all = {
      sandbox_approval: true,
      rules: true,
      mcp_elicitations: true,
      request_permissions: true,
      skill_approval: true,
    };
    const granular = { ...all, [category]: false };
    const policy = { path: 'approval_policy', value: { granular }, source: 'the test' };
    const { requests, approver } = person({ type: 'approved' });
    const c = ['sandbox_mode=workspace-write'];
    await runTurn(await world.thread({ c, overrides: [policy] }), 'go', { approver });
    expect(requests).toEqual([]);
    expect(outputOf(world.provider.requests[1], 'c')).toContain(`granular with ${category} = false`);
    expect(exists(world, 'prompted')).toBe(false);
  });
});

describe('a patch', () => {
  const onRequest: LoadMore = { c: ['sandbox_mode=workspace-write', 'approval_policy=on-request'] };

  it('inside the workspace is not asked about, and is one item', async () => {
    const world = new AgentWorld([[add('made')]]);
    const { requests, approver } = person({ type: 'abort' });
    const turn = await runTurn(await world.thread(onRequest), 'go', { approver });
    expect(requests).toEqual([]);
    expect(exists(world, 'made')).toBe(true);
    const change = { type: 'add', content: 'x\n' };
    expect(turn.items).toContainEqual({
      type: 'file_change',
      id: 'c',
      changes: { [`${world.cwd}/made`]: change },
      status: 'completed',
      auto_approved: true,
      stdout: expect.stringContaining('A made'),
      stderr: '',
    });
    expect(turn.changes).toEqual({ [`${world.cwd}/made`]: change });
    const diff = turn.events.findLast(event => event.type === 'diff.updated');
    expect(diff?.unified_diff).toContain('diff --git a/made b/made\nnew file mode 100644\n');
  });

  it('outside the workspace is asked about with its files, and written when approved', async () => {
    const world = new AgentWorld([[add('../outside')]]);
    const { requests, approver } = person({ type: 'approved' });
    const turn = await runTurn(await world.thread(onRequest), 'go', { approver });
    expect(requests).toMatchObject([
      {
        type: 'patch',
        call_id: 'c',
        cwd: world.cwd,
        changes: { [`${world.root}/outside`]: { type: 'add', content: 'x\n' } },
        unsandboxed: true,
      },
    ]);
    expect(readFileSync(path.join(world.root, 'outside'), 'utf8')).toBe('x\n');
    const started = turn.events.find(event => event.type === 'item.started' && event.item.type === 'file_change');
    expect(started).toMatchObject({ item: { auto_approved: false } });
    expect(Object.keys(turn.changes)).toEqual([`${world.root}/outside`]);
  });

  it('outside that is denied is an item that was declined, and nothing is written', async () => {
    const world = new AgentWorld([[add('../outside')]]);
    const { approver } = person({ type: 'denied', by: 'person', reason: 'no' });
    const turn = await runTurn(await world.thread(onRequest), 'go', { approver });
    expect(existsSync(path.join(world.root, 'outside'))).toBe(false);
    expect(turn.items).toContainEqual(expect.objectContaining({ type: 'file_change', status: 'declined' }));
    expect(turn).toMatchObject({ status: 'completed', changes: {} });
  });

  it('granted for the thread is not asked about again for the same file', async () => {
    const change = (from: string, to: string, id: string) => ({
      patch: `*** Begin Patch\n*** Update File: ../outside\n@@\n-${from}\n+${to}\n*** End Patch`,
      id,
    });
    const world = new AgentWorld([[add('../outside')], [change('x', 'y', 'c2')], [add('../other', 'c3')]]);
    const { requests, approver } = person(
      { type: 'approved_for_thread' },
      { type: 'denied', by: 'person', reason: '' },
    );
    await runTurn(await world.thread(onRequest), 'go', { approver });
    expect(requests.map(request => request.call_id)).toEqual(['c', 'c3']);
    expect(readFileSync(path.join(world.root, 'outside'), 'utf8')).toBe('y\n');
  });

  it('outside when nobody may be asked is refused with what would allow it', async () => {
    const world = new AgentWorld([[add('../outside')]]);
    const turn = await runTurn(await world.thread({ c: ['sandbox_mode=workspace-write'] }), 'go');
    expect(outputOf(world.provider.requests[1], 'c')).toMatch(/^patch rejected: writing outside .*danger-full-access/);
    expect(turn.items).toContainEqual(expect.objectContaining({ type: 'file_change', status: 'declined' }));
  });

  it('in a shell command goes the same way', async () => {
    const script = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ../outside\n+x\n*** End Patch\nEOF";
    const world = new AgentWorld([[{ shell: script, id: 'c' }]]);
    const { requests, approver } = person({ type: 'approved' });
    await runTurn(await world.thread(onRequest), 'go', { approver });
    expect(requests).toMatchObject([{ type: 'patch', call_id: 'c' }]);
    expect(outputOf(world.provider.requests[1], 'c')).toMatch(/^Wall time: \d+\.\d+ seconds\nOutput:\n/);
  });
});

describeIf('bubblewrap', 'a command that asks to leave the sandbox', () => {
  const c = [
    'sandbox_mode=workspace-write',
    'approval_policy=on-request',
    'sandbox_workspace_write.exclude_slash_tmp=true',
  ];

  it('runs outside once approved, with its justification in the question', async () => {
    const world = new AgentWorld();
    const script = `touch ${world.root}/outside`;
    const args = { sandbox_permissions: 'require_escalated', justification: 'it has to be there' };
    world.provider.add([{ shell: script, id: 'in' }], [{ shell: script, id: 'out', args }]);
    const { requests, approver } = person({ type: 'approved' });
    await runTurn(await world.thread({ c }), 'go', { approver });
    expect(requests).toMatchObject([{ call_id: 'out', reason: 'it has to be there', unsandboxed: true }]);
    expect(existsSync(`${world.root}/outside`)).toBe(true);
    expect(outputOf(world.provider.requests[1], 'in')).toMatch(
      /Process exited with code 1[\s\S]*Read-only file system/,
    );
  });

  it('is not run at all when that is denied', async () => {
    const world = new AgentWorld();
    const args = { sandbox_permissions: 'require_escalated' };
    world.provider.add([{ shell: `touch ${world.root}/outside inside`, id: 'c', args }]);
    const { approver } = person({ type: 'denied', by: 'client', reason: '' });
    await runTurn(await world.thread({ c }), 'go', { approver });
    expect(existsSync(`${world.root}/outside`)).toBe(false);
    expect(exists(world, 'inside')).toBe(false);
  });
});
