import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planning } from '../../src/sandbox/index.js';

const { seatbeltProfile } = planning;
type Layout = planning.Layout;
type PathRule = planning.PathRule;
type SeatbeltProfile = planning.SeatbeltProfile;

const rule = (access: PathRule['access'], path: string): PathRule => ({
  path,
  access,
  why: access === 'read' ? 'protected' : access === 'deny' ? 'denied' : 'read_only',
  state: 'directory',
});

function layout(rules: PathRule[], base: Layout['base']['access'] = 'read'): Layout {
  return { base: { access: base, why: 'outside' }, rules, globs: [], links: [], problems: [] };
}

const off = { network: { type: 'off' }, unixSockets: false } as const;

/** The lines that depend on the layout. */
function specific({ text }: SeatbeltProfile): string[] {
  return text
    .slice(text.indexOf('(subpath "/dev/fd"))') + '(subpath "/dev/fd"))'.length)
    .trim()
    .split('\n');
}

type Expression = string | Expression[];

/** Reads s-expressions; throws when they are not balanced. */
function parse(text: string): Expression[] {
  const tokens = text.match(/#?"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+/g) ?? [];
  const stack: Expression[][] = [[]];
  for (const token of tokens) {
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const done = stack.pop();
      if (!done || stack.length === 0) throw new Error('a parenthesis is closed that was not opened');
      stack.at(-1)?.push(done);
    } else stack.at(-1)?.push(token);
  }
  if (stack.length !== 1) throw new Error('a parenthesis is not closed');
  return stack[0] as Expression[];
}

describe('the macOS profile', () => {
  test('of a workspace', () => {
    const made = seatbeltProfile({ layout: layout([rule('write', '/w'), rule('read', '/w/.git')]), ...off });
    expect(specific(made)).toEqual([
      '(allow file-read*)',
      '(allow file-write* (require-all (subpath (param "WRITABLE_ROOT_0")) (require-not (subpath (param "RO_0_0")))))',
      '(deny file-write-unlink (literal (param "PIN_0")))',
    ]);
    expect(made.parameters).toEqual([
      ['WRITABLE_ROOT_0', '/w'],
      ['RO_0_0', '/w/.git'],
      ['PIN_0', '/w'],
    ]);
  });

  test('starts by denying everything', () => {
    expect(
      seatbeltProfile({ layout: layout([]), ...off })
        .text.split('\n')
        .slice(0, 2),
    ).toEqual(['(version 1)', '(deny default)']);
  });

  test('pins the folders above a closed path', () => {
    const made = seatbeltProfile({ layout: layout([rule('write', '/w'), rule('read', '/w/a/b/.git')]), ...off });
    expect(made.parameters.filter(([name]) => name.startsWith('PIN'))).toEqual([
      ['PIN_0', '/w'],
      ['PIN_1', '/w/a/b'],
      ['PIN_2', '/w/a'],
    ]);
  });

  test('denies after it has allowed, and opens again what lies deeper', () => {
    const rules = [rule('deny', '/s'), rule('read', '/s/public')];
    expect(specific(seatbeltProfile({ layout: layout(rules), ...off }))).toEqual([
      '(allow file-read*)',
      '(deny file-read* file-write* (subpath (param "DENIED_0")))',
      '(allow file-read* (subpath (param "INSIDE_0")))',
    ]);
  });

  test('without the root folder reads only what is named', () => {
    const made = seatbeltProfile({ layout: layout([rule('read', '/usr')], 'deny'), ...off });
    expect(specific(made)).toEqual(['(allow file-read-metadata)', '(allow file-read* (subpath (param "READABLE_0")))']);
  });

  test.each([
    [{ type: 'off' as const }, false, []],
    [{ type: 'proxy' as const, port: 4321 }, false, ['(allow network-outbound (remote ip "localhost:4321"))']],
    [{ type: 'off' as const }, true, ['(allow network* (remote unix-socket))', '(allow network* (local unix-socket))']],
  ])('network %o, unix sockets %s', (network, unixSockets, lines) => {
    const made = specific(seatbeltProfile({ layout: layout([]), network, unixSockets }));
    expect(made.slice(1)).toEqual(lines);
  });

  test('with the network on reaches addresses, not unix sockets', () => {
    const { text } = seatbeltProfile({ layout: layout([]), network: { type: 'on' }, unixSockets: false });
    expect(text).toContain('(allow network-outbound (remote ip))');
    expect(text).not.toContain('unix-socket');
  });

  test('is balanced, has every parameter it names, and no path in its text, whatever the paths', () => {
    const name = fc.stringMatching(/^[a-z"() ;\\#]{1,6}$/).map(n => n.replaceAll('/', '_'));
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(names => `/${names.join('/')}`);
    const rules = fc
      .uniqueArray(fc.tuple(fc.constantFrom('read' as const, 'write' as const, 'deny' as const), path), {
        selector: ([, p]) => p,
        maxLength: 6,
      })
      .map(list =>
        list
          .map(([access, p]) => rule(access, p))
          .toSorted((a, b) => a.path.split('/').length - b.path.split('/').length),
      );
    fc.assert(
      fc.property(rules, fc.constantFrom('read' as const, 'write' as const, 'deny' as const), (list, base) => {
        const { text, parameters } = seatbeltProfile({ layout: layout(list, base), ...off });
        parse(text);
        const named = [...text.matchAll(/\(param "([^"]+)"\)/g)].map(match => match[1]);
        expect(new Set(named)).toEqual(new Set(parameters.map(([key]) => key)));
        expect(new Set(parameters.map(([key]) => key)).size).toBe(parameters.length);
        // Each writable folder excludes all that is closed inside it.
        for (const [key, root] of parameters.filter(([k]) => k.startsWith('WRITABLE_ROOT_'))) {
          const number = key.slice('WRITABLE_ROOT_'.length);
          const excluded = parameters.filter(([k]) => k.startsWith(`RO_${number}_`)).map(([, p]) => p);
          const closed = list.filter(
            r => r.access !== 'write' && (root === '/' || r.path === root || r.path.startsWith(`${root}/`)),
          );
          expect(excluded.toSorted()).toEqual(closed.map(r => r.path).toSorted());
        }
      }),
    );
  });
});
