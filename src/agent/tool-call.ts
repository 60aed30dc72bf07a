/** The path of one tool call: find, parse, plan, verdict, ask if needed, run. Whatever happens, the model gets an answer. */
import { parseCommand } from '../approvals/index.js';
import type {
  Action,
  ApprovalDecision,
  ApprovalRequest,
  EventSink,
  Item,
  ToolCallItem,
  ToolCallOutputItem,
  ToolOutput,
  Verdict,
} from '../protocol/index.js';
import type { Tool, ToolContext, ToolFacts } from '../tools/index.js';
import { messageOf, type Span, stackOf } from '../util/index.js';
import { askForServer, askPerson } from './ask-person.js';
import type { ToolUse } from './hooks/index.js';
import { newId, newItemId } from './ids.js';
import type { TurnContext } from './turn-context.js';

/** Runs a call, unless the turn was interrupted meanwhile, and returns its output item. Never throws. */
export async function runToolCall(call: ToolCallItem, turn: TurnContext): Promise<ToolCallOutputItem> {
  if (turn.signal.aborted) return outputItem(call, ABORTED);
  const span = toolSpan(call, turn);
  const started = performance.now();
  let outcome: Outcome;
  try {
    outcome = await perform(call, { ...turn, span });
  } catch (error) {
    // A fault of ours must not cost the thread: the model is told, the log has the stack.
    turn.deps.warn(`tool ${call.name} failed: ${stackOf(error)}`);
    outcome = refused(`${call.name} failed because of an internal error: ${messageOf(error)}`);
  }
  if (outcome.is_error) span.fail('tool_error');
  span.event('codex.tool_result', {
    duration_ms: Math.round(performance.now() - started),
    success: !outcome.is_error,
    ...outputSize(outcome.output),
  });
  span.end();
  return outputItem(call, outcome.output);
}

/** Names that a model made up are not told. */
function toolSpan(call: ToolCallItem, turn: TurnContext): Span {
  const name = turn.tools.find(call.name, call.type === 'function_call' ? call.namespace : undefined)?.name;
  const origin = name?.startsWith('mcp__') ? { tool_origin: 'mcp', mcp_server: name.split('__')[1] } : {};
  return turn.span.span(
    `execute_tool ${name ?? 'unknown'}`,
    {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name ?? 'unknown',
      'gen_ai.tool.call.id': call.call_id,
      'gen_ai.tool.type': 'function',
    },
    { scope: { tool_name: name ?? 'unknown', call_id: call.call_id, tool_origin: 'builtin', ...origin } },
  );
}

/** How much came back; what came back is nobody's business but the model's. */
function outputSize(output: ToolOutput): { output_length: number; output_line_count: number } {
  const text = typeof output === 'string' ? output : output.map(part => ('text' in part ? part.text : '')).join('\n');
  return { output_length: text.length, output_line_count: text === '' ? 0 : text.split('\n').length };
}

const ABORTED = 'aborted by user';

type Outcome = { output: ToolOutput; is_error: boolean };

const refused = (output: string): Outcome => ({ output, is_error: true });

function outputItem(call: ToolCallItem, output: ToolOutput): ToolCallOutputItem {
  return call.type === 'custom_tool_call'
    ? { type: 'custom_tool_call_output', id: newItemId('ctco'), call_id: call.call_id, output }
    : { type: 'function_call_output', id: newItemId('fco'), call_id: call.call_id, output };
}

function perform(call: ToolCallItem, turn: TurnContext): Promise<Outcome> {
  const raw = call.type === 'custom_tool_call' ? call.input : call.arguments;
  const tool = turn.tools.find(call.name, call.type === 'function_call' ? call.namespace : undefined);
  if (!tool) {
    const names = turn.tools.names().join(', ');
    const kind = call.type === 'custom_tool_call' ? 'custom tool call' : 'call';
    return Promise.resolve(refused(`unsupported ${kind}: ${call.name}. The tools are: ${names}`));
  }
  return performWith(tool, raw, { ...turn.facts, call_id: call.call_id }, turn);
}

