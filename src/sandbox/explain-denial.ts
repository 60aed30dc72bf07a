/** Recognises that a sandbox was the reason for a failure, and says what would allow it. */
import type { CommandResult, SandboxPolicy } from '../protocol/index.js';
import type { PassageDenial } from './domain-proxy/gate.js';
import { describePolicy, networkOf } from './policy-paths.js';

export type Denial = {
  readonly policy: SandboxPolicy;
  readonly result: CommandResult;
  /** What the command printed, stdout and stderr; its last part is enough. */
  readonly output: string;
};

/** Begins the line that a refused connection adds to the output of a command. */
const NETWORK_NOTE = '[sandbox] Network access to ';

export function networkNote({ host, reason, canBeAllowed }: PassageDenial, profile: string): string {
  const advice = canBeAllowed
    ? ` The caller can allow it with permissions.${profile}.network.domains."${host}" = "allow".`
    : '';
  return `${NETWORK_NOTE}${host} was refused: ${reason}.${advice}`;
}

/** The words by which a failure is taken for one of the sandbox (approvals: "detection of a denial"). */
const WORDS =
  /operation not permitted|permission denied|read-only file system|seccomp|sandbox|landlock|failed to write file|EROFS|EACCES|EPERM/i;

const NETWORK_WORDS =
  /could ?n.t resolve|could not resolve|temporary failure in name resolution|name or service not known|network is unreachable|no route to host|unable to resolve|failed to lookup address|dns error|getaddrinfo|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ECONNREFUSED|connection refused|failed to connect|couldn't connect/i;

const SOCKET_WORDS = /docker daemon|\.sock\b|unix socket|AF_UNIX|ssh-agent|authentication agent|dbus|d-bus|PF_LOCAL/i;

/** SIGSYS: the filter ended the program. */
const SIGSYS_EXIT = 159;

/**
 * One or two sentences for the model, or null when the sandbox was not the reason as far as can be told. Never for a
 * success, and for the exit codes 2, 126 and 127 only with the words.
 */
export function explainDenial({ policy, result, output }: Denial): string | null {
  if (policy.type === 'danger-full-access' || result.type !== 'exited' || result.exit_code === 0) return null;
  if (output.includes(NETWORK_NOTE)) return null;
  const isNetwork = networkOf(policy) !== 'on' && NETWORK_WORDS.test(output);
  const isOther = WORDS.test(output) || result.exit_code === SIGSYS_EXIT;
  if (!isNetwork && !isOther) return null;
  const advice = isNetwork && !isOther ? networkAdvice(policy) : otherAdvice(policy, output, isNetwork);
  return `This may come from the sandbox, ${describePolicy(policy)}. ${advice}`;
}

function otherAdvice(policy: Confined, output: string, isNetwork: boolean): string {
  const parts = [writeAdvice(policy)];
  if (isNetwork) parts.push(networkAdvice(policy));
  if (SOCKET_WORDS.test(output)) parts.push(socketAdvice(policy));
  return parts.join(' ');
}

type Confined = Exclude<SandboxPolicy, { type: 'danger-full-access' }>;

function writeAdvice(policy: Confined): string {
  switch (policy.type) {
    case 'read-only':
      return 'Nothing can be written; the caller can allow writes in the workspace with sandbox "workspace-write".';
    case 'workspace-write':
      return 'Writes are limited to the workspace and temporary folders, without .git, .codex, .openinterpreter and .agents; the caller can open a folder with sandbox_workspace_write.writable_roots, or everything with sandbox "danger-full-access".';
    case 'profile':
      return `The caller can change permissions.${policy.name}.filesystem, or choose another profile.`;
  }
}

function networkAdvice(policy: Confined): string {
  switch (policy.type) {
    case 'read-only':
      return 'The network is disabled; the caller can allow it with sandbox "workspace-write" and sandbox_workspace_write.network_access = true.';
    case 'workspace-write':
      return 'The network is disabled, apart from servers that the command starts itself; the caller can allow it with sandbox_workspace_write.network_access = true.';
    case 'profile':
      return policy.network.type === 'domains'
        ? `The network is restricted to ${policy.network.allow.join(', ') || 'no domain'}, for programs that use the proxy of HTTPS_PROXY; the caller can add a host to permissions.${policy.name}.network.domains.`
        : `The network is disabled; the caller can allow it with permissions.${policy.name}.network.enabled = true.`;
  }
}

function socketAdvice(policy: Confined): string {
  const setting =
    policy.type === 'profile'
      ? `permissions.${policy.name}.network.dangerously_allow_all_unix_sockets = true`
      : 'sandbox_workspace_write.allow_unix_sockets = true';
  return `Unix sockets are closed; the caller can open them with ${setting}.`;
}
