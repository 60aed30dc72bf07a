/** Recognising that it was the sandbox that made a command fail, and what to say about it. */
import type { SandboxPolicy } from '../protocol/index.js';
import { mayAsk } from './may-ask.js';
import { type Category, type PolicyFacts, sandboxHint } from './reasons.js';

const BLOCKED =
  /operation not permitted|permission denied|read-only file system|seccomp|sandbox|landlock|failed to write file/i;

/** 128 + SIGSYS: a system call that the filter forbids. */
const SIGSYS_EXIT = 159;

/** A guess from the outcome of a sandboxed command: it failed and its output reads like a block. */
export function looksLikeSandboxDenial(exitCode: number, output: string): boolean {
  return exitCode !== 0 && (exitCode === SIGSYS_EXIT || BLOCKED.test(output));
}

/** For the model, to be shown once: what the sandbox does not allow, and how to go on. Null without a sandbox. */
export function explainSandboxDenial(facts: PolicyFacts): string | null {
  if (facts.sandbox.type === 'danger-full-access') return null;
  const category: Category = 'sandbox_approval';
  const next =
    facts.policy !== 'untrusted' && mayAsk(facts.policy, category)
      ? 'If the command is needed as it is, call it again with sandbox_permissions = "require_escalated" and a justification.'
      : `No command may ask to leave it under this approval policy. ${sandboxHint(facts)}`;
  return `The sandbox may be the cause: ${limitsOf(facts.sandbox)}. ${next}`;
}

function limitsOf(sandbox: Exclude<SandboxPolicy, { type: 'danger-full-access' }>): string {
  switch (sandbox.type) {
    case 'read-only':
      return 'it is read-only, so nothing can be written, and there is no network';
    case 'workspace-write':
      return (
        'it is workspace-write, so only the workspace and the temporary folders can be written, not .git and the like' +
        (sandbox.network_access ? '' : ', and there is no network')
      );
    case 'profile': {
      const network = {
        off: ', and there is no network',
        on: '',
        domains: ', and only listed hosts can be reached',
      }[sandbox.network.type];
      return `it is the permission profile "${sandbox.name}", so only its paths can be read and written${network}`;
    }
  }
}
