/** git, as a tool that runs nothing that a hostile repository could have us run. */
import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { CommandRunner } from '../../protocol/index.js';
import { runToEnd } from '../../sandbox/index.js';
import {
  type Env,
  filtersOff,
  GIT_RUNS_NOTHING,
  type GitSettings,
  gitEnvironment,
  LIST_FILTERS,
} from '../../util/index.js';

/** A path relative to the work tree as git has it: bytes, one a character (latin1), since names need not be UTF-8. */
export type GitPath = string;

export const pathBytes = (name: GitPath): Buffer => Buffer.from(name, 'latin1');
export const shownPath = (name: GitPath): string => pathBytes(name).toString('utf8');

/** What git says is for the person who looks why something was not done. */
export class GitError extends Error {
  override readonly name = 'GitError';
  /** `message` without its last dot: it becomes part of a sentence. */
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\.$/, ''), options);
  }
}

export type GitSurroundings = {
  readonly runner: CommandRunner;
  /** Environment of the process; only what git needs is taken from it. */
  readonly env: Env;
  /** Fires when it all takes too long, or the turn is interrupted. */
  readonly signal: AbortSignal;
};

export type GitCall = {
  readonly input?: Buffer;
  /** Used instead of the repository's index. */
  readonly index?: string;
  /** Exit codes that are no failure, besides 0. */
  readonly allow?: readonly number[];
};

const CALL_MS = 30_000;
const MAX_OUTPUT = 256 * 1024 * 1024;

/** Names of files as they are, and no repository that a file of another one pretends to be. */
const OWN_SETTINGS: GitSettings = [
  ['core.quotePath', 'false'],
  ['safe.bareRepository', 'explicit'],
];

export class GitRepository {
  /** Absolute path of the work tree. */
  readonly top: string;
  /** Absolute path of the repository's index; it need not exist. */
  readonly index: string;
  readonly #around: GitSurroundings;
  readonly #settings: GitSettings;

  private constructor(place: { top: string; index: string }, around: GitSurroundings, settings: GitSettings) {
    this.top = place.top;
    this.index = place.index;
    this.#around = around;
    this.#settings = settings;
  }

  /** The repository whose work tree `cwd` lies in; null when there is none. Throws GitError. */
  static async open(cwd: string, around: GitSurroundings): Promise<GitRepository | null> {
    const settings = [...GIT_RUNS_NOTHING, ...OWN_SETTINGS];
    const command = { cwd, around, settings };
    const asked = ['rev-parse', '--is-inside-work-tree', '--show-toplevel', '--git-path', 'index'];
    const result = await call(command, asked, { allow: [128] });
    const [inside, top, index] = result.stdout.toString('utf8').split('\n');
    if (result.code !== 0 && !/not a git repository/i.test(result.stderr)) throw new GitError(result.stderr.trim());
    if (inside !== 'true' || !top || !index) return null;
    // A repository may say that its work tree is elsewhere, such as the whole machine.
    if (!(await exists(path.join(top, '.git')))) throw new GitError(`the work tree ${top} has no .git of its own`);
    const { stdout } = await call(command, LIST_FILTERS, { allow: [1] });
    const place = { top, index: path.resolve(cwd, index) };
    return new GitRepository(place, around, [...settings, ...filtersOff(stdout.toString('utf8'))]);
  }

  /** The same repository under another time limit. */
  with(signal: AbortSignal): GitRepository {
    return new GitRepository(this, { ...this.#around, signal }, this.#settings);
  }

  get signal(): AbortSignal {
    return this.#around.signal;
  }

  /** Standard output. Throws GitError. */
  async run(args: readonly string[], options: GitCall = {}): Promise<Buffer> {
    return (await this.ask(args, options)).stdout;
  }

  /** Null when git ends with exit code 1: there is no such thing. Throws GitError. */
  async find(args: readonly string[], options: GitCall = {}): Promise<string | null> {
    const { code, stdout } = await this.ask(args, { ...options, allow: [1] });
    return code === 0 ? stdout.toString('utf8').trim() : null;
  }

  ask(args: readonly string[], options: GitCall = {}): Promise<GitAnswer> {
    return call({ cwd: this.top, around: this.#around, settings: this.#settings }, args, options);
  }
}

export type GitAnswer = { readonly code: number; readonly stdout: Buffer; readonly stderr: string };

type Command = {
  readonly cwd: string;
  readonly around: GitSurroundings;
  readonly settings: GitSettings;
};

async function call({ cwd, around, settings }: Command, args: readonly string[], options: GitCall): Promise<GitAnswer> {
  const { result, stdout, stderr } = await runToEnd(
    around.runner,
    {
      argv: ['git', ...args],
      cwd,
      env: {
        ...gitEnvironment(around.env, settings),
        GIT_LITERAL_PATHSPECS: '1',
        ...(options.index === undefined ? {} : { GIT_INDEX_FILE: options.index }),
      },
      policy: { type: 'danger-full-access' },
    },
    {
      timeoutMs: CALL_MS,
      signal: around.signal,
      maxBytes: MAX_OUTPUT,
      ...(options.input === undefined ? {} : { input: options.input }),
    },
  );
  switch (result.type) {
    case 'exited': {
      const text = stderr.toString('utf8').trim();
      if (result.exit_code === 0 || options.allow?.includes(result.exit_code)) {
        return { code: result.exit_code, stdout, stderr: text };
      }
      throw new GitError(`git ${args[0]} failed: ${text.slice(0, 300) || `exit code ${result.exit_code}`}`);
    }
    case 'timed_out':
      throw new GitError(`git ${args[0]} took more than ${CALL_MS / 1000} seconds`);
    case 'aborted':
      throw new GitError(`git ${args[0]} took too long or was interrupted`);
    case 'not_started':
      throw new GitError(result.message);
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await fs.lstat(file);
    return true;
  } catch {
    // Not there, or not to be seen: either way it is no work tree for us.
    return false;
  }
}
