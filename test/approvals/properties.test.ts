import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge, needsGrammar, parseCommand, type Rules } from '../../src/approvals/index.js';
// The shortcuts promise to say nothing that the grammar would not say; that is only visible at their own door.
import { everyCommand, mayRun } from '../../src/approvals/shell/every-command.js';
import { isForcedRm, mayForce } from '../../src/approvals/shell/forced-rm.js';
import { readPlainScript } from '../../src/approvals/shell/plain-script.js';
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

describe('shortcuts past the grammar', () => {
  test('what is plain by its letters has the same commands and words in the grammar', () => {
    fc.assert(
      fc.property(fc.oneof(easyScript, plainLookingScript, looseScript, sneakyScript), script => {
        const plain = readPlainScript(script);
        if (plain === null || !plain.easy) return;
        const words = plain.commands.map(command => command.map(word => word.text));
        expect(grammar.read(script)?.plain).toEqual(words);
      }),
      { numRuns: 5000 },
    );
  });

  // The grammar cuts some words in two that a shell joins; there it sees more than there is.
  const isCut = (script: string) => /\\\n|['"]\\/.test(script);

  test('a program that the letters rule out is found by no reading', () => {
    fc.assert(
      fc.property(anyScript, fc.constantFrom('rm', 'touch', 'tee', 'ls'), (script, program) => {
        const argv = ['bash', '-c', script];
        if (mayRun(argv, [program]) || isCut(script)) return;
        // What the grammar stumbles over (an open quote) it may cut in two anywhere; no shell would.
        const { commands, complete } = everyCommand(argv, grammar.read);
        const programs = complete ? commands.map(words => basename(words[0] ?? '')) : [];
        expect(programs).not.toContain(program);
      }),
      { numRuns: 1500 },
    );
  });

  test('where the letters rule out a forced rm, no reading finds one', () => {
    const piece = fc.constantFrom(
      'rm',
      ' ',
      '-',
      'r',
      'f',
      "'",
      '"',
      '\\',
      "$'",
      '\\x66',
      '--force',
      ' x',
      '$',
      '\n',
      'm',
    );
    const script = fc.array(piece, { minLength: 1, maxLength: 12 }).map(parts => parts.join(''));
    fc.assert(
      fc.property(script, text => {
        const argv = ['bash', '-c', text];
        if ((mayRun(argv, ['rm']) && mayForce(argv)) || isCut(text)) return;
        const { commands, complete } = everyCommand(argv, grammar.read);
        expect(complete ? commands.filter(isForcedRm) : []).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });
});
