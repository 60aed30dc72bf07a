/**
 * What a client's reply to an approval means. Both forms are read: the standard `{action, content}` and the older
 * `{decision}`. Anything unclear is a no.
 */
import type { ApprovalDecision, ApprovalRequest } from '../protocol/index.js';
import { isObject } from '../util/index.js';
import type { JsonObject } from './message.js';

/** A no that comes faster than this was hardly given by a person: many hosts decline by themselves. */
const PERSON_MIN_MS = 1_000;

export type ReplyContext = {
  readonly request: ApprovalRequest;
  /** From the question to the reply, milliseconds. */
  readonly elapsedMs: number;
};

export function readReply(reply: unknown, context: ReplyContext): ApprovalDecision {
  if (!isObject(reply)) return unclear();
  const content = reply.content ?? {};
  if (!isObject(content)) return unclear();
  if (reply.action === 'decline') {
    // Of what another server asked the answer is passed on as it was given, however fast it came.
    if (context.request.type === 'elicitation') return { type: 'denied', by: 'person', reason: '' };
    return declined(context, noteIn(content));
  }
  if (reply.action === 'cancel') return { type: 'denied', by: 'client', reason: 'the question was dismissed' };
  if (reply.action !== undefined && reply.action !== 'accept') return unclear();
  if (context.request.type === 'elicitation') {
    return reply.action === 'accept' ? { type: 'approved', content } : unclear();
  }
  const decision = reply.decision ?? content.decision;
  if (decision !== undefined && decision !== null) return readDecision(decision, noteIn(content), context);
  return reply.action === 'accept' ? approved(noteIn(content)) : unclear();
}

function readDecision(decision: unknown, note: string, context: ReplyContext): ApprovalDecision {
  if (isObject(decision)) return readDecisionObject(decision, context);
  switch (decision) {
    case 'approved':
      return approved(note);
    case 'approved_for_session':
      return { type: 'approved_for_thread', ...(note !== '' && { note }) };
    case 'approved_execpolicy_amendment':
      return withRule(context.request.type === 'command' ? context.request.proposed_rule : undefined, context);
    case 'approved_mcp_policy_amendment':
      // Nothing is saved for tools of MCP servers; the widest grant that exists is the thread's.
      return context.request.type === 'mcp_tool' ? { type: 'approved_for_thread' } : unclear();
    case 'denied':
      return declined(context, note);
    case 'timed_out':
      return { type: 'denied', by: 'timeout', reason: 'the client said that it waited long enough' };
    case 'abort':
      return { type: 'abort' };
    default:
      return unclear();
  }
}

function readDecisionObject(decision: JsonObject, context: ReplyContext): ApprovalDecision {
  const [kind, ...others] = Object.keys(decision);
  if (others.length > 0) return unclear();
  if (kind === 'denied') {
    const detail = decision.denied;
    return declined(context, isObject(detail) && typeof detail.rejection === 'string' ? detail.rejection : '');
  }
  if (kind === 'approved_execpolicy_amendment') {
    const detail = decision.approved_execpolicy_amendment;
    return withRule(isObject(detail) ? detail.proposed_execpolicy_amendment : undefined, context);
  }
  return unclear();
}

/** `prefix` may be another one than was proposed: the person may have shortened it. */
function withRule(prefix: unknown, { request }: ReplyContext): ApprovalDecision {
  const isPrefix =
    Array.isArray(prefix) && prefix.length > 0 && prefix.every(word => typeof word === 'string' && word !== '');
  return isPrefix && request.type === 'command' ? { type: 'approved_with_rule', prefix } : unclear();
}

function approved(note: string): ApprovalDecision {
  return { type: 'approved', ...(note !== '' && { note }) };
}

function declined({ elapsedMs }: ReplyContext, note: string): ApprovalDecision {
  if (elapsedMs >= PERSON_MIN_MS) return { type: 'denied', by: 'person', reason: note };
  return {
    type: 'denied',
    by: 'client',
    reason: note === '' ? `${Math.round(elapsedMs)} ms after it was asked` : note,
  };
}

function unclear(): ApprovalDecision {
  return { type: 'denied', by: 'client', reason: 'its answer could not be understood' };
}

function noteIn(content: JsonObject): string {
  return typeof content.note === 'string' ? content.note.trim() : '';
}
