/** Runs a shell command to its end, with a time limit, or starts one that goes on while the model works. */
import { explainDenial } from '../sandbox/index.js';
import { tokensTruncated } from './command-output.js';
import { clamp, isPatch, planCommand, reportSession, type ShellCall, startSession, waitOrEnd } from './exec-command.js';
import type { ExecSession } from './exec-sessions.js';
import type { ToolAction, ToolContext, ToolResult } from './tool.js';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 60 * 60 * 1000;
/** A command in the background that fails at once is told at once. */
const BACKGROUND_WAIT_MS = 500;

export type RunShellCall = ShellCall & {
  /** The command is ended after this time. Default 10 s, at most an hour. */
  timeout_ms?: number | undefined;
  /** Without a time limit; the answer is the session ID, for `pollCommand` and `stopCommand`. */
  background?: boolean | undefined;
};

export const runShell: ToolAction<RunShellCall> = {
  parallel: true,
  alone: call => isPatch(call.script),
  plan: (call, facts) => planCommand(call, facts, output => output),
  run: (call, context) => (call.background ? runInBackground(call, context) : runToEnd(call, context)),
};

async function runInBackground(call: RunShellCall, context: ToolContext): Promise<ToolResult> {
  const started = performance.now();
  const session = await startSession(call, context);
  if (typeof session === 'string') return { output: session, is_error: true };
  await waitOrEnd(session, BACKGROUND_WAIT_MS, context);
  return reportSession({ session, context, started });
}

async function runToEnd(call: RunShellCall, context: ToolContext): Promise<ToolResult> {
  const session = await startSession(call, context, 'agent');
  if (typeof session === 'string') return { output: session, is_error: true };
  const timeoutMs = clamp(call.timeout_ms ?? DEFAULT_TIMEOUT_MS, 1, MAX_TIMEOUT_MS);
  await waitOrEnd(session, timeoutMs, context);
  const timedOut = session.result === null;
  if (timedOut) await context.sessions.end([session], 'timed_out');
  return report(session, context, timedOut ? timeoutMs : null);
}

function report(session: ExecSession, context: ToolContext, timeoutMs: number | null): ToolResult {
  const seconds = (performance.now() - session.startedAt) / 1000;
  const output = context.sessions.takeUnread(session);
  const text = output.text(context.output_budget_bytes, tokensTruncated);
  if (context.signal.aborted)
    return { output: `aborted by user after ${seconds.toFixed(1)}s\n${text}`, is_error: true };
  const exitCode = session.result?.type === 'exited' ? session.result.exit_code : 124;
  const signal = session.result?.type === 'exited' ? session.result.signal : null;
  const note =
    session.result && context.sandboxed
      ? context.sessions.once(explainDenial({ policy: context.policy, result: session.result, output: text }))
      : null;
  const lines = [
    `Exit code: ${exitCode}${signal ? ` (killed by signal ${signal})` : ''}`,
    `Wall time: ${seconds.toFixed(1)} seconds`,
  ];
  if (output.total > context.output_budget_bytes) lines.push(`Total output lines: ${output.lines}`);
  lines.push('Output:');
  if (timeoutMs !== null) lines.push(`command timed out after ${timeoutMs} milliseconds`);
  lines.push(text);
  if (note) lines.push(note);
  return { output: lines.join('\n'), is_error: exitCode !== 0 };
}
