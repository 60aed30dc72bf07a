import { expect, test } from 'vitest';
import { createGrants, judge } from '../../src/approvals/index.js';
import type { Action, Verdict } from '../../src/protocol/index.js';
import { contextOf, inWords, SANDBOXES, shell } from './support.js';

/** What is asked, approved for the thread; `then` is judged with that grant, after a resume of the thread. */
function grantedBy(action: Action, changes: Parameters<typeof contextOf>[0] = {}) {
  const grants = createGrants();
  const verdict = judge(action, contextOf({ ...changes, grants }));
  grants.add(verdict.type === 'ask' ? verdict.keys : []);
  const resumed = createGrants(JSON.parse(JSON.stringify(grants.serialize())) as string[]);
  return (then: Action, others: Parameters<typeof contextOf>[0] = changes): string =>
    inWords(judge(then, contextOf({ ...others, grants: resumed })));
}

const patch = (...writes: string[]): Action => ({ type: 'patch', changes: {}, writes, cwd: '/w' });

test('the same command in the same folder is not asked again, anything else is', () => {
  const then = grantedBy(shell('touch x'));
  expect(then(shell('touch x'))).toBe('run sandboxed');
  expect(then(shell('touch x', { justification: 'again' }))).toBe('run sandboxed');
  expect(then(shell('touch y'))).toBe('ask, then run sandboxed');
  expect(then(shell('touch x '))).toBe('ask, then run sandboxed');
  expect(then(shell('touch x', { cwd: '/other' }))).toBe('ask, then run sandboxed');
  expect(then(shell('touch x', { argv: ['/bin/sh', '-lc', 'touch x'] }))).toBe('ask, then run sandboxed');
});

test('a grant inside the sandbox is none outside, and the other way round', () => {
  const inside = grantedBy(shell('rm -rf x'), { policy: 'on-request' });
  expect(inside(shell('rm -rf x'))).toBe('run sandboxed');
  expect(inside(shell('rm -rf x', { escalated: true }))).toBe('ask, then run free');
  const outside = grantedBy(shell('touch x', { escalated: true }), { policy: 'on-request' });
  expect(outside(shell('touch x', { escalated: true }))).toBe('run free');
  expect(outside(shell('touch x'), { policy: 'untrusted' })).toBe('ask, then run sandboxed');
});

test('a grant never lifts a refusal', () => {
  const then = grantedBy(shell('rm -rf x'), { policy: 'on-request' });
  expect(then(shell('rm -rf x'), { policy: 'never' })).toBe('refuse');
});

test('a patch is granted file by file', () => {
  const then = grantedBy(patch('/w/a', '/w/b'));
  expect(then(patch('/w/a'))).toBe('run sandboxed');
  expect(then(patch('/w/b', '/w/a'))).toBe('run sandboxed');
  expect(then(patch('/w/a', '/w/c'))).toBe('ask, then run sandboxed');
  expect(then(patch('/w/a'), { patchAccess: 'outside' })).toBe('ask, then run free');
  expect(then(patch())).toBe('ask, then run sandboxed');
});

test('a file granted outside the sandbox may be written inside it', () => {
  const then = grantedBy(patch('/w/a', '/etc/b'), { patchAccess: 'outside' });
  expect(then(patch('/etc/b'))).toBe('run free');
  expect(then(patch('/w/a'), { patchAccess: 'writable' })).toBe('run sandboxed');
});

test('a tool of another server is granted with whatever arguments', () => {
  const tool = (name: string, args: unknown): Action => ({
    type: 'mcp_tool',
    server: 's',
    tool: name,
    arguments: args,
    description: null,
    approval_mode: 'auto',
    read_only: false,
    destructive: true,
    open_world: true,
  });
  const then = grantedBy(tool('write', { a: 1 }), { policy: 'on-request' });
  expect(then(tool('write', { b: 2 }))).toBe('run free');
  expect(then(tool('delete', { a: 1 }))).toBe('ask, then run free');
});

test('the question of a rule can not be answered for the thread', () => {
  const rules = {
    prefixes: [{ pattern: [['touch']], decision: 'prompt', justification: null } as const],
    hostExecutables: new Map(),
    network: [],
  };
  const verdict: Verdict = judge(shell('touch x'), contextOf({ rules }));
  expect(verdict).toMatchObject({ type: 'ask', keys: [] });
  expect(grantedBy(shell('touch x'), { rules })(shell('touch x'))).toBe('ask, then run sandboxed');
});

test('what is kept shows no words of a command', () => {
  const grants = createGrants(['kept']);
  const verdict = judge(shell('login --password hunter2'), contextOf({ sandbox: SANDBOXES['read-only'] }));
  grants.add(verdict.type === 'ask' ? verdict.keys : []);
  expect(grants.serialize()).toEqual(['kept', expect.stringMatching(/^command:[0-9a-f]{64}$/)]);
});
