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
  /** Bytes. Its reader consumes or destroys it. */
  readonly body: Readable;
};

/** Headers as Node and undici give them, one text each. */
export function flatHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return last === undefined ? [] : [[name.toLowerCase(), last] as const];
    }),
  );
}
