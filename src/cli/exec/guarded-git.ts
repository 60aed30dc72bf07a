/**
 * Git in a repository that nobody vouches for: it may configure programs of its own, and none of them is run. No hooks,
 * no file monitor, no external diff, no text conversion, no filters, no pager, no signatures, no network; and all of
 * that in a sandbox that can't write.
 */
import type { SandboxPolicy } from '../../protocol/index.js';
import { runToEnd, type Sandbox } from '../../sandbox/index.js';

export type GitOptions = {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  /** The environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True where the person asked for no sandbox: git then also runs where none can be made. */
  readonly unsandboxed: boolean;
  readonly signal: AbortSignal;
};

/** Runs git and resolves to what it printed. Throws GitError. */
export type Git = (args: readonly string[]) => Promise<string>;

export class GitError extends Error {
  /** Null when git did not run to its end. */
  readonly exitCode: number | null;
  constructor(message: string, exitCode: number | null) {
    super(message);
    this.name = 'GitError';
    this.exitCode = exitCode;
  }
}

const TIMEOUT_MS = 60_000;
/** What is shown to the model is a part of this. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Switches off what a repository can make git run; filters are added by name. */
const OFF: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['core.askPass', ''],
  ['core.alternateRefsCommand', ''],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gpg.program', 'false'],
  ['log.showSignature', 'false'],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['uploadpack.packObjectsHook', ''],
];

/** Looks at the repository's filters first. Throws GitError when there is no repository or no git. */
export async function openGit(options: GitOptions): Promise<Git> {
  const look = (args: readonly string[]) => runGit(options, OFF, args);
  await look(['rev-parse', '--git-dir']);
  const off = [...OFF, ...(await filtersOff(look))];
  return args => runGit(options, off, args);
}

/** Reading the configuration runs nothing. */
async function filtersOff(look: Git): Promise<[string, string][]> {
  let names: string;
  try {
    names = await look([
      'config',
      '-z',
      '--name-only',
      '--get-regexp',
      '^filter\\..*\\.(clean|smudge|process|required)$',
    ]);
  } catch (error) {
    // Exit code 1: there is no such key.
    if (error instanceof GitError && error.exitCode === 1) return [];
    throw error;
  }
  const keys = names.split('\0').filter(name => name !== '');
  return keys.map(key => [key, key.endsWith('.required') ? 'false' : '']);
}

async function runGit(
  options: GitOptions,
  config: readonly (readonly [string, string])[],
  args: readonly string[],
): Promise<string> {
  const env = environment(options.env, config);
  const run = (policy: SandboxPolicy) =>
    runToEnd(
      options.sandbox,
      { argv: ['git', '--no-pager', ...args], cwd: options.cwd, workspace: options.cwd, env, policy },
      { timeoutMs: TIMEOUT_MS, signal: options.signal, maxBytes: MAX_BYTES },
    );
  let ran = await run({ type: 'read-only' });
  if (options.unsandboxed && ran.result.type === 'not_started' && ran.result.reason === 'sandbox') {
    ran = await run({ type: 'danger-full-access' });
  }
  const { result, stdout, stderr } = ran;
  switch (result.type) {
    case 'exited': {
      if (result.exit_code === 0) return stdout.toString('utf8');
      const why = stderr.toString('utf8').trim().slice(0, 1000);
      throw new GitError(why || `git ${args[0] ?? ''} exited with code ${result.exit_code}`, result.exit_code);
    }
    case 'timed_out':
      throw new GitError(`git ${args[0] ?? ''} did not end within ${TIMEOUT_MS / 1000} s`, null);
    case 'aborted':
      throw new GitError('interrupted', null);
    case 'not_started':
      throw new GitError(result.message, null);
  }
}

function environment(env: GitOptions['env'], config: readonly (readonly [string, string])[]): Record<string, string> {
  // No GIT_* variable of the caller: GIT_EXTERNAL_DIFF and the like name programs too.
  const own = Object.entries(env).filter(([name]) => ['PATH', 'HOME', 'XDG_CONFIG_HOME'].includes(name));
  const values: [string, string][] = own.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return {
    ...Object.fromEntries(values),
    LC_ALL: 'C.UTF-8',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
}
