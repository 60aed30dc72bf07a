import { describe, expect, test } from 'vitest';
import { judge, NO_RULES, type Rules } from '../../src/approvals/index.js';
import { type CommandAction, contextOf, POLICIES, SANDBOXES, shell } from './support.js';

function proposalFor(script: string, changes: Partial<CommandAction> = {}, rules: Rules = NO_RULES): string[] | null {
  const verdict = judge(shell(script, changes), contextOf({ policy: 'untrusted', rules }));
  if (verdict.type !== 'ask') throw new Error(`not asked: ${script}`);
  return verdict.proposed_rule;
}

test.each([
  ['touch x', ['touch', 'x']],
  ['ls && touch "a b"', ['touch', 'a b']],
  ['ls && git push && touch y', ['git', 'push']],
  ['touch *', ['touch', '*']],
  ['npm run test', ['npm', 'run', 'test']],
  ["python3 -c 'print(1)'", ['python3', '-c', 'print(1)']],
  ['sudo apt-get update', ['sudo', 'apt-get', 'update']],
  // A whole script stands for itself alone.
  ['echo hi > f', ['/bin/bash', '-lc', 'echo hi > f']],
  ['X=1 ls', ['/bin/bash', '-lc', 'X=1 ls']],
])('%j: the first command that is not known to be safe: %j', (script, prefix) => {
  expect(proposalFor(script)).toEqual(prefix);
});

test.each([
  'rm -rf x',
  'rm x',
  'git',
  'python3',
  'python3 -m',
  'bash',
  'env',
  'npm',
  'npm run',
  'ls $(pwd)',
  'echo $HOME > f',
  'cat <<EOF\nx\nEOF',
  `touch ${'x'.repeat(2000)}`,
])('%j: nothing is proposed', script => {
  expect(proposalFor(script)).toBeNull();
});

describe('a prefix that the model suggests', () => {
  test.each([
    ['touch x', ['touch']],
    ['npm run build -- -v', ['npm', 'run', 'build']],
    ['ls && make all && cat x', ['make']],
    ['git push origin', ['git', 'push']],
  ])('%j: %j is taken', (script, prefix_rule) => {
    expect(proposalFor(script, { prefix_rule })).toEqual(prefix_rule);
  });

  test.each([
    // It would not settle the question.
    ['touch x', ['make'], ['touch', 'x']],
    ['touch x && make', ['make'], ['touch', 'x']],
    ['touch x > y', ['touch'], ['/bin/bash', '-lc', 'touch x > y']],
    // It is too broad.
    ['git push', ['git'], ['git', 'push']],
    ['python3 a.py', ['python3'], ['python3', 'a.py']],
    ["bash -c 'x'", ['bash', '-c'], ['bash', '-c', 'x']],
    ['npm run build', ['npm', 'run'], ['npm', 'run', 'build']],
    ['touch x', [], ['touch', 'x']],
    ['touch x', [''], ['touch', 'x']],
  ])('%j: %j is not taken', (script, prefix_rule, instead) => {
    expect(proposalFor(script, { prefix_rule })).toEqual(instead);
  });

  test('may complete what rules allow already', () => {
    const rules: Rules = { ...NO_RULES, prefixes: [{ pattern: [['touch']], decision: 'allow', justification: null }] };
    expect(proposalFor('touch x && make', { prefix_rule: ['make'] }, rules)).toEqual(['make']);
    expect(proposalFor('touch x && make', {}, rules)).toEqual(['make']);
  });
});

test('an escalated call proposes its first command, safe or not', () => {
  const verdict = (script: string) =>
    judge(shell(script, { escalated: true, justification: 'Needs the network.' }), contextOf({ policy: 'on-request' }));
  expect(verdict('ls')).toMatchObject({ sandboxed: false, reason: 'Needs the network.', proposed_rule: ['ls'] });
  expect(verdict('ls && touch x')).toMatchObject({ proposed_rule: ['touch', 'x'] });
});

test('the reason of a question is what the model says, or that files are deleted by force', () => {
  const reason = (script: string, justification: string | null) => {
    const verdict = judge(shell(script, { justification }), contextOf({ policy: 'untrusted' }));
    return verdict.type === 'ask' ? verdict.reason : 'not asked';
  };
  expect(reason('touch x', null)).toBeNull();
  expect(reason('touch x', 'To try.')).toBe('To try.');
  expect(reason('rm -rf x', null)).toBe('It deletes files by force (rm -f).');
  expect(reason('rm -rf x', 'Old output.')).toBe('It deletes files by force (rm -f). Old output.');
});

test('no policy and no sandbox makes a forced rm worth a rule', () => {
  for (const policy of Object.values(POLICIES)) {
    for (const sandbox of Object.values(SANDBOXES)) {
      const verdict = judge(shell('rm -rf x', { prefix_rule: ['rm', '-rf', 'x'] }), contextOf({ policy, sandbox }));
      expect(verdict.type === 'ask' ? verdict.proposed_rule : null).toBeNull();
    }
  }
});
