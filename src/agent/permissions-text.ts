/** What the model is told about the sandbox and about asking. Own words; sections as in the reference. */
import type { ApprovalPolicy, SandboxPolicy } from '../protocol/index.js';

/** The `<permissions instructions>` block. `writableRoots` are absolute; empty when nothing may be written. */
export function permissionsText(
  sandbox: SandboxPolicy,
  approval: ApprovalPolicy,
  writableRoots: readonly string[],
): string {
  const parts = [sandboxText(sandbox), approvalText(approval, sandbox)];
  if (sandbox.type !== 'danger-full-access' && writableRoots.length > 0) {
    parts.push(
      `Writable: ${writableRoots.join(', ')}. Inside them .git, .codex, .openinterpreter and .agents stay read-only.`,
    );
  }
  return `<permissions instructions>\n${parts.join('\n\n')}\n</permissions instructions>`;
}

function sandboxText(sandbox: SandboxPolicy): string {
  switch (sandbox.type) {
    case 'read-only':
      return 'sandbox_mode is read-only: commands can read files but write none. Network access is restricted: it is switched off for commands.';
    case 'workspace-write':
      return `sandbox_mode is workspace-write: commands and patches can read all files and write in the writable folders only. Network access is ${
        sandbox.network_access
          ? 'enabled.'
          : 'restricted: it is switched off for commands, except to servers they start themselves on localhost.'
      }`;
    case 'danger-full-access':
      return 'sandbox_mode is danger-full-access: commands run without a sandbox and can reach every file and the network. Network access is enabled. Be careful with what cannot be undone.';
    case 'profile':
      return `Commands run under the permission profile "${sandbox.name}". ${profileNetwork(sandbox)}${profileDenied(sandbox)}`;
  }
}

function profileNetwork(sandbox: SandboxPolicy & { type: 'profile' }): string {
  switch (sandbox.network.type) {
    case 'on':
      return 'Network access is enabled.';
    case 'off':
      return 'Network access is restricted: it is switched off for commands.';
    case 'domains':
      return `Network access is restricted to these domains: ${sandbox.network.allow.join(', ') || 'none'}.`;
  }
}

function profileDenied(sandbox: SandboxPolicy & { type: 'profile' }): string {
  const denied = sandbox.filesystem
    .filter(entry => entry.access === 'deny')
    .map(({ target }) => ('path' in target ? target.path : `${target.base}/${target.glob}`));
  return denied.length === 0 ? '' : ` These paths cannot be read: ${denied.join(', ')}.`;
}

const HOW_TO_ASK = `To run one command outside the sandbox, call it with sandbox_permissions "require_escalated" and a justification of one sentence for the person who decides; prefix_rule may propose the first words of the command, so that similar commands need no further question. Ask when a command that matters failed because of the sandbox, needs the network, or must write elsewhere. Do not ask for anything destructive that was not requested, and do not propose a prefix as broad as a shell, an interpreter, env, sudo, git or rm. In a compound command every part is judged by itself.`;

function approvalText(approval: ApprovalPolicy, sandbox: SandboxPolicy): string {
  if (approval === 'never') {
    return 'approval_policy is never: nobody can be asked. Do not pass sandbox_permissions; such a call is rejected. Work inside the limits, and report what could not be done.';
  }
  if (approval === 'untrusted') {
    return 'approval_policy is untrusted: commands are shown to a person before they run, except well-known ones that only read (ls, cat, rg, git status and the like). Patches are shown too. Asking to run outside the sandbox is rejected.';
  }
  if (sandbox.type === 'danger-full-access') {
    return 'approval_policy is on-request: commands run at once; a person is asked only before forced deletions.';
  }
  if (approval === 'on-request') return `approval_policy is on-request. ${HOW_TO_ASK}`;
  const refused = Object.entries(approval.granular)
    .filter(([, allowed]) => !allowed)
    .map(([category]) => category);
  const limits =
    refused.length === 0 ? '' : ` Questions of these kinds are rejected without being asked: ${refused.join(', ')}.`;
  return `approval_policy is granular.${limits} ${approval.granular.sandbox_approval ? HOW_TO_ASK : 'Do not pass sandbox_permissions.'}`;
}
