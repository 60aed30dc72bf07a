/** Writes to a running command, or polls it. */
import * as z from 'zod';
import { delay, messageOf } from '../util/index.js';
import { defineFunctionTool } from './define-tool.js';
import { clamp, pollOrEnd, reportSession } from './exec-command.js';
import type { ExecSession } from './exec-sessions.js';
import type { ToolContext, ToolResult } from './tool.js';

const input = z.object({
  session_id: z.number().describe('The session ID that exec_command returned.'),
  chars: z.string().optional().describe('Text to write; empty or absent only waits for more output.'),
  yield_time_ms: z
    .number()
    .optional()
    .describe('How long to wait for output: default 250 after a write, 5000 for a poll.'),
  max_output_tokens: z.number().optional().describe('Largest output to return, in tokens.'),
});

export const writeStdinTool = defineFunctionTool({
  name: 'write_stdin',
  description: 'Writes text to a running exec_command session and returns its new output; without text, polls it.',
  input,
  parallel: true,
  plan: () => Promise.resolve({ type: 'act', action: { type: 'none' } }),
  run,
});

async function run(call: z.output<typeof input>, context: ToolContext): Promise<ToolResult> {
  const started = performance.now();
  const session = context.sessions.get(call.session_id);
  if (!session) {
    return {
      output: `write_stdin failed: Unknown process id ${call.session_id}. Its end was reported before, or it was never started in this thread.`,
      is_error: true,
    };
  }
  const chars = call.chars ?? '';
  const report = { session, context, started, maxTokens: call.max_output_tokens };
  if (session.result !== null) {
    return reportSession({ ...report, note: chars === '' ? null : 'The text was not written: the command had ended.' });
  }
  if (chars !== '') {
    const problem = await write(chars, session, context);
    if (problem !== null) return { output: `write_stdin failed: ${problem}`, is_error: true };
  }
  const [least, most, usual] = chars === '' ? [5000, context.max_poll_ms, 5000] : [250, 30_000, 250];
  await pollOrEnd(session, clamp(call.yield_time_ms ?? usual, least, most), context);
  // Output written just before the end of the wait is often a scheduler tick behind.
  if (!session.result) await delay(5, context.signal);
  return reportSession(report);
}

/** What went wrong, or null. */
async function write(chars: string, session: ExecSession, context: ToolContext): Promise<string | null> {
  context.emit({ type: 'command.input', item_id: session.item.id, process_id: String(session.id), text: chars });
  try {
    await session.running.write(chars);
    return null;
  } catch (error) {
    return `the command does not read its input (${messageOf(error)}). Start it again with tty true to be able to write to it.`;
  }
}
