/**
 * What every client asks first, answered without loading anything: `initialize`, `server/discover`, `tools/list`. The
 * protocol library takes longer to load than Node takes to start, so it is loaded after these answers. They are the
 * answers it would give; a test compares them.
 */
import { isObject } from '../util/index.js';
import type { JsonObject } from './message.js';
import { INSTRUCTIONS, TOOLS } from './tool-definitions.js';

/** `legacy`: with a handshake. `modern`: every request says what it needs. */
export type Era = 'legacy' | 'modern';

/** Versions with a handshake, newest first. */
const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Versions that come with every request. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;

export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';

export const SERVER_CAPABILITIES = { tools: {} };

/** The tools and this description change only with the version of the product. */
const CACHE_HINT = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

export type ServerInfo = { readonly name: string; readonly title: string; readonly version: string };

export function serverInfo(version: string): ServerInfo {
  return { name: 'open-interpreter', title: 'Open Interpreter', version };
}

/** An unknown version is answered with the newest one we speak. */
export function initializeResult(requestedVersion: string, info: ServerInfo): JsonObject {
  const known = LEGACY_VERSIONS.find(version => version === requestedVersion);
  return {
    protocolVersion: known ?? LEGACY_VERSIONS[0],
    capabilities: SERVER_CAPABILITIES,
    serverInfo: info,
    instructions: INSTRUCTIONS,
  };
}

export function discoverResult(info: ServerInfo): JsonObject {
  return {
    supportedVersions: [...MODERN_VERSIONS],
    capabilities: SERVER_CAPABILITIES,
    instructions: INSTRUCTIONS,
    ...modernResult(info),
  };
}

export function toolsListResult(era: Era, info: ServerInfo): JsonObject {
  return { tools: TOOLS, ...(era === 'modern' ? modernResult(info) : {}) };
}

function modernResult(info: ServerInfo): JsonObject {
  return { resultType: 'complete', ...CACHE_HINT, _meta: { [SERVER_INFO_KEY]: info } };
}

/** The `_meta` of a request that names a protocol version; such a request needs no handshake. */
export function modernMeta(params: JsonObject): JsonObject | null {
  const meta = params._meta;
  return isObject(meta) && VERSION_KEY in meta ? meta : null;
}

/** What is wrong with such a `_meta` apart from its version; null = nothing. */
export function metaProblem(meta: JsonObject): string | null {
  if (!isObject(meta[CAPABILITIES_KEY])) return `_meta must hold ${CAPABILITIES_KEY}, an object`;
  const info = meta[CLIENT_INFO_KEY];
  if (info === undefined) return null;
  const named = isObject(info) && typeof info.name === 'string' && typeof info.version === 'string';
  return named ? null : `${CLIENT_INFO_KEY} in _meta must have a name and a version`;
}

/** True when a client that declared these capabilities can show a form to a person. */
export function canShowForms(capabilities: unknown): boolean {
  if (!isObject(capabilities) || !isObject(capabilities.elicitation)) return false;
  const { form, url } = capabilities.elicitation;
  // Declaring no mode at all is how clients said `form` before there were modes.
  return form !== undefined || url === undefined;
}
