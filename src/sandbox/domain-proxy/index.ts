/** The proxy of domain lists by itself. */
export { isPublicAddress } from './addresses.js';
export { isAllowedHost, normalizeHost } from './domains.js';
export type { PassageDenial } from './gate.js';
export { DomainProxy } from './proxy.js';