async function performWith(tool: Tool, raw: string, facts: ToolFacts, turn: TurnContext): Promise<Outcome> {
  const parsed = tool.parse(raw);
  if (!parsed.ok) return refused(parsed.message);
  const plan = await tool.plan(parsed.input, facts);
  switch (plan.type) {
    case 'invalid':
      return refused(plan.message);
    case 'redirect': {
      const target = turn.tools.find(plan.tool);
      if (!target) return refused(`${plan.tool} is not available`);
      const started = performance.now();
      const outcome = await performWith(target, plan.raw, { ...facts, cwd: plan.cwd }, turn);
      return typeof outcome.output === 'string'
        ? { ...outcome, output: plan.present(outcome.output, performance.now() - started) }
        : outcome;
    }
    case 'act':
      return act({ tool, raw, input: parsed.input, action: plan.action, item: plan.item, facts, turn });
  }
}

type Act = {
  tool: Tool;
  raw: string;
  input: unknown;
  action: Action;
  item: Item | undefined;
  facts: ToolFacts;
  turn: TurnContext;
};

async function act(call: Act): Promise<Outcome> {
  const { tool, action, item, facts, turn } = call;
  const use: ToolUse = { call_id: facts.call_id, tool: tool.name, raw: call.raw, action };
  const hooks = await turn.beforeTool(use);
  if (hooks.blocked !== null) return refused(hooks.blocked);
  if (turn.signal.aborted) return refused(ABORTED);
  const verdict = await turn.judge(action, facts);
  if (!item) return runPermitted(call, verdict, hooks.contexts);
  turn.emit({ type: 'item.started', item: announced(item, verdict), at_ms: Date.now() });
  const told = completionOf(item.id, turn);
  try {
    return await runPermitted({ ...call, turn: told.turn }, verdict, hooks.contexts);
  } catch (error) {
    if (!told.isComplete()) turn.emit({ type: 'item.completed', item: broken(item, error), at_ms: Date.now() });
    throw error;
  }
}

/** The turn as a call sees it, and whether the call has told the end of its item. */
function completionOf(id: string, turn: TurnContext): { turn: TurnContext; isComplete: () => boolean } {
  let complete = false;
  const emit: EventSink = event => {
    if (event.type === 'item.completed' && event.item.id === id) complete = true;
    turn.emit(event);
  };
  return { turn: { ...turn, emit }, isComplete: () => complete };
}

/** Runs what is permitted. */
async function runPermitted(call: Act, verdict: Verdict, contexts: readonly string[]): Promise<Outcome> {
  const { tool, action, item, facts, turn } = call;
  const use: ToolUse = { call_id: facts.call_id, tool: tool.name, raw: call.raw, action };
  const permission = await permit(call, verdict);
  if (!permission.granted) {
    if (item) turn.emit({ type: 'item.completed', item: declined(item, permission.reason), at_ms: Date.now() });
    return refused(permission.reason);
  }
  if (action.type === 'patch') await turn.diff.before(action);
  const context: ToolContext = {
    ...facts,
    policy: permission.sandboxed ? facts.policy : { type: 'danger-full-access' },
    sandboxed: permission.sandboxed && facts.policy.type !== 'danger-full-access',
    parsed_command: action.type === 'command' ? parseCommand(action.argv) : [],
    env: turn.env(permission.sandboxed),
    runner: turn.runner,
    sessions: turn.sessions,
    signal: turn.signal,
    emit: turn.emit,
    output_budget_bytes: turn.outputBudgetBytes,
    max_poll_ms: turn.maxPollMs,
    span: turn.span,
    ask: question => askForServer(question, facts, turn),
  };
  await turn.beforeRun(action, context.policy);
  const result = await tool.run(call.input, context);
  if (action.type === 'patch') await turn.diff.after(turn.emit);
  const notes = [permission.note ?? [], contexts, await turn.afterTool(use, result.output)].flat();
  return { ...result, output: withNotes(result.output, notes) };
}

function withNotes(output: ToolOutput, notes: readonly string[]): ToolOutput {
  if (notes.length === 0) return output;
  const text = notes.join('\n');
  return typeof output === 'string' ? `${output}\n${text}` : [...output, { type: 'input_text', text }];
}

function announced(item: Item, verdict: Verdict): Item {
  return item.type === 'file_change' ? { ...item, auto_approved: verdict.type === 'run' } : item;
}

function declined(item: Item, reason: string): Item {
  if (item.type === 'mcp_tool_call') return { ...item, status: 'failed', error: { message: reason }, duration_ms: 0 };
  return item.type === 'file_change' || item.type === 'command_execution' ? { ...item, status: 'declined' } : item;
}

