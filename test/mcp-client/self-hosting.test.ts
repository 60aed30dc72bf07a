import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMcpServers } from '../../src/mcp-client/index.js';
import { McpWorld, server } from './support.js';

/** The servers that are left of these command lines at a depth, and what is said about the others. */
function admitted(commands: readonly string[][], depth: number) {
  const world = new McpWorld();
  const program = path.join(world.root, 'own.js');
  writeFileSync(program, '#!/usr/bin/env node\n');
  chmodSync(program, 0o755);
  symlinkSync(program, path.join(world.root, 'link'));
  const env = { PATH: `${world.root}:/usr/bin`, ...(depth > 0 ? { OPEN_INTERPRETER_MCP_DEPTH: String(depth) } : {}) };
  const servers = createMcpServers({ ...world.deps(), env, program });
  const settings = commands.map(([command = '', ...args], i) =>
    server(
      { type: 'stdio', command, args: args.map(word => word.replace('ROOT', world.root)), env: {} },
      { name: `s${i}` },
    ),
  );
  const thread = servers.forThread(settings, { cwd: world.cwd, search: true });
  return { left: thread.reports().map(report => report.server), warnings: thread.warnings };
}

const OWN = [
  ['interpreter', 'mcp-server'],
  ['/usr/local/bin/interpreter', '-c', 'a=1', 'mcp-server'],
  ['npx', '-y', 'open-interpreter@1.2.3', 'mcp-server'],
  ['node', 'ROOT/own.js', 'mcp-server'],
  ['link', 'mcp-server'],
];
const OTHERS = [
  ['interpreter', 'exec', 'x'],
  ['codex', 'mcp-server'],
  ['npx', '-y', 'some-server', '--tool', 'interpreter'],
];

describe('our own server among the servers', () => {
  test('is started by an agent that nobody else has started', () => {
    expect(admitted([...OWN, ...OTHERS], 0).left).toHaveLength(OWN.length + OTHERS.length);
  });

  test('is left out below that, and told about; others stay', () => {
    const { left, warnings } = admitted([...OWN, ...OTHERS], 1);
    expect(left).toEqual(['s5', 's6', 's7']);
    expect(warnings).toHaveLength(OWN.length);
    expect(warnings[0]).toContain('MCP server `s0` is left out: it is this agent again');
  });

  test('no server is started three levels down, whatever hides behind it', () => {
    const { left, warnings } = admitted(OTHERS, 3);
    expect(left).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('No MCP servers are started')]);
  });
});
