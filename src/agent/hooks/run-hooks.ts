/** Runs the handlers of one event at the same time. They are the person's own programs, and run without a sandbox. */
import type { CommandRunner, HookSettings } from '../../protocol/index.js';
import { runToEnd } from '../../sandbox/index.js';
import { type Span, traceEnvironment } from '../../util/index.js';
import { type HookReply, readReply } from './hook-reply.js';

export type HookSurroundings = {
  readonly runner: CommandRunner;
  /** How a command line is run, e.g. `["/bin/bash", "-lc"]`. */
  readonly shell: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ends the handlers. Absent: only their time limits do. */
  readonly signal?: AbortSignal;
  readonly span: Span;
  /** No handler may take longer than this, whatever its own limit. */
  readonly mostMs?: number;
};

/** Of stdout and of stderr, each. */
const MAX_OUTPUT = 1024 * 1024;

/** `input` goes to each as JSON on its standard input. The replies are in the order of the handlers. Never rejects. */
export function runHooks(
  hooks: readonly HookSettings[],
  input: Readonly<Record<string, unknown>>,
  around: HookSurroundings,
): Promise<HookReply[]> {
  const text = JSON.stringify(input);
  return Promise.all(hooks.map(hook => runHook(hook, text, around)));
}

async function runHook(hook: HookSettings, input: string, around: HookSurroundings): Promise<HookReply> {
  const span = around.span.span(`hook ${hook.event}`, { 'codex.hook.event': hook.event });
  const limit = { ...hook, timeout_ms: Math.min(hook.timeout_ms, around.mostMs ?? hook.timeout_ms) };
  const collected = await runToEnd(
    around.runner,
    {
      argv: [...around.shell, hook.command],
      cwd: around.cwd,
      env: { ...around.env, ...traceEnvironment(span.context()) },
      policy: { type: 'danger-full-access' },
    },
    {
      timeoutMs: limit.timeout_ms,
      maxBytes: MAX_OUTPUT,
      input,
      ...(around.signal ? { signal: around.signal } : {}),
    },
  );
  const reply = readReply(limit, collected);
  span.setAttributes({ 'codex.hook.result': collected.result.type, 'codex.hook.blocked': reply.block !== null });
  span.end();
  return reply;
}
