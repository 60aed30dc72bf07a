/**
 * The programs that tests need beside Node: git, and on Linux bubblewrap, socat and curl. The demo needs the first two.
 * Looks for them, and may install what is missing with the system's package manager.
 */
import { spawnSync } from 'node:child_process';

const TOOLS = ['git', 'bubblewrap', 'socat', 'curl'] as const;
export type Tool = (typeof TOOLS)[number];

/** Why a tool can't be used; null when it can. */
export type ToolState = Readonly<Record<Tool, string | null>>;

type PackageManager = {
  readonly program: string;
  readonly install: readonly string[];
  readonly refresh?: readonly string[];
};

const PACKAGE_MANAGERS: readonly PackageManager[] = [
  { program: 'apt-get', install: ['install', '-y', '--no-install-recommends'], refresh: ['update'] },
  { program: 'dnf', install: ['install', '-y'] },
  { program: 'apk', install: ['add'] },
  { program: 'pacman', install: ['-S', '--noconfirm'], refresh: ['-Sy'] },
];

/** What the sandbox asks of bubblewrap, as small as it gets: a machine can have the program and forbid its use. */
const BUBBLEWRAP_TRIAL = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];

/** Looks only. Elsewhere than on Linux only git is needed, and the others' states say so. */
export function checkTools(): ToolState {
  return {
    git: runs('git', ['--version']) ? null : 'git was not found',
    bubblewrap: bubblewrapState(),
    socat: linuxState('socat', '-V'),
    curl: linuxState('curl', '--version'),
  };
}

function linuxState(tool: Tool, question: string): string | null {
  if (process.platform !== 'linux') return `${tool} is needed on Linux only`;
  return runs(tool, [question]) ? null : `${tool} was not found`;
}

function bubblewrapState(): string | null {
  if (process.platform !== 'linux') return 'bubblewrap exists on Linux only';
  if (!runs('bwrap', ['--version'])) return 'bubblewrap (bwrap) was not found';
  const trial = spawnSync('bwrap', [...BUBBLEWRAP_TRIAL, 'true'], { encoding: 'utf8' });
  if (trial.status === 0) return null;
  return `bubblewrap is installed and this machine does not let it work: ${trial.stderr.trim()}`;
}

/**
 * Looks, installs what is missing when it may (root, or sudo without a password), and looks again. `say` gets lines
 * for the user: what is installed, or the one command to run.
 */
export function ensureTools(say: (line: string) => void, tools: readonly Tool[] = TOOLS): ToolState {
  const before = checkTools();
  const missing = tools.filter(tool => before[tool]?.includes('was not found'));
  if (missing.length === 0) return before;
  if (process.platform === 'darwin') {
    say('git is missing. Install it with: xcode-select --install');
    return before;
  }
  const manager = PACKAGE_MANAGERS.find(({ program }) => runs(program, ['--version']));
  if (manager === undefined) {
    say(`Missing: ${missing.join(', ')}. Install with your system's package manager.`);
    return before;
  }
  install(manager, missing, say);
  return checkTools();
}

function install(manager: PackageManager, packages: readonly string[], say: (line: string) => void): void {
  const words = [manager.program, ...manager.install, ...packages];
  const prefix = rootPrefix();
  if (prefix === null) {
    say(`Missing: ${packages.join(', ')}. Run: sudo ${words.join(' ')}`);
    return;
  }
  say(`Missing: ${packages.join(', ')}. Installing: ${[...prefix, ...words].join(' ')}`);
  if (runAs(prefix, words)) return;
  const { refresh } = manager;
  if (refresh !== undefined && runAs(prefix, [manager.program, ...refresh]) && runAs(prefix, words)) return;
  say(`That failed. Run it by hand: sudo ${words.join(' ')}`);
}

/** The words in front of a command that needs root: none for root, `sudo -n` where no password is asked, else null. */
function rootPrefix(): readonly string[] | null {
  if (process.getuid?.() === 0) return [];
  return runs('sudo', ['-n', 'true']) ? ['sudo', '-n'] : null;
}

function runAs(prefix: readonly string[], words: readonly string[]): boolean {
  const [program = '', ...args] = [...prefix, ...words];
  // Its output goes to stderr: stdout belongs to what the caller prints.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(program, args, { env, stdio: ['ignore', 2, 2] }).status === 0;
}

function runs(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
