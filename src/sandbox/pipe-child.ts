/** Starts a program with pipes for its input and output. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { type Child, type ChildExit, type Launch, type OutputListener, reportOf, stdioOf } from './child.js';
import type { DescriptorGuard } from './descriptor-guard.js';
import { openForReading, openForWriting, type PipeEnds, type PipePool } from './pipe-pool.js';

export type Means = {
  /** Null: socket pairs instead of real pipes. */
  readonly pool: PipePool | null;
  readonly guard: DescriptorGuard;
};

/** Throws what `spawn` reports. */
export async function startWithPipes(launch: Launch, { pool, guard }: Means): Promise<Child> {
  const pipes = pool && (await openPipes(launch, pool));
  try {
    const child = spawn(launch.argv[0] ?? '', launch.argv.slice(1), {
      argv0: launch.argv[0],
      cwd: launch.cwd,
      env: launch.env,
      // Its own session: no terminal of ours, and a group that can be signalled as a whole.
      detached: true,
      windowsHide: true,
      stdio: guard.cover([...standardStreams(launch, pipes), ...stdioOf(launch.inherit)]),
    });
    await started(child);
    return pipeChild(child, pipes ?? socketsOf(child), reportOf(child, launch.inherit));
  } catch (error) {
    for (const ends of [pipes?.stdin, pipes?.stdout, pipes?.stderr]) ends?.ours.destroy();
    throw error;
  } finally {
    for (const ends of [pipes?.stdin, pipes?.stdout, pipes?.stderr]) if (ends) closeSync(ends.theirs);
  }
}

/** Of output after the end of the program itself; more than a pipe can hold, so all of its own output is among it. */
const MAX_LATE_BYTES = 4 * 1024 * 1024;

type Pipes = { stdin: PipeEnds | null; stdout: PipeEnds; stderr: PipeEnds | null };
type Streams = {
  stdin: { ours: Writable } | null;
  stdout: { ours: Readable } | null;
  stderr: { ours: Readable } | null;
};

/** Null when none can be had, as on a full disk: socket pairs are better than nothing. */
async function openPipes(launch: Launch, pool: PipePool): Promise<Pipes | null> {
  const wantsStdin = launch.stdin === 'pipe';
  let names: string[];
  try {
    names = await pool.take(1 + (launch.mergeOutput ? 0 : 1) + (wantsStdin ? 1 : 0));
  } catch {
    return null;
  }
  const next = () => names.shift() ?? '';
  return {
    stdout: openForReading(next()),
    stderr: launch.mergeOutput ? null : openForReading(next()),
    stdin: wantsStdin ? openForWriting(next()) : null,
  };
}

type Stdio = 'ignore' | 'pipe' | number;

function standardStreams(launch: Launch, pipes: Pipes | null): Stdio[] {
  const stdin = launch.stdin === 'closed' ? 'ignore' : launch.stdin;
  if (!pipes) return [stdin, 'pipe', 'pipe'];
  return [
    pipes.stdin?.theirs ?? (stdin === 'pipe' ? 'ignore' : stdin),
    pipes.stdout.theirs,
    (pipes.stderr ?? pipes.stdout).theirs,
  ];
}

function socketsOf(child: ChildProcess): Streams {
  const { stdin, stdout, stderr } = child;
  return {
    stdin: stdin && { ours: stdin },
    stdout: stdout && { ours: stdout },
    stderr: stderr && { ours: stderr },
  };
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

function pipeChild(child: ChildProcess, streams: Streams, report: Readable | null): Child {
  let reading = false;
  let chunks = 0;
  let hasExited = false;
  let lateBytes = 0;
  const outputs = [streams.stdout, streams.stderr].flatMap(s => (s ? [s.ours] : []));
  // A broken pipe on either side is seen as the end of the stream; writers get it from their own call.
  for (const stream of [...outputs, streams.stdin?.ours]) stream?.on('error', () => {});
  const exited = new Promise<ChildExit>(resolve => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  void exited.then(() => {
    hasExited = true;
    streams.stdin?.ours.destroy();
  });

  return {
    pid: child.pid ?? 0,
    report,
    exited,
    read(listener: OutputListener) {
      if (reading) return;
      reading = true;
      for (const [name, stream] of [
        ['stdout', streams.stdout?.ours],
        ['stderr', streams.stderr?.ours],
      ] as const) {
        stream?.on('data', (chunk: Buffer) => {
          chunks++;
          if (hasExited) lateBytes += chunk.length;
          listener(chunk, name);
          // A descendant that goes on writing is made to wait, as it would be with nobody at the other end.
          if (lateBytes > MAX_LATE_BYTES) for (const output of outputs) output.pause();
        });
      }
    },
    async drained() {
      // Whatever was written before the end lies in the pipes. A whole round of the event loop that brings nothing
      // proves them empty, also when a descendant holds them open.
      for (let seen = -1; seen !== chunks && outputs.some(s => !s.readableEnded && !s.destroyed); ) {
        seen = chunks;
        await nextRound();
        await nextRound();
      }
      for (const stream of outputs) if (isSocket(stream)) stream.unref();
    },
    write: data => writeTo(streams.stdin?.ours ?? null, data),
    closeStdin: () => streams.stdin?.ours.end(),
    release() {
      for (const stream of [...outputs, streams.stdin?.ours]) stream?.destroy();
    },
  };
}

function isSocket(stream: Readable): stream is Socket {
  return 'unref' in stream;
}

function writeTo(stream: Writable | null, data: string | Buffer): Promise<void> {
  if (!stream?.writable) return Promise.reject(new Error('the standard input of the command is closed'));
  return new Promise((resolve, reject) => {
    stream.write(data, error => (error ? reject(error) : resolve()));
  });
}
