/** Model requests through the proxy of the environment; loaded only when one is set. */
import undici from 'undici';
import type { HttpRequest, HttpResponse } from './http.js';

export type ProxyOptions = {
  readonly proxy: string;
  /** As in NO_PROXY: hosts and domains that are reached directly. */
  readonly noProxy: string;
  readonly ca: string[] | undefined;
};

export function openProxyClient(options: ProxyOptions): {
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): void;
} {
  const { proxy, noProxy, ca } = options;
  const agent = new undici.EnvHttpProxyAgent({
    httpProxy: proxy,
    httpsProxy: proxy,
    noProxy,
    // The time limits are the caller's: an answer may take long.
    bodyTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 60_000,
    ...(ca ? { connect: { ca }, requestTls: { ca }, proxyTls: { ca } } : {}),
  });
  return {
    async send(request) {
      const limit = AbortSignal.timeout(Math.min(request.headersTimeoutMs, 2_147_483_647));
      const answered = new AbortController();
      const headersLimit = () => answered.abort(limit.reason);
      limit.addEventListener('abort', headersLimit, { once: true });
      const { statusCode, headers, body } = await undici.request(request.url, {
        dispatcher: agent,
        method: 'POST',
        headers: { ...request.headers },
        body: request.body,
        signal: AbortSignal.any([request.signal, answered.signal]),
      });
      limit.removeEventListener('abort', headersLimit);
      body.setEncoding('utf8');
      const flat: Record<string, string> = {};
      for (const [name, value] of Object.entries(headers)) {
        if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? (value.at(-1) ?? '') : value;
      }
      return { status: statusCode, statusText: '', headers: flat, body };
    },
    close: () => {
      // Nobody waits for a pool to close; what it held is gone either way.
      agent.destroy().catch(() => {});
    },
  };
}
