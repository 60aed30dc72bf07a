/** Checks of the machine: Node, shell, git, ripgrep, the agent's home. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { CommandRunner } from '../../protocol/index.js';
import { runToEnd } from '../../sandbox/index.js';
import { messageOf } from '../../util/index.js';
import { type Check, ok, problem } from './check.js';

const OLDEST_NODE = 20;
const PROGRAM_MS = 3000;

export function checkNode(version: string): Check {
  const major = Number.parseInt(version, 10);
  if (major >= OLDEST_NODE) return ok('node', version);
  return problem('node', 'fail', `${version} is too old`, `Install Node ${OLDEST_NODE} or newer.`);
}

export function checkShell(shell: string): Check {
  if (existsSync(shell)) return ok('shell', shell);
  return problem('shell', 'fail', `${shell} does not exist`, 'Install bash; commands are run by it.');
}

/** `home` need not exist yet: it is made when it is first needed. */
export function checkHome(home: string): Check {
  const existing = nearestExisting(home);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const fix = 'Make it writable for you, or set INTERPRETER_HOME to a folder of yours.';
    return problem('home', 'fail', `${existing} can't be written: ${messageOf(error)}`, fix);
  }
  if (existing !== home) return ok('home', `${home} (will be made)`);
  const { mode, uid } = statSync(home);
  const own = process.getuid?.() ?? uid;
  if ((mode & 0o022) !== 0) {
    return problem('home', 'warn', `${home} can be changed by others`, `Run: chmod go-w ${home}`);
  }
  if (uid !== own && own !== 0) {
    return problem('home', 'warn', `${home} belongs to somebody else`, 'Set INTERPRETER_HOME to a folder of yours.');
  }
  return ok('home', home);
}

function nearestExisting(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) if (existsSync(at) || path.dirname(at) === at) return at;
}

export type Program = {
  readonly id: string;
  readonly argv: readonly string[];
  /** What does not work without it. */
  readonly without: string;
  readonly fix: string;
};

export const GIT: Program = {
  id: 'git',
  argv: ['git', '--version'],
  without: 'undo, reviews and the names of branches are missing',
  fix: 'Install git.',
};

export const RIPGREP: Program = {
  id: 'rg',
  argv: ['rg', '--version'],
  without: 'models that search with rg get an error and search more slowly',
  fix: 'Install ripgrep, or the package without --omit=optional, which brings one.',
};

/** `path`: where it is looked for. */
export async function checkProgram(program: Program, runner: CommandRunner, searchPath: string): Promise<Check> {
  const { result, stdout } = await runToEnd(
    runner,
    { argv: program.argv, cwd: '/', env: { PATH: searchPath }, policy: { type: 'danger-full-access' } },
    { timeoutMs: PROGRAM_MS, maxBytes: 1000 },
  );
  const [line = ''] = stdout.toString('utf8').split('\n');
  if (result.type === 'exited' && result.exit_code === 0) return ok(program.id, line.trim());
  const found =
    result.type === 'not_started' && result.reason === 'missing' ? 'not found' : `\`${program.argv.join(' ')}\` failed`;
  return problem(program.id, 'warn', `${found}: ${program.without}`, program.fix);
}
