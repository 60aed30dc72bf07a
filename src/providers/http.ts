/** One HTTP exchange of this room. */
import type { Readable } from 'node:stream';

export type HttpRequest = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Closes the connection at once, also while the body is read. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the status line. */
  readonly headersTimeoutMs: number;
};

export type HttpResponse = {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names; the last of repeated ones. */
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 text. Its reader consumes or destroys it. */
  readonly body: Readable;
};
