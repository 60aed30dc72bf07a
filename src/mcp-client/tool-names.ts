/**
 * The names under which a model sees the tools of servers: `mcp__<server>__<tool>`, in the characters and the length
 * that every wire API takes. A name depends on nothing but the server's place in the configuration and the server's own
 * list, so that it is the same in every turn and after a resume.
 */
import { createHash } from 'node:crypto';

/** The shortest limit of all wires. */
const MAX_LENGTH = 64;
/** The rest of a name is for its tool. */
const MAX_LABEL = 30;

/**
 * A label for each server, unique among them, in their order. Labels hold no double underscore, so a flat name can be
 * of one server only.
 */
export function serverLabels(servers: readonly string[]): string[] {
  const taken = new Set(servers.filter(name => labelOf(name) === name));
  return servers.map(name => {
    const label = labelOf(name);
    if (label === name) return label;
    const free = taken.has(label) ? withDigest(label, name, MAX_LABEL) : label;
    taken.add(free);
    return free;
  });
}

/**
 * Own name of each tool -> flat name. A tool whose characters had to be replaced gets a digest where another tool would
 * have the same name, whatever their order.
 */
export function flatNames(label: string, tools: readonly string[]): Map<string, string> {
  const wanted = new Map(tools.map(tool => [tool, tool.replaceAll(/[^A-Za-z0-9_-]/g, '_')]));
  const uses = new Map<string, number>();
  for (const safe of wanted.values()) uses.set(safe, (uses.get(safe) ?? 0) + 1);
  return new Map(
    [...wanted].map(([tool, safe]) => {
      const name = `mcp__${label}__${safe}`;
      const shared = (uses.get(safe) ?? 0) > 1 && safe !== tool;
      return [tool, shared || name.length > MAX_LENGTH ? withDigest(name, tool, MAX_LENGTH) : name];
    }),
  );
}

function labelOf(server: string): string {
  const safe = server
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replace(/_$/, '');
  if (safe === '' || safe === '_') return withDigest('server', server, MAX_LABEL);
  return safe.length <= MAX_LABEL ? safe : withDigest(safe, server, MAX_LABEL);
}

function withDigest(text: string, of: string, length: number): string {
  const digest = createHash('sha256').update(of).digest('hex').slice(0, 8);
  return `${text.slice(0, length - digest.length - 1)}_${digest}`;
}
