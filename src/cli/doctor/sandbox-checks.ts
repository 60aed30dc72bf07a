/** Whether commands can be run as the policies promise: the real sandbox, with a real program in it. */
import type { SandboxPolicy } from '../../protocol/index.js';
import { describePolicy, type Sandbox } from '../../sandbox/index.js';
import { type Check, ok, problem } from './check.js';

const READ_ONLY: SandboxPolicy = { type: 'read-only' };
const WORKSPACE: SandboxPolicy = {
  type: 'workspace-write',
  writable_roots: [],
  network_access: false,
  exclude_tmpdir_env_var: false,
  exclude_slash_tmp: false,
  allow_unix_sockets: false,
};

/** The policy in force, which turns can't do without, and the two that callers ask for. */
export async function checkSandbox(sandbox: Sandbox, policy: SandboxPolicy, cwd: string): Promise<Check[]> {
  const others = [READ_ONLY, WORKSPACE].filter(other => other.type !== policy.type);
  return [
    await checkPolicy(sandbox, policy, cwd, true),
    ...(await Promise.all(others.map(other => checkPolicy(sandbox, other, cwd, false)))),
  ];
}

async function checkPolicy(sandbox: Sandbox, policy: SandboxPolicy, cwd: string, inForce: boolean): Promise<Check> {
  const id = inForce ? 'sandbox' : `sandbox ${policy.type}`;
  const which = inForce ? 'in force: ' : '';
  if (policy.type === 'danger-full-access') return ok(id, `${which}danger-full-access, commands run without a sandbox`);
  const check = await sandbox.check(policy, cwd);
  if (check.ok) return ok(id, `${which}${describePolicy(policy)}`);
  const { detail, fix } = parts(check.message);
  return problem(id, inForce ? 'fail' : 'warn', detail, fix);
}

/** Refusals say in their own text what to do. */
function parts(message: string): { detail: string; fix: string } {
  const [detail = message, fix] = message.split(/\s+Fix: ([\s\S]+)$/);
  const general = 'See docs/sandbox.md, or choose --sandbox danger-full-access inside a container you trust.';
  return { detail, fix: fix?.trim() ?? general };
}
