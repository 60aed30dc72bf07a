/** Looks after commands in the background: what they have printed since, and their end. */
import { clamp, pollOrEnd, reportSession } from './exec-command.js';
import type { ExecSession } from './exec-sessions.js';
import type { Plan, ToolAction, ToolContext, ToolResult } from './tool.js';

type PollCommandCall = {
  readonly session_id: number;
  /** How long to wait for the command to end; 0 = not at all. */
  readonly wait_ms: number;
};

const plan = (): Promise<Plan> => Promise.resolve({ type: 'act', action: { type: 'none' } });

/** The output of a command since the last call for it. */
export const pollCommand: ToolAction<PollCommandCall> = {
  parallel: true,
  plan,
  run: async (call, context) => {
    const started = performance.now();
    const session = context.sessions.get(call.session_id);
    if (!session) return unknown(call.session_id);
    const waitMs = clamp(call.wait_ms, 0, context.max_poll_ms);
    if (waitMs > 0 && session.result === null) await pollOrEnd(session, waitMs, context);
    return reportSession({ session, context, started });
  },
};

/** Ends a command and everything it started. */
export const stopCommand: ToolAction<{ readonly session_id: number }> = {
  parallel: true,
  plan,
  run: async (call, context) => {
    const session = context.sessions.get(call.session_id);
    return session ? stop(session, context) : unknown(call.session_id);
  },
};

async function stop(session: ExecSession, context: ToolContext): Promise<ToolResult> {
  const started = performance.now();
  await context.sessions.end([session]);
  const report = reportSession({ session, context, started });
  // That it did not end by itself is what was asked for.
  return { ...report, is_error: false };
}

function unknown(id: number): ToolResult {
  const output = `No command has the session ID ${id}. It has ended, or was never started in this thread.`;
  return { output, is_error: true };
}
