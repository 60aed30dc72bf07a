import fc from 'fast-check';
import picomatch from 'picomatch';
import { expect, test } from 'vitest';
import { planning } from '../../src/sandbox/index.js';

const { globDepth, globToRegExp } = planning;

const matches = (glob: string, path: string) => globToRegExp(glob).test(path);

test.each([
  ['**/*.env', '.env', true],
  ['**/*.env', 'a/b/prod.env', true],
  ['**/*.env', 'a/env', false],
  ['*.pem', 'a.pem', true],
  ['*.pem', 'a/b.pem', false],
  ['secrets/**', 'secrets', true],
  ['secrets/**', 'secrets/a/b', true],
  ['secrets/**', 'secretsx', false],
  ['**/id_{rsa,ed25519}', 'x/id_rsa', true],
  ['**/id_{rsa,ed25519}', 'id_dsa', false],
  ['?.key', 'a.key', true],
  ['?.key', 'ab.key', false],
  ['[a-c].key', 'b.key', true],
  ['[!a-c].key', 'b.key', false],
  ['[!a-c].key', 'd.key', true],
  ['a.b', 'axb', false],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['**', 'a/b', true],
  ['a/*/c', 'a//c', false],
])('%s and %s: %s', (glob, path, expected) => {
  expect(matches(glob, path)).toBe(expected);
});

test('agrees with a well-known library', () => {
  const name = fc.stringMatching(/^[ab.]{1,3}$/).filter(n => n !== '.' && n !== '..');
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(names => names.join('/'));
  const part = fc.oneof(fc.constantFrom('**', '*', '*.b', 'a*', '?', '[ab]', '{a,b}', '{a,.b}*', 'a'), name);
  const glob = fc.array(part, { minLength: 1, maxLength: 4 }).map(parts => parts.join('/'));
  fc.assert(
    fc.property(glob, path, (g, p) => {
      const theirs = picomatch(g, { dot: true })(p);
      // The library does not take `*/**` for the folder itself, as it does `a/**`.
      const ours = matches(g, p) && !(g.endsWith('*/**') && !theirs);
      expect([g, p, ours]).toEqual([g, p, theirs]);
    }),
    { numRuns: 3000, seed: 7 },
  );
});

test('the depth is what has to be searched', () => {
  expect([globDepth('*.a'), globDepth('a/*.b'), globDepth('**/x')]).toEqual([1, 2, Number.POSITIVE_INFINITY]);
});
