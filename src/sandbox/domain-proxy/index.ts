/** The proxy of domain lists. */
export { isPublicAddress } from './addresses.js';
export { isAllowedHost, normalizeHost } from './domains.js';
export { type PassageDenial, systemDialer } from './gate.js';
export { DomainProxy } from './proxy.js';
