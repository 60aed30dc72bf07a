import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadRules, saveAllowRule } from '../../src/approvals/index.js';

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync('/var/tmp/save-rule-');
  file = join(home, 'rules', 'default.rules');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('the first rule makes the file, others follow, none is doubled', async () => {
  await saveAllowRule(home, ['touch']);
  await saveAllowRule(home, ['npm', 'run', 'it\'s "quoted"']);
  await saveAllowRule(home, ['touch']);
  expect(readFileSync(file, 'utf8')).toBe(
    'prefix_rule(pattern=["touch"], decision="allow")\n' +
      'prefix_rule(pattern=["npm", "run", "it\'s \\"quoted\\""], decision="allow")\n',
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { rules, problems } = await loadRules([join(home, 'rules')]);
  expect(problems).toEqual([]);
  expect(rules.prefixes.map(rule => rule.pattern)).toEqual([[['touch']], [['npm'], ['run'], ['it\'s "quoted"']]]);
});

test('what a person wrote stays, with its mode and through a link', async () => {
  const real = join(home, 'elsewhere.rules');
  writeFileSync(real, '# mine\nprefix_rule(pattern=["make"])');
  chmodSync(real, 0o640);
  mkdirSync(join(home, 'rules'));
  symlinkSync(real, file);
  await saveAllowRule(home, ['touch']);
  expect(readFileSync(real, 'utf8')).toBe(
    '# mine\nprefix_rule(pattern=["make"])\nprefix_rule(pattern=["touch"], decision="allow")\n',
  );
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(realpathSync(file)).toBe(real);
});

test('words of every kind come back as they were', async () => {
  const words = ['tool', 'a b', '"', "'", '\\', '\n', '\t', '\u0001', 'é', '漢', '😀', '$x', '#', '[', ''];
  await saveAllowRule(home, words);
  const { rules, problems } = await loadRules([join(home, 'rules')]);
  expect(problems).toEqual([]);
  expect(rules.prefixes.map(rule => rule.pattern.map(word => word[0]))).toEqual([words]);
});

test('several processes at once lose nothing and leave nothing behind', async () => {
  const program = fileURLToPath(new URL('save-rule.program.ts', import.meta.url));
  const exits = ['a', 'b', 'c', 'd'].map(async prefix => {
    const child = spawn(process.execPath, ['--import', 'tsx', program, home, prefix, '15'], { stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  });
  expect(await Promise.all(exits)).toEqual([0, 0, 0, 0]);
  const { rules, problems } = await loadRules([join(home, 'rules')]);
  expect(problems).toEqual([]);
  const saved = rules.prefixes.map(rule => String(rule.pattern[0]?.[0])).toSorted();
  const all = ['a', 'b', 'c', 'd'].flatMap(prefix => Array.from({ length: 15 }, (_, i) => `${prefix}-${i}`)).toSorted();
  expect(saved).toEqual(all);
  expect(readdirSync(join(home, 'rules'))).toEqual(['default.rules']);
});

test('the lock of a process that died is taken away', async () => {
  mkdirSync(join(home, 'rules'));
  writeFileSync(`${file}.lock`, '');
  const past = new Date(Date.now() - 60_000);
  utimesSync(`${file}.lock`, past, past);
  await saveAllowRule(home, ['touch']);
  expect(readdirSync(join(home, 'rules'))).toEqual(['default.rules']);
});

test('a file that can not be written is an error', async () => {
  writeFileSync(join(home, 'rules'), 'a file');
  await expect(saveAllowRule(home, ['touch'])).rejects.toThrow(/EEXIST|ENOTDIR/);
});

describe('a prefix that would allow nearly anything is not saved', () => {
  test.each(
    [
      '',
      'rm',
      'rm -rf build',
      '/bin/rm x',
      'bash',
      'bash -c',
      'bash -lc',
      '/bin/bash -lc',
      'sh -c',
      'zsh -lc',
      'python',
      'python3',
      'python3 -',
      'python3 -c',
      'python3 -m',
      'python3.12 -u -c',
      '/usr/bin/python3',
      'node',
      'node -e',
      'perl -e',
      'ruby -e',
      'php -r',
      'lua',
      'lua5.4 -e',
      'env',
      'env A=b',
      'env python3',
      'sudo',
      'sudo -n',
      'sudo bash',
      'sudo rm x',
      'git',
      'npm',
      'npm run',
      'npm exec',
      'npm run --silent',
      'pnpm run',
      'pnpm dlx',
      'yarn run',
      'bun run',
      'bun',
      'bun x',
      'deno',
      'deno run',
      'deno run -A',
      'deno eval',
      'npx',
      'npx -y',
      'osascript',
      'osascript x',
      'powershell -c x',
      'pwsh',
      'eval x',
      'xargs',
      'xargs -n 1',
      'timeout 5',
      'timeout 5 bash',
      'nohup sh',
      'su -c x',
      'find',
      'docker',
      'awk',
    ].map(line => [line]),
  )('%j', async line => {
    await expect(saveAllowRule(home, line === '' ? [] : line.split(' '))).rejects.toThrow('too broad to be saved');
  });

  test.each([
    'touch',
    'make',
    'cargo build',
    'git push',
    'npm run build',
    'npm test',
    'npm install',
    'pnpm dlx vite',
    'python3 a.py',
    'python3 -m pytest',
    'node scripts/x.js',
    'npx vitest',
    'docker build',
    'env A=b make',
    'sudo apt-get',
    'timeout 5 make',
    'find src',
    'deno run -A main.ts',
    'bash scripts/x.sh',
  ])('%j is narrow enough', async line => {
    await saveAllowRule(home, line.split(' '));
    expect(readFileSync(file, 'utf8')).toContain('decision="allow"');
  });
});
