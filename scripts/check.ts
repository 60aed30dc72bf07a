/**
 * `npm run check`: all checks that need no run of the program, two at a time. Prints each as it ends, the output only
 * of those that failed; exit status 1 when one did.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './root.js';

type Step = {
  readonly name: string;
  readonly commands: readonly (readonly [string, ...string[]])[];
  readonly fix: string;
};

const STEPS: readonly Step[] = [
  {
    name: 'types',
    commands: [['tsc', '-p', '.']],
    fix: 'see the messages above',
  },
  {
    name: 'package',
    commands: [
      ['tsx', 'scripts/build.ts'],
      ['publint', '--strict'],
    ],
    fix: 'package.json and what the build writes have to agree',
  },
  {
    name: 'lint',
    commands: [['oxlint', '--type-aware', '--deny-warnings', '.']],
    fix: 'see the messages above',
  },
  {
    name: 'unused code',
    commands: [['knip', '--no-config-hints', '--no-progress']],
    fix: 'remove what nobody uses; a new kind of entry point belongs in knip.json',
  },
  {
    name: 'imports',
    commands: [['tsx', 'scripts/check-imports.ts']],
    fix: 'the table of rooms is in CONTRIBUTING.md',
  },
  {
    name: 'format',
    commands: [['biome', 'check', '.']],
    fix: 'npm run format',
  },
];

const PARALLEL = 2;

type Result = { readonly step: Step; readonly ok: boolean };

async function main(): Promise<void> {
  const waiting = [...STEPS];
  const results: Result[] = [];
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) results.push(await check(step));
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  const failed = results.filter(result => !result.ok);
  for (const { step } of failed) console.error(`FAILED ${step.name}: ${step.fix}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function check(step: Step): Promise<Result> {
  const started = performance.now();
  const outputs: string[] = [];
  let ok = true;
  for (const command of step.commands) {
    const { status, output } = await run(command);
    outputs.push(output);
    ok = status === 0;
    if (!ok) break;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${step.name} (${seconds} s)`);
  if (!ok) console.log(outputs.join('').trimEnd());
  return { step, ok };
}

function run([program, ...args]: readonly [string, ...string[]]): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'node_modules/.bin', program), args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', status => resolve({ status, output: Buffer.concat(chunks).toString() }));
  });
}

await main();
