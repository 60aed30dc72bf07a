/** Runs a shell command; one that takes longer than `yield_time_ms` goes on as a session. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { CommandExecutionItem, CommandResult, CommandRunner, CommandSpec } from '../protocol/index.js';
import { explainDenial } from '../sandbox/index.js';
import { delay, onAbort } from '../util/index.js';
import { recognisePatchCommand } from './apply-patch/index.js';
import { reportCommand } from './command-output.js';
import { defineFunctionTool } from './define-tool.js';
import type { ExecSession } from './exec-sessions.js';
import type { Plan, ToolContext, ToolFacts, ToolResult } from './tool.js';
import { watchCommand } from './watch-command.js';

const MIN_YIELD_MS = 250;
const MAX_YIELD_MS = 30_000;

const escalation = {
  sandbox_permissions: z
    .enum(['use_default', 'require_escalated'])
    .optional()
    .describe('"require_escalated" asks to run this command outside the sandbox. Default "use_default".'),
  justification: z
    .string()
    .optional()
    .describe('With require_escalated: one sentence for the person who decides, saying why it is needed.'),
  prefix_rule: z
    .array(z.string())
    .optional()
    .describe('With require_escalated: words such as ["npm","install"] that similar later commands begin with.'),
};

const input = z.object({
  cmd: z.string().min(1).describe('The shell script to run.'),
  workdir: z.string().optional().describe('Directory to run in; default is the working directory of the thread.'),
  shell: z.string().optional().describe("Shell program; default is the user's shell."),
  login: z.boolean().optional().describe('Run as a login shell (-l). Default true.'),
  tty: z.boolean().optional().describe('Give the command a terminal, for programs that need one. Default false.'),
  yield_time_ms: z
    .number()
    .optional()
    .describe('How long to wait for output before returning (250-30000, default 10000).'),
  max_output_tokens: z.number().optional().describe('Largest output to return, in tokens; more is cut in the middle.'),
  ...escalation,
});
type Input = z.output<typeof input>;

export const execCommandTool = defineFunctionTool({
  name: 'exec_command',
  description:
    'Runs a command in a shell and returns its output. If it is still running after yield_time_ms, returns a session ID to use with write_stdin.',
  input,
  parallel: true,
  runsAlone: call => isPatch(call.cmd),
  plan: (call, facts) =>
    planCommand({ ...call, script: call.cmd }, facts, (output, ms) =>
      [`Wall time: ${(ms / 1000).toFixed(4)} seconds`, 'Output:', output].join('\n'),
    ),
  run,
});

/** True for a script that is a patch: it changes files as `apply_patch` does. */
export const isPatch = (script: string): boolean => recognisePatchCommand(script) !== null;

export type ShellCall = {
  script: string;
  workdir?: string | undefined;
  shell?: string | undefined;
  login?: boolean | undefined;
  sandbox_permissions?: 'use_default' | 'require_escalated' | undefined;
  justification?: string | undefined;
  prefix_rule?: string[] | undefined;
};

/** The plan of any call that runs a shell script. */
export async function planCommand(
  call: ShellCall,
  facts: ToolFacts,
  presentPatch: (output: string, ms: number) => string,
): Promise<Plan> {
  if (call.login === true && !facts.allow_login_shell) {
    return {
      type: 'invalid',
      message: 'login shells are switched off (allow_login_shell = false); leave login out or false',
    };
  }
  const cwd = path.resolve(facts.cwd, call.workdir ?? '.');
  const patch = recognisePatchCommand(call.script);
  if (patch) {
    const patchCwd = path.resolve(cwd, patch.cwd ?? '.');
    return { type: 'redirect', tool: 'apply_patch', raw: patch.patch, cwd: patchCwd, present: presentPatch };
  }
  const problem = await directoryProblem(cwd);
  if (problem) return { type: 'invalid', message: `The command was not run: ${problem}` };
  return {
    type: 'act',
    action: {
      type: 'command',
      argv: shellArgv(call, facts),
      cwd,
      escalated: call.sandbox_permissions === 'require_escalated',
      justification: call.justification ?? null,
      prefix_rule: call.prefix_rule ?? null,
    },
  };
}

function shellArgv(call: ShellCall, facts: ToolFacts): string[] {
  const login = call.login ?? facts.allow_login_shell;
  return [call.shell ?? facts.shell, login ? '-lc' : '-c', call.script];
}

async function directoryProblem(cwd: string): Promise<string | null> {
  try {
    return (await stat(cwd)).isDirectory() ? null : `workdir ${cwd} is not a directory`;
  } catch {
    // Whatever the reason, the shell could not start there; the path is what the model must correct.
    return `workdir ${cwd} does not exist or cannot be entered`;
  }
}

