/** Reads exact numbers of bytes from a socket, and gives back what was read too much. */
import type { Socket } from 'node:net';

export class ByteReader {
  readonly #socket: Socket;
  #buffered: Buffer = Buffer.alloc(0);

  /** The socket must not be flowing. */
  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Rejects when the stream ends first. */
  async take(count: number): Promise<Buffer> {
    await this.#fill(count);
    const taken = this.#buffered.subarray(0, count);
    this.#buffered = this.#buffered.subarray(count);
    return taken;
  }

  async peek(): Promise<number> {
    await this.#fill(1);
    return this.#buffered[0] ?? 0;
  }

  /** Puts the rest back into the socket; this reader is of no use afterwards. */
  release(): void {
    if (this.#buffered.length > 0) this.#socket.unshift(this.#buffered);
    this.#buffered = Buffer.alloc(0);
  }

  async #fill(count: number): Promise<void> {
    while (this.#buffered.length < count) {
      const chunk = this.#socket.read() as Buffer | null;
      if (chunk !== null) this.#buffered = Buffer.concat([this.#buffered, chunk]);
      else await this.#readable();
    }
  }

  #readable(): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        socket.off('readable', onReadable);
        socket.off('end', onEnd);
        socket.off('close', onEnd);
        if (error) reject(error);
        else resolve();
      };
      const onReadable = () => settle();
      const onEnd = () => settle(new Error('the connection ended in the middle of a request'));
      if (socket.readableEnded || socket.destroyed) return onEnd();
      socket.on('readable', onReadable);
      socket.on('end', onEnd);
      socket.on('close', onEnd);
    });
  }
}
