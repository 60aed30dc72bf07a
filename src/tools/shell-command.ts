/** Runs a shell command to its end, with a time limit; offered when the feature `unified_exec` is off. */
import * as z from 'zod';
import { explainDenial } from '../sandbox/index.js';
import { tokensTruncated } from './command-output.js';
import { defineFunctionTool } from './define-tool.js';
import { clamp, escalationInput, isPatch, planCommand, startSession, waitOrEnd } from './exec-command.js';
import type { ExecSession } from './exec-sessions.js';
import type { ToolContext, ToolResult } from './tool.js';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 60 * 60 * 1000;

const input = z.object({
  command: z.string().min(1).describe('The shell script to run.'),
  workdir: z.string().optional().describe('Directory to run in; default is the working directory of the thread.'),
  login: z.boolean().optional().describe('Run as a login shell (-l). Default true.'),
  timeout_ms: z.number().optional().describe('The command is ended after this time. Default 10000.'),
  ...escalationInput,
});

export const shellCommandTool = defineFunctionTool({
  name: 'shell_command',
  description: 'Runs a command in a shell, waits for its end and returns its exit code and output.',
  input,
  parallel: true,
  runsAlone: call => isPatch(call.command),
  plan: (call, facts) => planCommand({ ...call, script: call.command }, facts, output => output),
  run,
});

async function run(call: z.output<typeof input>, context: ToolContext): Promise<ToolResult> {
  const session = await startSession({ ...call, script: call.command }, context, 'agent');
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
