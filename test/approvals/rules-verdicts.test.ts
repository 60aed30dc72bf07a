import { describe, expect, test } from 'vitest';
import { judge, needsGrammar, type Rules } from '../../src/approvals/index.js';
import { contextOf, inWords, POLICIES, refusalOf, SANDBOXES, shell, verdictOn } from './support.js';

const rulesOf = (...prefixes: Rules['prefixes'][number][]): Rules => ({
  prefixes,
  hostExecutables: new Map(),
  network: [],
});
const rule = (decision: 'allow' | 'prompt' | 'forbidden', words: string, justification: string | null = null) => ({
  pattern: words.split(' ').map(word => word.split('|')),
  decision,
  justification,
});

describe('a rule that allows', () => {
  const rules = rulesOf(rule('allow', 'touch'), rule('allow', 'npm run build|test'));

  test.each([
    ['touch x', 'run free'],
    ['touch x && npm run test', 'run free'],
    ['touch "a b" | npm run build -- -v', 'run free'],
    ['touch a\\ b\ntouch c', 'run free'],
    ['touch *', 'run free'],
    // Only some of the commands: the sandbox stays.
    ['ls && touch x', 'run sandboxed'],
    ['touch x; cat a', 'run sandboxed'],
    // Anything that is more than its commands.
    ['touch x > y', 'ask, then run sandboxed'],
    ['touch $(make)', 'ask, then run sandboxed'],
    ['touch x &', 'ask, then run sandboxed'],
    ['X=1 touch x', 'ask, then run sandboxed'],
    ['touch x # y', 'ask, then run sandboxed'],
    ['(touch x)', 'ask, then run sandboxed'],
    ['touch x && make', 'ask, then run sandboxed'],
    ['npm run publish', 'ask, then run sandboxed'],
    ['npm', 'ask, then run sandboxed'],
    ['t* x', 'ask, then run sandboxed'],
    ['/w/touch x', 'ask, then run sandboxed'],
    ['/usr/bin/touch x', 'run free'],
    ['bash -c "touch x"', 'ask, then run sandboxed'],
  ])('%j: %s', (script, verdict) => {
    expect(verdictOn(script, { rules })).toBe(verdict);
  });

  test('holds under every policy, for an escalated call as well', () => {
    for (const policy of Object.values(POLICIES)) {
      for (const escalated of [false, true]) {
        const verdict = judge(shell('touch x', { escalated }), contextOf({ policy, rules }));
        expect(verdict).toEqual({ type: 'run', sandboxed: false });
      }
    }
  });

  test('covers a forced rm that it names, and no other', () => {
    const context = { policy: 'never', rules: rulesOf(rule('allow', 'rm -rf build')) } as const;
    expect(verdictOn('rm -rf build', context)).toBe('run free');
    expect(verdictOn('ls && rm -rf build', context)).toBe('run sandboxed');
    expect(verdictOn('rm -rf build && rm -rf src', context)).toBe('refuse');
    expect(verdictOn('rm -rf src', context)).toBe('refuse');
  });

  test('covers one command that is fed a text without expansions', () => {
    const context = { rules: rulesOf(rule('allow', 'python3')) };
    expect(verdictOn("python3 - <<'EOF'\nprint('$HOME `x`')\nEOF", context)).toBe('run free');
    expect(verdictOn('python3 - <<EOF\nprint(1)\nEOF', context)).toBe('run free');
    for (const script of [
      'python3 - <<EOF\nprint("$HOME")\nEOF',
      'python3 - <<EOF\n$(touch x)\nEOF',
      'python3 - <<EOF\n`touch x`\nEOF',
      "python3 - <<'EOF' | sh\nprint(1)\nEOF",
      "python3 - <<'EOF' > out\nprint(1)\nEOF",
      "python3 - <<'EOF' && make\nprint(1)\nEOF",
      "python3 - <<'EOF'\nprint(1)\nEOF\nmake",
      "make; python3 - <<'EOF'\nprint(1)\nEOF",
      "X=1 python3 - <<'EOF'\nprint(1)\nEOF",
      "python3 $x <<'EOF'\nprint(1)\nEOF",
      "python3 - <<'A' <<'B'\nA\nB",
      'python3 - <<< "x"',
      "make <<'EOF'\nEOF",
    ]) {
      expect([script, verdictOn(script, context)]).toEqual([script, 'ask, then run sandboxed']);
    }
  });

  test('for a whole command line covers exactly that script', () => {
    const context = {
      rules: {
        ...rulesOf(),
        prefixes: [
          { pattern: [['/bin/bash'], ['-lc'], ['echo hi > f']], decision: 'allow', justification: null } as const,
        ],
      },
    };
    expect(verdictOn('echo hi > f', context)).toBe('run free');
    expect(verdictOn('echo hi > g', context)).toBe('ask, then run sandboxed');
  });
});

