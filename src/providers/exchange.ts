/** What one request of a provider works with, from its first attempt to the last event. */
import type { ModelRequest, ProviderSettings } from '../protocol/index.js';
import type { Connections } from './connections.js';
import type { Credentials } from './credentials.js';
import type { HttpResponse } from './http.js';
import type { Wire, WireBody, WireContext } from './wire.js';

export type Service = {
  settings: ProviderSettings;
  credentials: Credentials;
  connections: Connections;
  userAgent: string;
  originator: string;
  /** Grows while the provider lives. */
  lessons: Set<string>;
};

export type Exchange = Service & {
  request: ModelRequest;
  signal: AbortSignal;
  wire: Wire;
  context: WireContext;
  url: URL;
};

/** Headers of a success have arrived. `secrets` must not appear in any text about it. */
export type Opened = { response: HttpResponse; context: WireContext; body: WireBody; secrets: readonly string[] };
