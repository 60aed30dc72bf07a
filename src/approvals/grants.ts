/** What a person has approved for the rest of a thread. */
import { createHash } from 'node:crypto';

/** Approvals remembered under keys; a key stands for one command line in one place, one file, or one tool. */
export interface Grants {
  /** True when every key was granted; false for no keys at all. */
  has(keys: readonly string[]): boolean;
  add(keys: readonly string[]): void;
  /** All keys, to be kept with the thread and given to `createGrants` when it is resumed. */
  serialize(): string[];
}

export function createGrants(kept: readonly string[] = []): Grants {
  const granted = new Set(kept);
  return {
    has: keys => keys.length > 0 && keys.every(key => granted.has(key)),
    add: keys => {
      for (const key of keys) granted.add(key);
    },
    serialize: () => [...granted],
  };
}

/** The same words in the same folder with the same reach. Hashed: a script may be long and hold secrets. */
export function commandKey(argv: readonly string[], cwd: string, sandboxed: boolean): string {
  return `command:${createHash('sha256')
    .update(JSON.stringify([argv, cwd, sandboxed]))
    .digest('hex')}`;
}

/** One written file. */
export function patchKey(path: string, sandboxed: boolean): string {
  return `patch:${reach(sandboxed)}:${path}`;
}

export function mcpToolKey(server: string, tool: string): string {
  return `mcp_tool:${JSON.stringify([server, tool])}`;
}

function reach(sandboxed: boolean): string {
  return sandboxed ? 'sandboxed' : 'unsandboxed';
}
