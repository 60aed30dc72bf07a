import type { ApprovalDecision, ApprovalRequest } from '../protocol/index.js';
import { codexParams, questionFor } from './approval-question.js';
import { readReply } from './approval-reply.js';
import type { RequestId } from './message.js';
import type { LegacyClient } from './tool-request.js';

export type ElicitedApproverOptions = {
  readonly client: LegacyClient;
  /** The call on whose behalf is asked. */
  readonly callId: RequestId;
  readonly timeoutMs: number;
};

/** Said to the model when the client has no way to show a question. */
export const CLIENT_CANNOT_ASK = 'the calling client did not declare that it can show questions to a person';

/** Asks by `elicitation/create`, while the call waits. Never hangs: no way to ask, an error and silence are a no. */
export async function askByElicitation(
  { client, callId, timeoutMs }: ElicitedApproverOptions,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  if (!client.canAsk) return { type: 'denied', by: 'policy', reason: CLIENT_CANNOT_ASK };
  const askedAt = performance.now();
  const params = { ...questionFor(request), ...codexParams(request, callId) };
  const outcome = await client.elicit(params, { signal, timeoutMs });
  switch (outcome.type) {
    case 'reply':
      return readReply(outcome.reply, { request, elapsedMs: performance.now() - askedAt });
    case 'timed_out':
      return { type: 'denied', by: 'timeout', reason: `no answer within ${Math.round(timeoutMs / 1000)} s` };
    case 'failed':
      return { type: 'denied', by: 'policy', reason: `the calling client could not ask: ${outcome.message}` };
  }
}
