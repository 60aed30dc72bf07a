import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export * from './thread-parts.js';

export const FIXTURES = fileURLToPath(new URL('../fixtures/rollouts', import.meta.url));

export function tempHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'rollout-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** Fails a test that is warned; for places where nothing should go wrong. */
export function noWarning(message: string): void {
  throw new Error(`unexpected warning: ${message}`);
}

/** A program of this folder as a process of its own. It is killed when the test ends. */
export function startProgram(name: string, args: readonly string[], under: readonly string[] = []): ChildProcess {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const [command = '', ...rest] = [...under, process.execPath, '--import', 'tsx', path, ...args];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** The lines a process prints, one after the other. */
export async function* linesOf(child: ChildProcess): AsyncGenerator<string> {
  let begun = '';
  for await (const chunk of child.stdout ?? []) {
    const lines = (begun + String(chunk)).split('\n');
    begun = lines.pop() ?? '';
    yield* lines;
  }
}

export async function nextLine(lines: AsyncGenerator<string>): Promise<string> {
  const result = await lines.next();
  if (result.done) throw new Error('the program ended without another line');
  return result.value;
}
