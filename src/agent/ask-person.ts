/** Puts a question to the person behind the caller, with the events and the span that go with it. */
import type { ApprovalDecision, ApprovalRequest } from '../protocol/index.js';
import type { ServerQuestion, ToolFacts } from '../tools/index.js';
import { newId } from './ids.js';
import type { TurnContext } from './turn-context.js';

export async function askPerson(request: ApprovalRequest, turn: TurnContext): Promise<ApprovalDecision> {
  const span = turn.span.span('approval.wait', { 'codex.approval.kind': request.type });
  const started = performance.now();
  turn.emit({ type: 'approval.requested', request });
  const decision = await turn.approver(request, turn.signal);
  const told = { ...toldDecision(decision), approval_kind: request.type };
  span.setAttributes({ 'codex.approval.decision': told.decision, 'codex.approval.source': told.source });
  span.end();
  turn.span.event('codex.tool_decision', { ...told, wait_ms: Math.round(performance.now() - started) });
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

/** In the words of the reference's event; `source` says who decided. */
function toldDecision(decision: ApprovalDecision): { decision: string; source: string } {
  switch (decision.type) {
    case 'approved':
      return { decision: 'approved', source: 'user' };
    case 'approved_for_thread':
      return { decision: 'approved_for_session', source: 'user' };
    case 'approved_with_rule':
      return { decision: 'approved_with_amendment', source: 'user' };
    case 'denied':
      return {
        decision: decision.by === 'timeout' ? 'timed_out' : 'denied',
        source: decision.by === 'person' ? 'user' : decision.by,
      };
    case 'abort':
      return { decision: 'abort', source: 'user' };
  }
}

function decisionKind(decision: ApprovalDecision): 'approved' | 'denied' | 'abort' {
  return decision.type === 'denied' || decision.type === 'abort' ? decision.type : 'approved';
}
