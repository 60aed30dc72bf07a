/** Starts a program on a pseudo terminal. */
import type { IPty } from '@lydell/node-pty';
import { type Child, type ChildExit, type Launch, type OutputListener, signalName } from './child.js';
import type { DescriptorGuard } from './descriptor-guard.js';
import { bashPath } from './find-program.js';
import { withPrelude } from './shell-prelude.js';

/** Throws when there is no pseudo terminal to be had. */
export async function startOnPty(launch: Launch, guard: DescriptorGuard): Promise<Child> {
  const { spawn } = await import('@lydell/node-pty');
  const [file = '', ...args] = withPrelude(launch.argv, {
    // The shell opens them by way of our own list a moment after the start: the caller keeps them open.
    open: launch.inherit.flatMap(fd => (fd === 'report' ? [] : [`/proc/${process.pid}/fd/${fd}`])),
    close: guard.leaking,
    shell: bashPath(launch.env['PATH']),
  });
  const pty = spawn(file, args, {
    name: launch.env['TERM'] ?? 'dumb',
    cols: launch.tty?.cols ?? 80,
    rows: launch.tty?.rows ?? 24,
    cwd: launch.cwd,
    env: { ...launch.env },
    // Bytes as they come; characters may be split between chunks.
    encoding: null,
  });
  guard.refresh();
  return ptyChild(pty, guard);
}

function ptyChild(pty: IPty, guard: DescriptorGuard): Child {
  let reading = false;
  let open = true;
  pty.pause();
  const exited = new Promise<ChildExit>(resolve => {
    pty.onExit(({ exitCode, signal }) => {
      open = false;
      guard.refresh();
      resolve(signal ? { code: null, signal: signalName(signal) } : { code: exitCode, signal: null });
    });
  });
  return {
    pid: pty.pid,
    report: null,
    exited,
    read(listener: OutputListener) {
      if (reading) return;
      reading = true;
      // With `encoding: null` the data are buffers, whatever the declared type says.
      pty.onData((data: string | Buffer) => listener(typeof data === 'string' ? Buffer.from(data) : data, 'stdout'));
      pty.resume();
    },
    // The end is announced after the last byte was delivered.
    drained: () => Promise.resolve(),
    write(data) {
      if (!open) return Promise.reject(new Error('the command has ended'));
      pty.write(typeof data === 'string' ? data : data.toString('utf8'));
      return Promise.resolve();
    },
    // On a terminal, the end of the input is a character.
    closeStdin: () => {
      if (open) pty.write('\x04');
    },
    release() {
      // The terminal closes itself with its last user.
    },
  };
}
