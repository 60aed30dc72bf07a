/**
 * Outlives this process by a moment when it is killed, and does what `close` would have done: ends what unsandboxed
 * commands have started (their death signal reaches themselves, not their children) and removes mount points. A small
 * shell that is told which groups are alive and waits for the end of its input.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownIdentity } from '../util/index.js';
import { readProcess } from './process-table.js';
import { MARKER_VARIABLE } from './process-tree.js';
import type { ServerDirectory } from './server-directory.js';

/**
 * `$1`: what the environment of our commands holds; processes that left their group are found by it. `$2`: the folder
 * of this server, `$3`: the folder of all servers, `$4`: the lock of the mount points, `$5`: the file that the lock is
 * a link to while the shell holds it. The rules for mount points are those of `MountRegister`: never one that a living
 * server uses or that is mounted anywhere.
 */
const SCRIPT = `
groups=' '
while read -r what pid; do
  case $what in
    add) groups="$groups$pid " ;;
    end) groups="\${groups%%" $pid "*} \${groups#*" $pid "}" ;;
  esac
done
for pid in $groups; do kill -s KILL -- "-$pid"; done
# A process can't be recognised in the moment in which it becomes another program, and may start others before it dies.
for pause in 0 0.01 0.01 0.02 0.02 0.05 0.05 0.1 0.2 0.3; do
  sleep "$pause"
  for file in $(grep -alsF -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}"
  done
done
[ -n "$2" ] || exit 0

# A server folder is called PID-START-...; field 22 of the stat file, the 20th after the name, is the start time.
lives() {
  pid=\${1%%-*}
  start=\${1#*-}
  start=\${start%%-*}
  stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 1
  set -- \${stat##*) }
  [ "\${20}" = "$start" ]
}

in_use() {
  for file in "$3"/*/mounts/*; do
    server=\${file%/mounts/*}
    server=\${server##*/}
    if grep -qsxF "used $path" "$file" && lives "$server"; then return 0; fi
  done
  escaped=$(printf '%s' "$path" | sed 's/ /\\\\040/g')
  grep -qsF " $escaped " /proc/[0-9]*/mountinfo
}

for round in 1 2 3 4 5 6 7 8 9 10; do
  left=
  if ln "$5" "$4" 2>/dev/null; then
    for file in "$2"/mounts/*; do
      [ -e "$file" ] || continue
      while read -r what path; do
        [ "$what" = made ] && [ -d "$path" ] || continue
        case $path in *\\\\*) left=1; continue ;; esac
        if in_use "$@"; then left=1; else rmdir "$path" 2>/dev/null; fi
      done < "$file"
    done
    [ -n "$left" ] || rm -rf "$2"
    rm -f "$4"
  else
    left=1
  fi
  [ -n "$left" ] || exit 0
  sleep 0.1
done
`;

export class Watchdog {
  readonly #id: string;
  readonly #directory: ServerDirectory | null;
  #shell: ChildProcess | null = null;

  /** `id`: the first part of the markers of our commands. */
  constructor(id: string, directory: ServerDirectory | null) {
    this.#id = id;
    this.#directory = directory;
  }

  /** Starts it, when it is not there yet. */
  start(): void {
    this.#shell ??= this.#spawn();
  }

  add(pid: number): void {
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

  #spawn(): ChildProcess {
    // In a session of its own, so that a signal to our group does not end it first.
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', `${MARKER_VARIABLE}=${this.#id}.`, ...this.#folders()], {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
    });
    // Without a shell, or after its end, the death signal and the sweep of the next start remain.
    shell.on('error', () => {});
    shell.stdin?.on('error', () => {});
    if (this.#directory && shell.pid !== undefined) this.#sign(this.#directory, shell.pid);
    shell.unref();
    if (shell.stdin && 'unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref();
    return shell;
  }

  #folders(): string[] {
    if (!this.#directory) return [''];
    const servers = join(this.#directory.path, '..');
    return [this.#directory.path, servers, join(servers, '..', 'mounts.lock'), ownerFileOfShell(this.#directory)];
  }

  /** A lock that names the shell is respected as long as the shell lives. */
  #sign(directory: ServerDirectory, pid: number): void {
    const start = readProcess(pid)?.startTime ?? '';
    try {
      writeFileSync(ownerFileOfShell(directory), `${pid}-${start}-${ownIdentity().host}`, { mode: 0o600 });
    } catch {
      // A full disk: the shell then can't take the lock, and leaves the mount points to the next start.
    }
  }
}

function ownerFileOfShell(directory: ServerDirectory): string {
  return join(directory.path, 'owner-of-watchdog');
}
