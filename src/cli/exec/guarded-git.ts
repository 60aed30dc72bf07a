/** Git for reviews: it runs nothing that the repository configures, and all of it in a sandbox that can't write. */
import type { SandboxPolicy } from '../../protocol/index.js';
import { runToEnd, type Sandbox } from '../../sandbox/index.js';
import {
  type Env,
  filtersOff,
  GIT_RUNS_NOTHING,
  type GitSettings,
  gitEnvironment,
  LIST_FILTERS,
} from '../../util/index.js';

export type GitOptions = {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  /** The environment of this process. */
  readonly env: Env;
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

/** Looks at the repository's filters first. Throws GitError when there is no repository or no git. */
export async function openGit(options: GitOptions): Promise<Git> {
  const look = (args: readonly string[]) => runGit(options, GIT_RUNS_NOTHING, args);
  await look(['rev-parse', '--git-dir']);
  const settings = [...GIT_RUNS_NOTHING, ...filtersOff(await listFilters(look))];
  return args => runGit(options, settings, args);
}

async function listFilters(look: Git): Promise<string> {
  try {
    return await look(LIST_FILTERS);
  } catch (error) {
    if (error instanceof GitError && error.exitCode === 1) return '';
    throw error;
  }
}

async function runGit(options: GitOptions, settings: GitSettings, args: readonly string[]): Promise<string> {
  const env = gitEnvironment(options.env, settings);
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
