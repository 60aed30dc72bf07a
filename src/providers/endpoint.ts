/** The URL of a request, and how it is shown to people. */
import type { ProviderSettings } from '../protocol/index.js';

/**
 * `base_url` and `path` joined with one slash, with the query parameters of the settings, escaped. A base that already
 * ends in the path is taken as the whole URL. Throws TypeError when the base is no http(s) URL.
 */
export function endpoint(settings: ProviderSettings, path: string): URL {
  const url = new URL(settings.base_url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`not an http(s) URL`);
  const base = url.pathname.replace(/\/+$/, '');
  url.pathname = base.endsWith(`/${path}`) ? base : `${base}/${path}`;
  for (const [name, value] of Object.entries(settings.query_params)) url.searchParams.set(name, value);
  return url;
}

/** The URL without query, fragment, user and password. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** True when the host is `domain` or lies below it. */
export function hostIs(settings: ProviderSettings, ...domains: string[]): boolean {
  const host = hostOf(settings);
  return domains.some(domain => host === domain || host.endsWith(`.${domain}`));
}

function hostOf(settings: ProviderSettings): string {
  try {
    return new URL(settings.base_url).hostname;
  } catch {
    // A base that is no URL is reported when the request is made.
    return '';
  }
}
