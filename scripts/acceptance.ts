/**
 * Runs the acceptance cases that .ci/acceptance.json lists, from the folder ACCEPTANCE_DIR. A listed case that fails is
 * run once more, alone; failing again fails the whole. The list only grows.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { copyInstallation } from './acceptance/copy-installation.js';
import { root } from './root.js';

type Listed = {
  /** Wire API -> ids of run.mjs. */
  readonly run: Readonly<Record<'responses' | 'chat' | 'messages', readonly string[]>>;
  /** Ids of exec.mjs. */
  readonly exec: readonly string[];
  /** Ids of run.mjs (wire `responses`) that judge time and so run alone. */
  readonly timing: readonly string[];
  /** Whether the sandbox escape suite is run. */
  readonly escapes: boolean;
};

type Harness = {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly jobs: number;
};

const folder = resolve(root, process.env.ACCEPTANCE_DIR ?? '../shared/acceptance');
const scratch = mkdtempSync(join(tmpdir(), 'interpreter-acceptance-'));

const SERVER = ['--target', 'node dist/interpreter.js mcp-server', '--home-env', 'INTERPRETER_HOME'];
const EXEC = ['--target-exec', 'node dist/interpreter.js', '--home-env', 'INTERPRETER_HOME'];

function main(): void {
  const listed = JSON.parse(readFileSync(join(root, '.ci/acceptance.json'), 'utf8')) as Listed;
  const failures: string[] = [];
  try {
    if (!existsSync(folder)) {
      console.error(`\n!!! NO ACCEPTANCE CASES WERE RUN: ${folder} does not exist. Set ACCEPTANCE_DIR. !!!\n`);
      return;
    }
    const count = [...Object.values(listed.run), listed.exec, listed.timing].flat().length;
    console.log(`${count} cases are listed; sandbox escapes: ${listed.escapes ? 'yes' : 'no'}`);
    for (const [wire, ids] of Object.entries(listed.run)) {
      const args = [...SERVER, '--wire', wire];
      failures.push(...runCases({ name: `run, ${wire}`, script: 'run.mjs', args, jobs: 4 }, ids));
    }
    failures.push(...runCases({ name: 'exec', script: 'exec.mjs', args: EXEC, jobs: 4 }, listed.exec));
    failures.push(...runCases({ name: 'timing', script: 'run.mjs', args: SERVER, jobs: 1 }, listed.timing));
    if (listed.escapes) failures.push(...runEscapes());
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  for (const failure of failures) console.error(`FAILED ${failure}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

/** Gives the failures as "<harness>: <id>". */
function runCases(harness: Harness, ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  return timed(harness.name, () => {
    const failed = failedCases(harness, ids);
    const again = failed.length === 0 ? [] : failedCases({ ...harness, jobs: 1 }, failed);
    return again.map(id => `${harness.name}: ${id}`);
  });
}

/** The ids that did not pass; one that the harness does not know is among them. */
function failedCases({ script, args, jobs }: Harness, ids: readonly string[]): string[] {
  const out = join(scratch, 'cases.json');
  rmSync(out, { force: true });
  const more = ['--only', ids.join(','), '--jobs', String(jobs), '--json', out];
  spawnSync(process.execPath, [join(folder, script), ...args, ...more], { cwd: root, stdio: 'inherit' });
  if (!existsSync(out)) return [...ids];
  const { results } = JSON.parse(readFileSync(out, 'utf8')) as { results: { id: string; pass: boolean }[] };
  const passed = new Set(results.filter(result => result.pass).map(result => result.id));
  return ids.filter(id => !passed.has(id));
}

/** As the user who runs this; for root also as an ordinary user, from a copy that user can read. */
function runEscapes(): string[] {
  const failures = escapesAs(null, root);
  if (process.getuid?.() !== 0) return failures;
  const copy = copyInstallation();
  try {
    return [...failures, ...escapesAs('nobody', copy)];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function escapesAs(user: string | null, installation: string): string[] {
  const name = `sandbox escapes as ${user ?? userInfo().username}`;
  return timed(name, () => {
    const failed = failedEscapes(user, installation, []);
    const again = failed.length === 0 ? [] : failedEscapes(user, installation, failed);
    return again.map(id => `${name}: ${id}`);
  });
}

/** `only`: ids, or none for all. Gives the ids of cases that must hold and did not. */
function failedEscapes(user: string | null, installation: string, only: readonly string[]): string[] {
  const out = join(scratch, 'escapes.json');
  rmSync(out, { force: true });
  const program = join(installation, 'dist/interpreter.js');
  const args = ['--wrap', `node ${program} sandbox {policy...} -- bash -c {cmd}`, '--out', out];
  if (user !== null) args.push('--user', user);
  if (only.length > 0) args.push('--only', only.join(','), '--jobs', '1');
  spawnSync(process.execPath, [join(folder, 'sandbox/run-escapes.mjs'), ...args], { cwd: root, stdio: 'inherit' });
  if (!existsSync(out)) return only.length > 0 ? [...only] : ['the suite did not run'];
  const { summary } = JSON.parse(readFileSync(out, 'utf8')) as { summary: { mustFail: string[] } };
  return summary.mustFail;
}

function timed<T>(name: string, run: () => T): T {
  const started = performance.now();
  console.log(`\n== acceptance: ${name}`);
  const result = run();
  console.log(`== acceptance: ${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return result;
}

main();
