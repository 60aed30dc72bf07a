/** Why a sandbox can't be made here, and what to do: the texts people see when nothing was run. */
import { readFileSync } from 'node:fs';
import type { SandboxPolicy } from '../protocol/index.js';

export type Problem = { readonly cause: string; readonly advice: string };

/** The whole message of a refused command. */
export function refusal(policy: SandboxPolicy, { cause, advice }: Problem): string {
  return `Cannot enforce ${nameOf(policy)}: ${cause.replace(/\.$/, '')}. Nothing was run. Fix: ${advice.replace(/\.$/, '')}. Or choose --sandbox danger-full-access inside a container or VM you trust.`;
}

function nameOf(policy: SandboxPolicy): string {
  return policy.type === 'profile' ? `permission profile ${policy.name}` : `sandbox mode ${policy.type}`;
}

export const BWRAP_MISSING: Problem = {
  cause: 'bubblewrap (bwrap) was not found',
  advice: 'install it: apt-get install bubblewrap / dnf install bubblewrap / apk add bubblewrap',
};

/** `rejected`: files called bwrap on the PATH that others could have put there. */
export function untrustedProgram(name: string, rejected: readonly string[]): Problem {
  return {
    cause: `${rejected.join(', ')} can't be trusted as ${name}: it lies in a writable folder of the sandbox or may be changed by others`,
    advice: `install ${name} from the system's packages, or remove that folder from PATH`,
  };
}

export const SOCAT_MISSING: Problem = {
  cause: 'the list of network domains needs socat, which was not found',
  advice: 'install it: apt-get install socat / dnf install socat / apk add socat',
};

/** Null on platforms where the sandbox is supported. */
export function platformProblem(platform: NodeJS.Platform, architecture: string): Problem | null {
  if (platform === 'darwin') return null;
  if (platform !== 'linux') {
    return {
      cause: `there is no sandbox for ${platform === 'win32' ? 'Windows' : platform}`,
      advice:
        platform === 'win32'
          ? 'run it inside WSL2 (wsl --install), where the Linux sandbox works'
          : 'run it on Linux or macOS',
    };
  }
  if (isWsl1(kernelVersion())) {
    return {
      cause: 'WSL1 has no namespaces',
      advice: 'use WSL2: wsl --set-version <distribution> 2',
    };
  }
  if (architecture !== 'x64' && architecture !== 'arm64') {
    return {
      cause: `there is no system-call filter for the architecture ${architecture}`,
      advice: 'run it on x86-64 or arm64',
    };
  }
  return null;
}

/** By the text of /proc/version: only the kernel of WSL2 calls itself `microsoft-standard`. */
export function isWsl1(version: string): boolean {
  return /microsoft/i.test(version) && !/microsoft-standard/i.test(version);
}

/** By what bubblewrap wrote when it could not set up the sandbox. */
export function explainBwrapFailure(stderr: string): Problem {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  for (const { pattern, problem } of BWRAP_FAILURES) {
    if (pattern.test(stderr)) return { cause: `${problem.cause} (${line})`, advice: problem.advice };
  }
  return {
    cause: line === '' ? 'bubblewrap ended without a word' : line,
    advice: 'run `interpreter doctor`, which tries the sandbox and shows what is missing',
  };
}

const APPARMOR: Problem = {
  cause: 'the system keeps programs without a profile from using user namespaces (AppArmor)',
  advice:
    'add a profile for bwrap with `userns,` in /etc/apparmor.d/bwrap and reload it, or set sysctl kernel.apparmor_restrict_unprivileged_userns=0',
};

const BWRAP_FAILURES: readonly { readonly pattern: RegExp; readonly problem: Problem }[] = [
  { pattern: /setting up uid map: Permission denied|loopback: Failed RTM_NEWADDR/, problem: APPARMOR },
  {
    pattern: /No permissions to create (a )?new namespace|Creating new namespace failed: Operation not permitted/,
    problem: {
      cause: 'new namespaces are not permitted here',
      advice:
        'in Docker add --security-opt seccomp=unconfined --security-opt apparmor=unconfined; elsewhere set sysctl kernel.unprivileged_userns_clone=1',
    },
  },
  {
    pattern: /max_\w*_namespaces exceeded|ENOSPC|nesting depth/,
    problem: {
      cause: 'the limit of namespaces is reached',
      advice: 'raise it: sysctl user.max_user_namespaces=15000',
    },
  },
  {
    pattern: /Can't mount proc/i,
    problem: {
      cause: 'a private /proc is not permitted in this container',
      advice:
        'start the container with --security-opt systempaths=unconfined (Docker) or with its own unmasked /proc (Kubernetes: procMount: Unmasked)',
    },
  },
  {
    pattern: /Unknown option|unknown option/,
    problem: {
      cause: 'this bubblewrap is too old',
      advice: 'install bubblewrap 0.5 or newer',
    },
  },
  {
    pattern: /No space left on device/,
    problem: {
      cause: 'the disk is full',
      advice: 'make room on the disks of the workspace and of the temporary folders',
    },
  },
];

function kernelVersion(): string {
  try {
    return readFileSync('/proc/version', 'utf8');
  } catch {
    // No /proc: bubblewrap will say so.
    return '';
  }
}
