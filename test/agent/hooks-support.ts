/** Hooks for tests: shell commands in HOME/hooks.json that keep what they were given. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { HookEventName } from '../../src/protocol/index.js';
import type { AgentWorld } from '../support/agent-world.js';

export type HookSpec = {
  event: HookEventName;
  run: string;
  matcher?: string;
  timeout?: number;
  statusMessage?: string;
};

/** `run`: shell code; `$IN` is what came on standard input. */
export function writeHooks(world: AgentWorld, specs: readonly HookSpec[], file = 'home/hooks.json'): string {
  const hooks: Record<string, unknown[]> = {};
  for (const [index, { event, run, matcher, timeout, statusMessage }] of specs.entries()) {
    const script = world.write(
      `hook-${path.basename(path.dirname(file))}-${index}.sh`,
      `#!/bin/sh\nIN=$(cat)\nprintf '%s\\n' "$IN" >> ${world.root}/seen.jsonl\n${run}\n`,
      0o755,
    );
    hooks[event] ??= [];
    hooks[event].push({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: 'command', command: script, timeout, statusMessage }],
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