/** An item whose tool failed because of a fault of ours. */
function broken(item: Item, error: unknown): Item {
  if (item.type === 'mcp_tool_call') return declined(item, messageOf(error));
  if (item.type === 'file_change') return { ...item, status: 'failed', stderr: messageOf(error) };
  return item.type === 'command_execution' ? { ...item, status: 'failed' } : item;
}

type Permission = { granted: true; sandboxed: boolean; note: string | null } | { granted: false; reason: string };

/** An answer that comes when the turn was ended meanwhile is too late. */
async function permit(call: Act, verdict: Verdict): Promise<Permission> {
  const permission = await decidePermission(call, verdict);
  return permission.granted && call.turn.signal.aborted ? { granted: false, reason: ABORTED } : permission;
}

async function decidePermission(call: Act, verdict: Verdict): Promise<Permission> {
  const { span } = call.turn;
  switch (verdict.type) {
    case 'run':
      span.event('codex.tool_decision', { decision: 'approved', source: 'config' });
      return { granted: true, sandboxed: verdict.sandboxed, note: null };
    case 'refuse':
      span.event('codex.tool_decision', { decision: 'denied', source: 'config' });
      return { granted: false, reason: verdict.reason };
    case 'ask':
      return ask(call, verdict);
  }
}

async function ask({ action, facts, turn }: Act, verdict: Verdict & { type: 'ask' }): Promise<Permission> {
  const request = approvalRequest(action, verdict, facts, turn);
  if (!request) return { granted: true, sandboxed: verdict.sandboxed, note: null };
  return apply(await askPerson(request, turn), verdict, turn);
}

async function apply(
  decision: ApprovalDecision,
  verdict: Verdict & { type: 'ask' },
  turn: TurnContext,
): Promise<Permission> {
  const granted = (note: string | null): Permission => ({ granted: true, sandboxed: verdict.sandboxed, note });
  const added = (note?: string) => (note ? `The person who approved this added: ${note}` : null);
  switch (decision.type) {
    case 'approved':
      return granted(added(decision.note));
    case 'approved_for_thread':
      if (verdict.keys.length > 0) turn.grant(verdict.keys);
      return granted(added(decision.note));
    case 'approved_with_rule':
      return granted(await turn.saveRule(decision.prefix));
    case 'denied':
      return { granted: false, reason: deniedText(decision) };
    case 'abort':
      turn.abort();
      return { granted: false, reason: 'The turn was ended by the person who was asked for approval.' };
  }
}

/** What the model reads after a denial: who said no decides what it should do next. */
function deniedText({ by, reason }: ApprovalDecision & { type: 'denied' }): string {
  switch (by) {
    case 'person':
      return `Not done: approval was denied by the person who was asked${reason ? `: ${reason}` : '.'} Do not try the same thing in another way; continue without it or explain what is missing.`;
    case 'client':
      return `Not done: the client declined the approval request${reason ? ` (${reason})` : ''}; perhaps no person saw it. Continue without it, or say in your final message what needs approval.`;
    case 'policy':
      return `Not done: this needs approval, and nobody can be asked (${reason}). This is a matter of policy, not a person's wish. Continue without it, or say in your final message what needs approval.`;
    case 'timeout':
      return `Not done: nobody answered the approval request in time (${reason}). This is a matter of policy, not a person's wish. Continue without it, or say in your final message what needs approval.`;
  }
}

/** The question for a person; null for an action that needs none. */
function approvalRequest(
  action: Action,
  verdict: Verdict & { type: 'ask' },
  facts: ToolFacts,
  turn: TurnContext,
): ApprovalRequest | null {
  const base = {
    id: newId(),
    thread_id: turn.threadId,
    turn_id: turn.turnId,
    call_id: facts.call_id,
    reason: verdict.reason,
    ...(verdict.keys.length === 0 && { once_only: true as const }),
  };
  switch (action.type) {
    case 'none':
      return null;
    case 'command':
      return {
        ...base,
        type: 'command',
        command: action.argv,
        cwd: action.cwd,
        parsed: parseCommand(action.argv),
        unsandboxed: !verdict.sandboxed,
        ...(verdict.proposed_rule ? { proposed_rule: verdict.proposed_rule } : {}),
      };
    case 'patch':
      return { ...base, type: 'patch', changes: action.changes, cwd: action.cwd, unsandboxed: !verdict.sandboxed };
    case 'mcp_tool':
      return {
        ...base,
        type: 'mcp_tool',
        server: action.server,
        tool: action.tool,
        arguments: action.arguments,
        description: action.description,
      };
  }
}
