/**
 * Outlives this process by a moment when it is killed, to end what unsandboxed commands have started: the death signal
 * of a command reaches itself, not its children. A small shell that is told which groups are alive and waits for the
 * end of its input.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { MARKER_VARIABLE } from './process-tree.js';

/** `$1`: what the environment of our commands holds. Processes that left their group are found by it. */
const SCRIPT = `
groups=' '
while read -r what pid; do
  case $what in
    add) groups="$groups$pid " ;;
    end) groups="\${groups%%" $pid "*} \${groups#*" $pid "}" ;;
  esac
done
for pid in $groups; do kill -s KILL -- "-$pid"; done
for file in $(grep -alsF -- "$1" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}
  kill -s KILL "\${pid%/environ}"
done
`;

export class Watchdog {
  readonly #marker: string;
  #shell: ChildProcess | null = null;

  /** `id`: the first part of the markers of our commands. */
  constructor(id: string) {
    this.#marker = `${MARKER_VARIABLE}=${id}.`;
  }

  /** Starts it with the first command. */
  add(pid: number): void {
    this.#shell ??= this.#start();
    this.#tell(`add ${pid}\n`);
  }

  end(pid: number): void {
    this.#tell(`end ${pid}\n`);
  }

  /** Sends it away; the caller has ended all commands. */
  close(): void {
    this.#shell?.kill('SIGKILL');
    this.#shell = null;
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(line);
  }

  #start(): ChildProcess {
    // In a session of its own, so that a signal to our group does not end it first.
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', this.#marker], {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
    });
    // Without a shell, or after its end, the death signal and the sweep of the next start remain.
    shell.on('error', () => {});
    shell.stdin?.on('error', () => {});
    shell.unref();
    if (shell.stdin && 'unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref();
    return shell;
  }
}
