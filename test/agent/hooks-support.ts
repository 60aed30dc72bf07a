/** Hooks for tests: shell commands in HOME/hooks.json that keep what they were given. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { HookEventName } from '../../src/protocol/index.js';
import type { AgentWorld } from '../support/agent-world.js';

export type HookSpec = { event: HookEventName; run: string; matcher?: string; timeout?: number };

/** `run`: shell code; `$IN` is what came on standard input. */
export function writeHooks(world: AgentWorld, specs: readonly HookSpec[], file = 'home/hooks.json'): string {
  const hooks: Record<string, unknown[]> = {};
  for (const [index, { event, run, matcher, timeout }] of specs.entries()) {
    const script = world.write(
      `hook-${path.basename(path.dirname(file))}-${index}.sh`,
      `#!/bin/sh\nIN=$(cat)\nprintf '%s\\n' "$IN" >> ${world.root}/seen.jsonl\n${run}\n`,
      0o755,
    );
    hooks[event] ??= [];
    hooks[event].push({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: 'command', command: script, ...(timeout === undefined ? {} : { timeout }) }],
    });
  }
  return world.write(file, JSON.stringify({ hooks }));
}

/** Everything that hooks were given, in order. */
export function seen(world: AgentWorld): Record<string, unknown>[] {
  try {
    const text = readFileSync(path.join(world.root, 'seen.jsonl'), 'utf8');
    return text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  } catch {
    // No hook has run.
    return [];
  }
}

export const quote = (value: unknown): string => `'${JSON.stringify(value)}'`;

/** Resolves when `check` gives something; the test's own time limit ends the wait. */
export async function until<T>(check: () => T | null | undefined | false): Promise<T> {
  for (;;) {
    const value = check();
    if (value) return value;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

/** False also for a process that is dead and only waits to be collected. */
export function isAlive(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // Gone.
    return false;
  }
}
