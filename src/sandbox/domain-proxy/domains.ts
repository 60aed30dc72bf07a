/** Lists of host names: `x` = that host, `*.x` = its subdomains, `**.x` = both, `*` = every host. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

export type DomainLists = { readonly allow: readonly string[]; readonly deny: readonly string[] };

/** `host` as in a URL or a CONNECT line, without port. A denial beats every permission. */
export function isAllowedHost(host: string, lists: DomainLists): boolean {
  const name = normalizeHost(host);
  return name !== null && !isDeniedHost(name, lists) && lists.allow.some(pattern => matches(name, pattern));
}

export function isDeniedHost(host: string, { deny }: DomainLists): boolean {
  const name = normalizeHost(host);
  return name !== null && deny.some(pattern => matches(name, pattern));
}

/** Lower case, ASCII, without the final dot and without brackets; null when it is no host. */
export function normalizeHost(host: string): string | null {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(bare)) return bare.toLowerCase();
  // What ends or encodes a host in a URL has no place in one.
  if (/[\s/\\?#@:%]/.test(bare)) return null;
  const name = domainToASCII(bare);
  return name === '' || /[^a-z0-9._-]/.test(name) ? null : name;
}

function matches(name: string, pattern: string): boolean {
  const text = pattern.trim().toLowerCase();
  if (text === '*' || text === '**') return true;
  if (text.startsWith('**.')) {
    const apex = normalizeHost(text.slice(3));
    return apex !== null && (name === apex || name.endsWith(`.${apex}`));
  }
  if (text.startsWith('*.')) {
    const apex = normalizeHost(text.slice(2));
    return apex !== null && name.endsWith(`.${apex}`);
  }
  return name === normalizeHost(text);
}
