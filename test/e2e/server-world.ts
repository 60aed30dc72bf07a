/**
 * `interpreter mcp-server` as it is built, in a world of its own: a home, a workspace, a model server on loopback.
 * Removed after the test, and whatever still runs is ended.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { LineClient } from '../mcp-server/line-client.js';
import { ExecWorld, PROGRAM } from '../support/exec-world.js';
import type { Body, Reply } from '../support/model-server.js';

type Exit = { readonly code: number | null; readonly signal: string | null };

export type Server = {
  readonly client: LineClient;
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<Exit>;
  readonly stderr: () => string;
  /** The most memory it ever used, MB; null where the system does not tell. */
  readonly peakMemory: () => number | null;
};

export type ServerWorld = ExecWorld & { start(env?: Record<string, string>, args?: readonly string[]): Server };

/** `config`: lines of config.toml before its tables. */
export async function serverWorld(
  replies: readonly (Reply | ((body: Body) => Reply))[],
  config = '',
): Promise<ServerWorld> {
  const world = await ExecWorld.create(replies, config);
  const start = (env: Record<string, string> = {}, args: readonly string[] = []) => startServer(world, env, args);
  return Object.assign(world, { start });
}

function startServer(world: ExecWorld, env: Record<string, string>, args: readonly string[]): Server {
  const child = spawn(process.execPath, [PROGRAM, 'mcp-server', ...args], { cwd: world.cwd, env: world.env(env) });
  const exited = new Promise<Exit>(resolve => child.on('exit', (code, signal) => resolve({ code, signal })));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return {
    client: new LineClient(child.stdin, child.stdout),
    child,
    exited,
    stderr: () => stderr,
    peakMemory: () => peakMemory(child.pid),
  };
}

function peakMemory(pid: number | undefined): number | null {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    // No /proc here.
    return null;
  }
}

/** The outputs of tool calls in a request, in order. */
export function outputs(body: Body | undefined): string[] {
  const input = (body?.['input'] ?? []) as { type: string; output?: unknown }[];
  return input.flatMap(item => (item.type.endsWith('_output') ? [String(item.output)] : []));
}

/** The texts of user messages in a request, in order. */
export function userTexts(body: Body | undefined): string[] {
  const input = (body?.['input'] ?? []) as { role?: string; content?: { text?: string }[] }[];
  return input.flatMap(item =>
    item.role === 'user' ? [(item.content ?? []).map(part => part.text ?? '').join('\n')] : [],
  );
}
