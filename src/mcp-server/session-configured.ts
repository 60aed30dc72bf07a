import type { ThreadSettings } from '../protocol/index.js';
import type { CodexMessage } from './codex-message.js';
import { activePermissionProfile, permissionProfile } from './permission-profile.js';

/** The first message about a thread: what it runs with. */
export function sessionConfigured(threadId: string, settings: ThreadSettings): CodexMessage {
  return {
    type: 'session_configured',
    session_id: threadId,
    thread_id: threadId,
    model: settings.model,
    model_provider_id: settings.model_provider,
    approval_policy: settings.approval_policy,
    approvals_reviewer: 'user',
    permission_profile: permissionProfile(settings.sandbox_policy, settings.cwd),
    ...activePermissionProfile(settings.sandbox_policy),
    cwd: settings.cwd,
    ...(settings.reasoning_effort !== null && { reasoning_effort: settings.reasoning_effort }),
    rollout_path: settings.rollout_path,
  };
}
