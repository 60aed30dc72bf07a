/** What is judged to only read is really run, in a folder full of traps, and must leave it as it was. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judge } from '../../src/approvals/index.js';
import { nearMiss, plainLookingScript, sneakyScript } from './scripts.js';
import { contextOf, shell } from './support.js';

/** Names that a pattern could turn into options, and programs named like harmless ones. */
const FILES: Record<string, string> = {
  a: 'x\ny\n',
  b: 'x\n',
  script: 'w made\n',
  '-delete': '',
  '--pre=.': '',
  '--pre=tool': '',
  '-fprint': '',
  made_not: '',
  'sub/a': 'x\n',
};
const TRAP = '#!/bin/sh\ntouch made\n';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync('/var/tmp/safe-scripts-');
  mkdirSync(join(folder, 'sub'));
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  for (const name of ['ls', 'tool', 'sub/cat']) {
    writeFileSync(join(folder, name), TRAP);
    chmodSync(join(folder, name), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function snapshot(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length) + (entry.isFile() ? contentOf(entry) : ''))
    .toSorted();
}

function contentOf(entry: { parentPath: string; name: string }): string {
  return ` = ${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`;
}

const SHELLS = ['/bin/bash', '/bin/dash', '/bin/zsh'].filter(path => existsSync(path));

function run(shellPath: string, script: string): void {
  spawnSync(shellPath, ['-c', script], {
    cwd: folder,
    stdio: 'ignore',
    timeout: 5000,
    env: { PATH: `${dirname(rgPath)}:/usr/bin:/bin`, HOME: folder, LC_ALL: 'C.UTF-8' },
  });
}

describe('a script that is judged to only read', () => {
  test('changes nothing when it is run', () => {
    const before = snapshot();
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.oneof(sneakyScript, nearMiss, plainLookingScript), script => {
        if (seen.has(script) || seen.size >= 80) return;
        if (judge(shell(script), contextOf({ policy: 'untrusted' })).type !== 'run') return;
        seen.add(script);
        for (const path of SHELLS) run(path, script);
        expect(snapshot()).toEqual(before);
      }),
      { numRuns: 4000 },
    );
    expect(seen.size).toBeGreaterThan(40);
  });

  test('the check itself notices an effect', () => {
    const before = snapshot();
    run('/bin/bash', 'find . -name a | tee made');
    expect(snapshot()).not.toEqual(before);
    rmSync(join(folder, 'made'));
  });
});
