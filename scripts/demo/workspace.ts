/** The throw-away repository of the demonstration: a small cart with a wrong discount and a failing test. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const FILES: Record<string, string> = {
  'package.json': '{ "name": "cart", "version": "1.0.0", "type": "module", "scripts": { "test": "node --test" } }\n',
  'CHANGELOG.md': '# Changelog\n\n- First version.\n',
  'src/cart.js': `/** Sum of all items, less a discount in percent. */
export function total(items, discountPercent = 0) {
  const sum = items.reduce((amount, item) => amount + item.price * item.quantity, 0);
  return sum - discountPercent;
}
`,
  'test/cart.test.js': `import assert from 'node:assert';
import test from 'node:test';
import { total } from '../src/cart.js';

test('adds up all items', () => {
  assert.equal(total([{ price: 10, quantity: 2 }, { price: 5, quantity: 1 }]), 25);
});

test('takes off a discount in percent', () => {
  assert.equal(total([{ price: 50, quantity: 4 }], 20), 160);
});
`,
};

/** Makes the repository and returns its path. */
export function makeWorkspace(): string {
  const root = mkdtempSync(path.join(tmpdir(), 'interpreter-demo-'));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  git(root, 'init', '-q');
  git(root, 'add', '.');
  git(root, '-c', 'user.name=Demo', '-c', 'user.email=demo@example.com', 'commit', '-q', '-m', 'A cart');
  return root;
}

export function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' });
}

export type TestRun = { passed: boolean; summary: string };

/** Runs the tests of the repository outside of the agent. */
export function runTests(root: string): TestRun {
  const run = spawnSync(process.execPath, ['--test'], { cwd: root, encoding: 'utf8' });
  const summary = run.stdout.match(/^(?:#|ℹ) (?:pass|fail) \d+$/gm) ?? [];
  return { passed: run.status === 0, summary: summary.map(line => line.slice(2)).join(', ') };
}
