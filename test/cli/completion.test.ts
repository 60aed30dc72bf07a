/** The completion scripts, in the shells they are for. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../support/exec-world.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync('/var/tmp/completion-');
  mkdirSync(path.join(folder, 'a folder'));
  writeFileSync(path.join(folder, 'a-file.json'), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function script(shell: string): string {
  const file = path.join(folder, `completion.${shell}`);
  if (existsSync(file)) return file;
  const { stdout, status } = spawnSync(process.execPath, [PROGRAM, 'completion', shell], { encoding: 'utf8' });
  expect(status).toBe(0);
  writeFileSync(file, stdout);
  return file;
}

const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

function run(shell: string, code: string): string {
  const { stdout, stderr } = spawnSync(shell, ['-c', code], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}

const CASES: readonly (readonly [words: string, completions: string[]])[] = [
  ['interpreter exe', ['exec', 'execpolicy']],
  ['interpreter exec res', ['resume']],
  ['interpreter e res', ['resume']],
  ['interpreter -c exec resum', []],
  ['interpreter exec --sand', ['--sandbox']],
  ['interpreter exec -s work', ['workspace-write']],
  ['interpreter exec -m resume --las', []],
  ['interpreter exec -m some-model resume --las', ['--last']],
  ['interpreter exec --exper', []],
  ['interpreter exec -C a', ['a folder']],
  ['interpreter exec -o a-f', ['a-file.json']],
  ['interpreter completion f', ['fish']],
  ['interpreter exec review --unc', ['--uncommitted']],
];

describe.skipIf(!has('bash'))('bash', () => {
  it.each(CASES)('completes %s', (line, completions) => {
    const words = line.split(' ');
    const out = run(
      'bash',
      `source ${script('bash')}; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _interpreter; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    expect(out.split('\n').filter(word => word !== '')).toEqual(completions);
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  it.each(CASES)('completes %s', (line, completions) => {
    const out = run('fish', `source ${script('fish')}; complete -C ${JSON.stringify(line)}`);
    const words = out.split('\n').map(one => one.split('\t')[0]?.replace(/\/$/, '').replace('\\ ', ' ') ?? '');
    expect(words.filter(word => word !== '')).toEqual(completions);
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  it('can read the script, which completes the command', () => {
    const out = run(
      'zsh',
      `autoload -U compinit; compinit -u -d ${folder}/dump; source ${script('zsh')}; echo $_comps[interpreter]; whence -w _interpreter_exec_resume`,
    );
    expect(out).toBe('_interpreter\n_interpreter_exec_resume: function\n');
  });
});

it('an unknown shell is named, with those that are known', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'completion', 'tcsh'], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish');
});
