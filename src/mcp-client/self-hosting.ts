/**
 * Our own server can stand among the servers, and its configuration may be the same as ours. How deep we are nested is
 * told to every server process through a variable; below the first level we leave ourselves out.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { McpServerSettings } from '../protocol/index.js';
import type { Env } from '../util/index.js';

const DEPTH_VARIABLE = 'OPEN_INTERPRETER_MCP_DEPTH';
/** Programs that start us without our noticing (scripts, containers) are stopped here: no servers at all. */
const DEEPEST = 3;
const SUB_COMMAND = 'mcp-server';
const OWN_NAMES = new Set(['interpreter', 'interpreter.js', 'open-interpreter']);

/** 0 = nobody has started us as an MCP server of theirs. */
function nestingDepth(env: Env): number {
  const depth = Number(env[DEPTH_VARIABLE] ?? '0');
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}

/** For the environment of a server process. */
export function childDepth(env: Env): Record<string, string> {
  return { [DEPTH_VARIABLE]: String(nestingDepth(env) + 1) };
}

export type Admission = { readonly admitted: McpServerSettings[]; readonly warnings: string[] };

/** The servers that may be started at this depth, and what to say about the others. */
export function admitServers(
  servers: readonly McpServerSettings[],
  { env, program }: { env: Env; program: string | null },
): Admission {
  const depth = nestingDepth(env);
  if (depth === 0 || servers.length === 0) return { admitted: [...servers], warnings: [] };
  if (depth >= DEEPEST) {
    const warning = `No MCP servers are started: this is the ${depth}th agent in a row that was started as an MCP server of another one. Look for a server in the configuration that starts the agent again.`;
    return { admitted: [], warnings: [warning] };
  }
  const own = servers.filter(server => isOurselves(server.transport, env, program));
  return {
    admitted: servers.filter(server => !own.includes(server)),
    warnings: own.map(
      ({ name }) =>
        `MCP server \`${name}\` is left out: it is this agent again, which already runs as an MCP server of another agent.`,
    ),
  };
}

function isOurselves(transport: McpServerSettings['transport'], env: Env, program: string | null): boolean {
  if (transport.type !== 'stdio') return false;
  const words = [transport.command, ...transport.args];
  const at = words.indexOf(SUB_COMMAND);
  if (at < 0) return false;
  const own = program === null ? null : realPath(program);
  return words.slice(0, at).some(word => {
    // `open-interpreter@1.2.3`, as npx takes it.
    const name = path.basename(word).replace(/(?<=.)@.*$/, '');
    return (
      OWN_NAMES.has(name) || (own !== null && locations(word, transport, env).some(file => realPath(file) === own))
    );
  });
}

/** Where a word of a command line may lie. */
function locations(word: string, { cwd }: { cwd?: string }, env: Env): string[] {
  if (path.isAbsolute(word)) return [word];
  if (word.includes('/')) return [path.resolve(cwd ?? '.', word)];
  return (env.PATH ?? '').split(path.delimiter).flatMap(folder => (folder === '' ? [] : [path.join(folder, word)]));
}

function realPath(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    // Not there: then it is not us either.
    return null;
  }
}
