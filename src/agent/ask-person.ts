/** Puts a question to the person behind the caller, with the events and the span that go with it. */
import type { ApprovalDecision, ApprovalRequest } from '../protocol/index.js';
import type { ServerQuestion, ToolFacts } from '../tools/index.js';
import { newId } from './ids.js';
import type { TurnContext } from './turn-context.js';

export async function askPerson(request: ApprovalRequest, turn: TurnContext): Promise<ApprovalDecision> {
  const span = turn.span.span('approval.wait', { 'approval.kind': request.type });
  turn.emit({ type: 'approval.requested', request });
  const decision = await turn.approver(request, turn.signal);
  span.setAttributes({ 'approval.decision': decision.type });
  span.end();
  turn.deps.tracer.event('codex.tool_decision', { call_id: request.call_id, decision: decision.type });
  turn.emit({ type: 'approval.decided', request_id: request.id, decision: decisionKind(decision) });
  return decision;
}

/** A question of an MCP server during a call. The approval policy may let none through. */
export async function askForServer(
  question: ServerQuestion,
  facts: ToolFacts,
  turn: TurnContext,
): Promise<ApprovalDecision> {
  // The same category of questions as a tool of a server that always asks.
  const verdict = await turn.judge(
    {
      type: 'mcp_tool',
      server: question.server,
      tool: 'elicitation/create',
      arguments: {},
      description: null,
      approval_mode: 'prompt',
      read_only: false,
      destructive: false,
      open_world: false,
    },
    facts,
  );
  if (verdict.type === 'refuse') return { type: 'denied', by: 'policy', reason: verdict.reason };
  const request: ApprovalRequest = {
    id: newId(),
    thread_id: turn.threadId,
    turn_id: turn.turnId,
    call_id: facts.call_id,
    reason: null,
    type: 'elicitation',
    ...question,
  };
  const decision = await askPerson(request, turn);
  if (decision.type === 'abort') turn.abort();
  return decision;
}

function decisionKind(decision: ApprovalDecision): 'approved' | 'denied' | 'abort' {
  return decision.type === 'denied' || decision.type === 'abort' ? decision.type : 'approved';
}
