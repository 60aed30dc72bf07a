/** Generators of shell scripts: from loose characters, and from fragments that try to slip an effect past the reader. */
import fc from 'fast-check';

const HARMLESS = [
  'ls',
  'cat a',
  'cat',
  'echo hi',
  'echo',
  'cd sub',
  'head -1 a',
  'find . -name a',
  'find .',
  'find sub',
  'grep x a',
  'wc -l',
  'tr a b',
  'true',
  'false',
  'uniq a',
  'sed -n 1p a',
  'rg x',
  'base64 a',
  'seq 3',
  'pwd',
  'stat a',
  'nl a',
  'sort a',
  'test -f a',
  'which ls',
  'expr 1 + 1',
  'paste a b',
];
const EFFECTS = [
  'touch made',
  'echo x > made',
  'tee made',
  'cp a made',
  '> made',
  '>> a',
  'rm -f a',
  'mkdir made',
  'mv a made',
  '-delete',
  '-exec touch made ;',
  '-exec touch made \\;',
  '-execdir touch made {} +',
  '-fprint made',
  '-fls made',
  '-fprintf made x',
  '-ok touch made',
  'uniq a made',
  'sed -n 1p -fscript',
  "sed -n 'w made' a",
  'sed -n 1wmade a',
  'base64 -o made a',
  'rg --pre ./tool x',
  'rg --pre=./tool x',
  '-o made',
  '--output=made',
  './ls',
  './tool',
  'env touch made',
  'sh -c "touch made"',
  'eval touch made',
  'X=1',
  'PATH=. ls',
  'alias ls=./tool',
  'ls() { touch made; }',
];
const GLUE = [
  ' ',
  ' ',
  ' ',
  ' | ',
  ' && ',
  ' || ',
  '; ',
  '\n',
  '\t',
  '&',
  '|&',
  ' & ',
  '\\\n',
  '\\',
  "'",
  '"',
  '`',
  '$(',
  ')',
  '(',
  '{',
  '}',
  ',',
  '$',
  "$'",
  '$"',
  '<(',
  '>(',
  '<<<',
  '<<EOF\n',
  '\nEOF\n',
  '#',
  ' # ',
  ' #\n',
  '!',
  '! ',
  '*',
  '?',
  '[a]',
  '~',
  '=',
  '^',
  '%',
  '\r',
  '\u00a0',
  '\u2028',
  '\u3000',
  '\v',
  '\f',
  '\x1b',
  ';;',
  '&&',
  '||',
  '-',
  '--',
  '@',
  '+',
  '\\x0a',
  '\\n',
  '$IFS',
  '${IFS}',
  '{a,b}',
  '{1..2}',
  '@(a)',
  '*(a)',
  'a',
  'b',
  'rm',
  'if ',
  'then ',
  'fi',
  'do',
  'time ',
];

const fragment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...HARMLESS) },
  { weight: 3, arbitrary: fc.constantFrom(...EFFECTS) },
  { weight: 7, arbitrary: fc.constantFrom(...GLUE) },
);

/** Harmless commands, effects that touch nothing but files beside the script, and everything that may glue them. */
export const sneakyScript = fc.array(fragment, { minLength: 1, maxLength: 9 }).map(parts => parts.join(''));

/** One harmless command with one effect behind it and something in between. */
export const nearMiss = fc
  .tuple(
    fc.constantFrom(...HARMLESS),
    fc.constantFrom(...GLUE, ''),
    fc.constantFrom(...GLUE, ''),
    fc.constantFrom(...EFFECTS),
    fc.constantFrom(...GLUE, ''),
  )
  .map(parts => parts.join(''));

const CHARACTERS = 'lsrmf cat-./=:,@%+*?[]~^#!{}()<>|&;\'"\\`$\n\t\r0aé\u00a0_'.split('');

export const looseScript = fc
  .array(fc.constantFrom(...CHARACTERS), { minLength: 0, maxLength: 30 })
  .map(characters => characters.join(''));

/** Made only of what the shortcut accepts, so that it is accepted often. */
export const plainLookingScript = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'lsrmf cat-./=:,@%+019_ABn'.split('')),
      fc.constantFrom(' ', ' ', '  ', '\t', ' && ', ' || ', ' | ', '; ', '|', ';', '&&', ' ;'),
      fc.constantFrom("'a b'", '"a b"', "'$x'", '"(;)"', "''", '""', "'\\'", '"!"', "'#'", "' # '"),
      fc.constantFrom('ls', 'rm', 'if', 'in', 'do', 'done', 'for', 'esac', 'time', 'test', 'export', 'let', 'function'),
      fc.constantFrom('==', '+=', '=1', '-e', '--', '-1', '5', '1.5', '0x1', '10#2', '%1', '@a', 'a=b', ':', '.', '..'),
    ),
    { minLength: 1, maxLength: 14 },
  )
  .map(parts => parts.join(''));

const easyCharacters = fc.constantFrom(...'abfrmsxzAZ059_./=:,@%+-'.split(''));
const easyWord = fc.oneof(
  fc.string({ unit: easyCharacters, minLength: 1, maxLength: 6 }),
  fc.constantFrom(
    'if',
    'in',
    'do',
    'done',
    'for',
    'esac',
    'time',
    'test',
    'let',
    '==',
    '=~',
    '-eq',
    '10#2',
    '0x1',
    '1.5',
    '.',
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 6 }).map(text => `'${text.replaceAll("'", '')}'`),
  fc.string({ unit: 'grapheme-ascii', maxLength: 6 }).map(text => `"${text.replace(/["\\$`]/g, '')}"`),
);
const easyProgram = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abfrmsxzAZ05_./+-'.split('')), minLength: 1, maxLength: 5 }),
  fc.constantFrom(
    'ls',
    'rm',
    'if',
    'do',
    'time',
    'test',
    'export',
    'let',
    'function',
    'case',
    'coproc',
    'declare',
    'cd',
  ),
);
const easyCommand = fc
  .tuple(easyProgram, fc.array(easyWord, { maxLength: 5 }))
  .map(([program, words]) => [program, ...words].join(' '));

/** Commands of simple words; nearly all are what the shortcut takes. */
export const easyScript = fc
  .array(fc.tuple(easyCommand, fc.constantFrom(' && ', ' || ', ' | ', '; ', ';', '|', ' ;\t', '&&')), {
    minLength: 1,
    maxLength: 4,
  })
  .map(parts => parts.map(([command, glue], i) => command + (i < parts.length - 1 ? glue : '')).join(''));

export const anyScript = fc.oneof(
  sneakyScript,
  nearMiss,
  looseScript,
  plainLookingScript,
  fc.string({ unit: 'binary' }),
);
