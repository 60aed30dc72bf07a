import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/build/bundle.js';
import { buildLauncher } from '../../scripts/build/launcher.js';

// A small program with all that the bundler has to get right, behind the real launcher.
const PROGRAM: Readonly<Record<string, string>> = {
  'main.ts': `
    import { shared } from './shared.js';
    export async function main(argv, boot) {
      const lazy = await import('./lazy.js');
      const fs = await import('node:fs');
      const cjs = await import('./cjs.cjs');
      const facts = {
        argv,
        lazy: lazy.named + '/' + lazy.default,
        shared: lazy.shared === shared,
        builtin: typeof fs.existsSync + '/' + (fs.default.existsSync === fs.existsSync),
        cjs: cjs.default.value,
        url: import.meta.url.startsWith('file:///') && fs.existsSync(new URL(import.meta.url)),
        text: 'Grüße, 世界',
      };
      console.log(JSON.stringify(facts));
      boot.saveCodeCache();
      if (argv[0] === 'fail') throw new Error('a planned failure');
    }`,
  'lazy.ts': `
    import { shared } from './shared.js';
    export { shared };
    export const named = 'named';
    export default 'default';`,
  'shared.ts': 'export const shared = { of: "all" };',
  'cjs.cjs': 'module.exports = { value: 42 };',
};

const FACTS = {
  argv: ['a', 'b c'],
  lazy: 'named/default',
  shared: true,
  builtin: 'function/true',
  cjs: 42,
  url: true,
  text: 'Grüße, 世界',
};

let folder = '';
let built = '';
let installation = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'boot-'));
  built = join(folder, 'built');
  mkdirSync(join(folder, 'src'));
  mkdirSync(built);
  for (const [name, text] of Object.entries(PROGRAM)) writeFileSync(join(folder, 'src', name), text);
  const entries = { main: join(folder, 'src/main.ts') };
  await buildLauncher(built, await bundle({ entries, outdir: join(built, 'app'), constants: {} }));
  writeFileSync(join(built, 'package.json'), '{"type":"commonjs"}');
});

beforeEach(() => {
  installation = mkdtempSync(join(folder, 'installation-'));
  cpSync(built, installation, { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: string[]): { facts: unknown; stderr: string; status: number | null } {
  const child = spawnSync(process.execPath, [join(installation, 'interpreter.js'), ...args], { encoding: 'utf8' });
  return { facts: child.stdout === '' ? null : JSON.parse(child.stdout), stderr: child.stderr, status: child.status };
}

/** The files of the code cache with the time they were written. */
function cacheFiles(): Map<string, number> {
  const names = readdirSync(join(installation, '.cache'), { recursive: true, encoding: 'utf8' });
  const files = names.filter(name => /\.(js|tmp)$/.test(name)).map(name => join(installation, '.cache', name));
  return new Map(files.sort().map(file => [file, statSync(file).mtimeMs]));
}

describe('the launcher', () => {
  it('runs the program with its arguments, with a code cache and without', () => {
    expect(run('a', 'b c')).toEqual({ facts: FACTS, stderr: '', status: 0 });
    expect(run('a', 'b c')).toEqual({ facts: FACTS, stderr: '', status: 0 });
  });

  it('keeps one cache file per loaded file, and leaves a good cache alone', () => {
    run();
    const first = cacheFiles();
    expect(first.size).toBe(readdirSync(join(installation, 'app')).length);
    run();
    expect(cacheFiles()).toEqual(first);
  });

  it.each([
    [
      'damaged',
      (file: string) =>
        writeFileSync(
          file,
          readFileSync(file).map((byte, at) => (at % 97 === 50 ? byte ^ 255 : byte)),
        ),
    ],
    ['cut off', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 300))],
    ['too long', (file: string) => appendFileSync(file, 'more')],
    ['empty', (file: string) => writeFileSync(file, '')],
  ])('compiles the program when its cache is %s, and replaces the cache', (_, spoil) => {
    run();
    const contents = () => [...cacheFiles().keys()].map(file => readFileSync(file).length);
    const good = contents();
    for (const file of cacheFiles().keys()) spoil(file);
    expect(run('a', 'b c')).toEqual({ facts: FACTS, stderr: '', status: 0 });
    expect(contents()).toHaveLength(good.length);
    const replaced = cacheFiles();
    expect(run('a', 'b c')).toEqual({ facts: FACTS, stderr: '', status: 0 });
    expect(cacheFiles()).toEqual(replaced);
  });

  it('runs where the cache can not be written', () => {
    // A file in the place of the folder stops root too, whom permissions do not.
    writeFileSync(join(installation, '.cache'), '');
    chmodSync(installation, 0o555);
    expect(run('a', 'b c')).toEqual({ facts: FACTS, stderr: '', status: 0 });
    chmodSync(installation, 0o755);
  });

  it('reports a failure of the program with its stack and exit status 1', () => {
    const { status, stderr } = run('fail');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Error: a planned failure\n {4}at .*app.main\.js/);
  });
});
