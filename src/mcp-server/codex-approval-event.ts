import type { ApprovalRequest } from '../protocol/index.js';
import type { CodexMessage } from './codex-message.js';

/** The message that announces a question; none for kinds that older clients have no message for. */
export function approvalRequested(request: ApprovalRequest): CodexMessage[] {
  const base = { call_id: request.call_id, turn_id: request.turn_id };
  const reason = request.reason === null ? {} : { reason: request.reason };
  switch (request.type) {
    case 'command': {
      const rule = request.proposed_rule;
      const amendment = rule && { approved_execpolicy_amendment: { proposed_execpolicy_amendment: rule } };
      return [
        {
          type: 'exec_approval_request',
          ...base,
          approval_id: request.id,
          environmentId: 'local',
          started_at_ms: Date.now(),
          command: request.command,
          cwd: request.cwd,
          ...reason,
          ...(rule && { proposed_execpolicy_amendment: rule }),
          available_decisions: [
            'approved',
            ...(request.once_only ? [] : ['approved_for_session']),
            ...(amendment ? [amendment] : []),
            'denied',
            'abort',
          ],
          parsed_cmd: request.parsed,
        },
      ];
    }
    case 'patch':
      return [
        {
          type: 'apply_patch_approval_request',
          ...base,
          started_at_ms: Date.now(),
          changes: request.changes,
          ...reason,
          ...(request.grant_root !== undefined && { grant_root: request.grant_root }),
        },
      ];
    // The older protocol has no event for these; the elicitation itself shows them.
    case 'mcp_tool':
    case 'elicitation':
      return [];
  }
}
