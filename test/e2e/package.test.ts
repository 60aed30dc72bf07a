import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const checkout = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
  version: string;
  exports: Record<string, unknown>;
};
const entries = Object.keys(manifest.exports).filter(entry => entry !== './package.json');

let user = '';

/** A folder of somebody who has installed the package. */
beforeAll(() => {
  user = mkdtempSync(join(tmpdir(), 'package-user-'));
  mkdirSync(join(user, 'node_modules'));
  symlinkSync(checkout, join(user, 'node_modules/open-interpreter'));
});

afterAll(() => rmSync(user, { recursive: true, force: true }));

function node(name: string, code: string): string {
  writeFileSync(join(user, name), code);
  const { stdout, stderr } = spawnSync(process.execPath, [name], { cwd: user, encoding: 'utf8' });
  return stdout + stderr;
}

describe('the built package', () => {
  it('says its version', () => {
    const program = join(checkout, 'dist/interpreter.js');
    const { stdout } = spawnSync(process.execPath, [program, '--version'], { encoding: 'utf8' });
    expect(stdout).toContain(manifest.version);
  });

  it.each(entries)('gives the same values of %s to import and to require', entry => {
    const name = JSON.stringify(join('open-interpreter', entry));
    const code = `
      import { createRequire } from 'node:module';
      import * as imported from ${name};
      const required = createRequire(import.meta.url)(${name});
      const names = Object.keys(imported);
      console.log(names.length > 0, names.every(name => imported[name] === required[name]));`;
    expect(node('values.mjs', code)).toBe('true true\n');
    expect(node('values.cjs', `console.log(Object.keys(require(${name})).length > 0);`)).toBe('true\n');
  });

  it('shows no more than a few words of its code when nobody catches its error', () => {
    const code = `import { Interpreter } from 'open-interpreter';
      await new Interpreter({ interpreterPath: '/nonexistent' }).startThread().run('x');`;
    const lines = node('throws.mjs', code).split('\n');
    expect(lines.join('\n')).toContain('ProgramNotStartedError');
    expect(lines.filter(line => line.length > 400)).toEqual([]);
  });

  it('has types for ES modules and for CommonJS, without any package that is not installed', {
    timeout: 60_000,
  }, () => {
    const imports = entries.map((entry, at) => `import * as a${at} from '${join('open-interpreter', entry)}';`);
    const code = `${imports.join('\n')}
import type { Item } from 'open-interpreter/protocol';
// @ts-expect-error: an item has one of some known types
export const item: Item['type'] = 'nonsense';
export const all = [${entries.map((_, at) => `a${at}`).join(', ')}];
`;
    writeFileSync(join(user, 'types.mts'), code);
    writeFileSync(join(user, 'types.cts'), code);
    const types = join(checkout, 'node_modules/@types');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--typeRoots', types];
    const tsc = join(checkout, 'node_modules/.bin/tsc');
    const { stdout } = spawnSync(tsc, [...options, '--types', 'node', 'types.mts', 'types.cts'], {
      cwd: user,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });
});
