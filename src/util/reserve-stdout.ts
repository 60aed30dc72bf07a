import { Writable } from 'node:stream';

/**
 * Keeps stdout for the protocol alone. Returns the stream to it; from then on `process.stdout` and the console write
 * to stderr, whoever uses them. Call it before anything else that may print is loaded.
 *
 * An error of the returned stream (EPIPE) means that nobody reads any more; it never becomes an uncaught exception
 * as long as the owner listens.
 */
export function reserveStdout(): Writable {
  const real = process.stdout;
  const write = real.write;
  const protocol = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, encoding, done) => {
      write.call(real, chunk, encoding, done);
    },
    writev: (chunks, done) => {
      const text = chunks.map(({ chunk }) => String(chunk)).join('');
      write.call(real, text, 'utf8', done);
    },
  });
  real.on('error', error => protocol.destroy(error));
  real.on('close', () => protocol.destroy());
  // Someone may hold the old object already, so both it and the property are redirected.
  real.write = process.stderr.write.bind(process.stderr) as typeof real.write;
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => process.stderr });
  for (const method of ['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed'] as const) {
    console[method] = console.error.bind(console);
  }
  // Late errors of stderr (its reader went away) must not end the server either.
  process.stderr.on('error', () => {});
  return protocol;
}
