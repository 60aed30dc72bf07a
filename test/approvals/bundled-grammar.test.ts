import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyAssets } from '../../scripts/build/assets.js';
import { bundle } from '../../scripts/build/bundle.js';
import { root } from '../../scripts/root.js';

test('the grammar is found and works in the built program, from any directory', async () => {
  const outdir = mkdtempSync('/var/tmp/bundled-grammar-');
  try {
    const entries = { approvals: join(root, 'src/approvals/index.ts') };
    await bundle({ entries, outdir, constants: { __INTERPRETER_ASSETS__: './assets' } });
    await copyAssets(outdir);
    const program = `
      const { createShellGrammarLoader } = require(${JSON.stringify(join(outdir, 'approvals.js'))});
      createShellGrammarLoader().load().then(grammar => console.log(JSON.stringify(grammar.read('ls $(rm -rf x)'))));`;
    const output = execFileSync(process.execPath, ['-e', program], { cwd: '/', encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({
      plain: null,
      commands: [
        { words: ['ls', null], input: null },
        { words: ['rm', '-rf', 'x'], input: null },
      ],
      complete: true,
    });
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
});
