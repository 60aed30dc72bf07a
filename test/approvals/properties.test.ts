import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge, needsGrammar, parseCommand, type Rules } from '../../src/approvals/index.js';
import { anyScript, easyScript, looseScript, plainLookingScript, sneakyScript } from './scripts.js';
import { contextOf, grammar, POLICIES, SANDBOXES, shell } from './support.js';

const RULES: Rules = {
  prefixes: [
    { pattern: [['touch']], decision: 'allow', justification: null },
    { pattern: [['cat'], ['a', 'b']], decision: 'allow', justification: null },
    { pattern: [['rm']], decision: 'prompt', justification: 'deletes' },
    { pattern: [['tee', 'cp']], decision: 'forbidden', justification: null },
  ],
  hostExecutables: new Map(),
  network: [],
};

const anyContext = fc.record({
  policy: fc.constantFrom(...Object.values(POLICIES)),
  sandbox: fc.constantFrom(...Object.values(SANDBOXES)),
  rules: fc.constantFrom(RULES, { ...RULES, prefixes: [] }),
});

describe('verdicts', () => {
  test('never throw and always have a form, with the grammar and without it', () => {
    fc.assert(
      fc.property(anyScript, anyContext, fc.boolean(), (script, changes, escalated) => {
        const action = shell(script, { escalated, prefix_rule: ['touch'] });
        expect(['run', 'ask', 'refuse']).toContain(judge(action, contextOf(changes)).type);
        expect(['run', 'ask', 'refuse']).toContain(judge(action, contextOf({ ...changes, grammar: null })).type);
      }),
      { numRuns: 600 },
    );
  });

  test('are the same with and without the grammar wherever it is not needed, and never milder without it', () => {
    const strictness = { run: 0, ask: 1, refuse: 2 };
    fc.assert(
      fc.property(anyScript, anyContext, fc.boolean(), (script, changes, escalated) => {
        const action = shell(script, { escalated });
        const context = contextOf(changes);
        const [withIt, without] = [judge(action, context), judge(action, { ...context, grammar: null })];
        expect(needsGrammar(action, context) ? null : without).toEqual(needsGrammar(action, context) ? null : withIt);
        expect(strictness[without.type]).toBeGreaterThanOrEqual(strictness[withIt.type]);
      }),
      { numRuns: 600 },
    );
  });

  test('never throw for words that are no script, nor does their display', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 6 }), anyContext, (argv, changes) => {
        expect(['run', 'ask', 'refuse']).toContain(judge(shell('', { argv }), contextOf(changes)).type);
        expect(parseCommand(argv).length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  test('the display of any script never throws and is never empty', () => {
    fc.assert(
      fc.property(anyScript, script => {
        expect(parseCommand(['/bin/bash', '-lc', script]).length).toBeGreaterThan(0);
      }),
      { numRuns: 600 },
    );
  });
});

// What the letters of a script decide without the grammar must be what the grammar would say.
describe('shortcuts past the grammar', () => {
  const rulesFor = (decision: 'allow' | 'forbidden', patterns: readonly (readonly string[])[]): Rules => ({
    prefixes: patterns.map(words => ({ pattern: words.map(word => [word]), decision, justification: null })),
    hostExecutables: new Map(),
    network: [],
  });
  const withoutGrammar = contextOf({ policy: 'untrusted', grammar: null });

  test('a script taken for plain is plain for the grammar, with the same commands and words', () => {
    let taken = 0;
    fc.assert(
      fc.property(fc.oneof(easyScript, plainLookingScript, looseScript, sneakyScript), script => {
        const action = shell(script);
        if (needsGrammar(action, withoutGrammar)) return;
        const verdict = judge(action, withoutGrammar);
        const proposed = verdict.type === 'ask' ? verdict.proposed_rule : [];
        // One command as a whole, or too broad to show its words.
        if (proposed === null || proposed[0] === '/bin/bash') return;
        taken++;
        const plain = grammar.read(script)?.plain ?? [];
        expect(plain).not.toEqual([]);
        expect([[], ...plain]).toContainEqual(proposed);
        // Allowed word by word as the grammar has them, the script runs.
        const allowed = judge(action, { ...withoutGrammar, rules: rulesFor('allow', plain) });
        expect(allowed).toEqual({ type: 'run', sandboxed: false });
      }),
      { numRuns: 5000 },
    );
    expect(taken).toBeGreaterThan(500);
  });

  // The grammar cuts some words in two that a shell joins, and anything behind an open quote.
  const readWhole = (script: string) => {
    const reading = /\\\n|['"]\\/.test(script) ? null : grammar.read(script);
    return reading?.complete === true ? reading.commands.map(command => command.words) : [];
  };

  test('a program that the grammar finds is found', () => {
    fc.assert(
      fc.property(anyScript, fc.constantFrom('rm', 'touch', 'tee', 'ls'), (script, program) => {
        if (!readWhole(script).some(words => basename(words[0] ?? '') === program)) return;
        const rules = rulesFor('forbidden', [[program]]);
        expect(judge(shell(script), contextOf({ policy: 'on-request', rules })).type).toBe('refuse');
      }),
      { numRuns: 2000 },
    );
  });

  test('a forced rm that the grammar finds is found', () => {
    const piece = fc.constantFrom(
      'rm',
      'ls;',
      'x=y',
      ' ',
      ' -',
      '-',
      'r',
      'f',
      "'",
      '"',
      "$'",
      '\\x66',
      '--force',
      ' x',
      '$',
      '\n',
      'm',
    );
    const script = fc.array(piece, { minLength: 1, maxLength: 12 }).map(parts => `rm${parts.join('')}`);
    const isForced = (words: readonly (string | null)[]) =>
      words[0] === 'rm' &&
      !words.includes('--') &&
      words.some(word => word === '--force' || /^-[a-z]*f/.test(word ?? ''));
    fc.assert(
      fc.property(script, text => {
        if (!readWhole(text).some(isForced)) return;
        expect(judge(shell(text), contextOf({ policy: 'never' })).type).toBe('refuse');
      }),
      { numRuns: 2000 },
    );
  });
});
