/** Model requests through the proxy of the environment; loaded only when one is set. */
import undici from 'undici';
import { onAbort } from '../util/index.js';
import { IdleError } from './errors.js';
import { flatHeaders, type HttpRequest, type HttpResponse } from './http.js';

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
    // Plain HTTP goes to the proxy as an ordinary request, as everywhere; many proxies refuse a tunnel for it.
    proxyTunnel: false,
    ...(ca ? { connect: { ca }, requestTls: { ca }, proxyTls: { ca } } : {}),
  });
  return {
    async send(request) {
      const stop = new AbortController();
      const release = onAbort(request.signal, () => stop.abort(new Error('interrupted')));
      const limit = setTimeout(() => stop.abort(new IdleError(request.headersTimeoutMs)), request.headersTimeoutMs);
      try {
        const { statusCode, statusText, headers, body } = await undici.request(request.url, {
          dispatcher: agent,
          method: 'POST',
          headers: { ...request.headers },
          body: request.body,
          signal: stop.signal,
        });
        body.once('close', release);
        return { status: statusCode, statusText, headers: flatHeaders(headers), body };
      } catch (error) {
        release();
        throw error;
      } finally {
        clearTimeout(limit);
      }
    },
    close: () => {
      // Nobody waits for a pool to close; what it held is gone either way.
      agent.destroy().catch(() => {});
    },
  };
}