describe('a rule that asks', () => {
  const rules = rulesOf(rule('prompt', 'git push', 'it is public'), rule('allow', 'git'), rule('prompt', 'make'));

  test('asks even where everything else runs, and gives its reason', () => {
    const verdict = judge(shell('git push origin'), contextOf({ policy: 'on-request', rules }));
    expect(verdict).toEqual({
      type: 'ask',
      sandboxed: true,
      reason: '`git push origin` requires approval: it is public',
      proposed_rule: null,
      keys: [],
    });
    expect(inWords(judge(shell('git pull'), contextOf({ policy: 'on-request', rules })))).toBe('run free');
  });

  test('adds the words of the model to its reason', () => {
    const action = shell('make', { justification: 'To build.', escalated: true });
    expect(judge(action, contextOf({ policy: 'on-request', rules }))).toMatchObject({
      sandboxed: false,
      reason: '`make` requires approval: a rule asks for it To build.',
    });
  });

  test('refuses where nobody can be asked, and says which policy it was', () => {
    expect(refusalOf(shell('git push'), { policy: 'never', rules })).toMatch(
      /requires approval: it is public; but approval policy is never.*approval_policy = "on-request"/,
    );
    expect(refusalOf(shell('git push'), { policy: POLICIES['granular without rules'], rules })).toMatch(
      /granular with rules = false.*granular\.rules = true/,
    );
    expect(verdictOn('git push', { policy: POLICIES['granular without sandbox_approval'], rules })).toBe(
      'ask, then run sandboxed',
    );
  });

  test('comes before the list of safe commands', () => {
    expect(verdictOn('ls', { rules: rulesOf(rule('prompt', 'ls')) })).toBe('ask, then run sandboxed');
  });
});

describe('a rule that forbids', () => {
  const rules = rulesOf(rule('forbidden', 'wget|curl'), rule('forbidden', 'git push', 'use the release job'));

  test.each([
    'wget x',
    '/usr/bin/wget x',
    './wget x',
    'ls; wget x',
    'ls; wget x > /dev/null',
    'ls $(wget x)',
    'for u in a; do curl $u; done',
    'sudo wget x',
    'env A=b curl x',
    'xargs -n 1 curl',
    "bash -c 'wget x'",
    "w'g'et x",
    'w\\get x',
    'w\\\nget x',
    "$'\\x77get' x",
    'find . -exec wget {} \\;',
    'git push',
    'git push origin > log',
    'time git push',
    'f() { git push; }; f',
  ])('refuses %j under every policy, wherever it stands', script => {
    for (const policy of Object.values(POLICIES)) expect(verdictOn(script, { policy, rules })).toBe('refuse');
    expect(verdictOn(script, { sandbox: SANDBOXES['danger-full-access'], rules })).toBe('refuse');
  });

  test.each([
    'git pull',
    'echo wget',
    'echo "wget x" > notes',
    "grep -rn 'git push' .",
    'git log --grep push',
    'wgetx',
    '$x push',
  ])('leaves %j alone', script => {
    expect(verdictOn(script, { policy: 'never', rules })).toBe('run sandboxed');
  });

  test('says why', () => {
    expect(refusalOf(shell('git push'), { rules })).toBe('`git push` rejected: use the release job');
    expect(refusalOf(shell('curl x'), { rules })).toBe(
      '`curl x` rejected: a rule forbids commands starting with `curl`',
    );
  });

  test('holds for a script that can not be read and mentions it', () => {
    expect(refusalOf(shell('ls *(x); wget y'), { rules })).toContain('rejected');
    const unread = shell('echo "$(date)"; cat <<X\nwget\nX');
    expect(refusalOf(unread, { rules, grammar: null })).toBe(
      '`echo "$(date)"; cat <<X\nwget\nX` rejected: a rule restricts `wget|curl`, and the shell syntax could not be read completely. Write it in simpler steps.',
    );
    expect(verdictOn('echo "$(date)"; cat <<X\nwget\nX', { rules, policy: 'never' })).toBe('run sandboxed');
  });

  test('beats every other rule', () => {
    const both = rulesOf(rule('allow', 'git push'), rule('prompt', 'git'), ...rules.prefixes);
    expect(verdictOn('git push', { rules: both })).toBe('refuse');
  });
});

test('the grammar is not needed where no rule could match', () => {
  const rules = rulesOf(rule('forbidden', 'wget'), rule('allow', 'touch'));
  const needed = (script: string) => needsGrammar(shell(script), contextOf({ policy: 'never', rules }));
  expect(needed('for i in a; do ls "$i"; done')).toBe(false);
  expect(needed('cat a\\ b')).toBe(false);
  expect(needed('touch x && wget y')).toBe(false);
  expect(needed('for i in a; do wget "$i"; done')).toBe(true);
  expect(needed('touch a\\ b')).toBe(true);
});