async function run(call: Input, context: ToolContext): Promise<ToolResult> {
  const started = performance.now();
  const session = await startSession({ ...call, script: call.cmd }, context);
  if (typeof session === 'string') return { output: session, is_error: true };
  const yieldMs = clamp(call.yield_time_ms ?? 10_000, MIN_YIELD_MS, MAX_YIELD_MS);
  await waitOrEnd(session, yieldMs, context);
  return reportSession({ session, context, started, maxTokens: call.max_output_tokens });
}

/** Starts a shell call as a session; a text is what to tell the model when it could not be started. */
export async function startSession(
  call: ShellCall & { tty?: boolean | undefined },
  context: ToolContext,
  source: CommandExecutionItem['source'] = 'unified_exec_startup',
): Promise<ExecSession | string> {
  const full = context.sessions.reserve();
  if (full !== null) return `The command was not run: ${full}`;
  const argv = shellArgv(call, context);
  const cwd = path.resolve(context.cwd, call.workdir ?? '.');
  const watched = watchCommand(argv[0] ?? '', context);
  const spec = { argv, cwd, workspace: context.workspace, env: watched.env, policy: context.policy };
  const running = await start(
    { ...spec, ...(call.tty ? { tty: { cols: 120, rows: 40 } } : { merge_output: true }) },
    context,
  );
  if ('type' in running) {
    watched.ended(running, () => '');
    return `The command was not run: ${running.message}`;
  }
  const id = context.sessions.newId();
  const item: CommandExecutionItem = {
    type: 'command_execution',
    id: context.call_id,
    process_id: String(id),
    command: argv,
    cwd,
    parsed: context.parsed_command,
    source,
    status: 'in_progress',
    aggregated_output: '',
    exit_code: null,
    duration_ms: null,
  };
  const session = context.sessions.add(id, item, running);
  void session.ended.then(result => watched.ended(result, bytes => session.all.text(bytes, () => '\n')));
  return session;
}

/** Gives the place back that was reserved when nothing was started. */
async function start(spec: CommandSpec, { runner, sessions }: ToolContext): ReturnType<CommandRunner['start']> {
  let started = false;
  try {
    const running = await runner.start(spec);
    started = !('type' in running);
    return running;
  } finally {
    if (!started) sessions.notStarted();
  }
}

/** Waits until the command ended, the time is up, or the turn was interrupted. */
async function waitForEnd(session: ExecSession, ms: number, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const stopListening = onAbort(signal, () => stop.abort());
  try {
    await Promise.race([session.ended, delay(ms, stop.signal)]);
  } finally {
    stopListening();
    stop.abort();
  }
}

/** The same for a call that did not start it. A command that an earlier turn left running outlives the interrupt. */
export async function pollOrEnd(session: ExecSession, ms: number, context: ToolContext): Promise<void> {
  await waitForEnd(session, ms, context.signal);
  if (context.signal.aborted && context.sessions.isOfThisTurn(session)) await context.sessions.end([session]);
}

/** The same for the call that started it: an interrupt ends the command. */
export async function waitOrEnd(session: ExecSession, ms: number, context: ToolContext): Promise<void> {
  await waitForEnd(session, ms, context.signal);
  if (context.signal.aborted) await context.sessions.end([session]);
}

export type SessionReport = {
  session: ExecSession;
  context: ToolContext;
  /** `performance.now()` at the start of the call. */
  started: number;
  maxTokens?: number | undefined;
  /** Added after the output. */
  note?: string | null;
};

/** The result of a call that started, polled or wrote to a session. */
export function reportSession({ session, context, started, maxTokens, note }: SessionReport): ToolResult {
  const wallMs = performance.now() - started;
  const output = context.sessions.takeUnread(session);
  const budgetBytes = Math.min(context.output_budget_bytes, Math.max(0, maxTokens ?? Number.POSITIVE_INFINITY) * 4);
  if (context.signal.aborted) {
    const goesOn = session.result === null ? `\n${statusLine(session.id, null)}` : '';
    const text = reportCommand({ wallMs, status: `aborted by user${goesOn}`, output, budgetBytes });
    return { output: text, is_error: true };
  }
  const result = session.result;
  const denial =
    result && context.sandboxed
      ? context.sessions.once(
          explainDenial({ policy: context.policy, result, output: session.all.text(64 * 1024, () => '\n') }),
        )
      : null;
  return {
    output: reportCommand({
      wallMs,
      status: statusLine(session.id, result),
      output,
      budgetBytes,
      note: note ?? denial,
    }),
    is_error: result !== null && !(result.type === 'exited' && result.exit_code === 0),
  };
}

function statusLine(id: number, result: CommandResult | null): string {
  if (result === null) return `Process running with session ID ${id}`;
  switch (result.type) {
    case 'exited':
      return `Process exited with code ${result.exit_code}${result.signal ? ` (killed by signal ${result.signal})` : ''}`;
    case 'timed_out':
      return 'Process was ended by its time limit (exit code 124)';
    case 'aborted':
      return 'Process was ended';
    case 'not_started':
      return `Process did not start: ${result.message}`;
  }
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Number.isFinite(value) ? value : low));
}

export { escalation as escalationInput };
