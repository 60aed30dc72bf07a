/** The proxy of this process and the commands that may use it: started with the first, one admission for each. */
import type { SandboxPolicy } from '../protocol/index.js';
import type { Dialer } from './domain-proxy/gate.js';
import type { DomainProxy } from './domain-proxy/proxy.js';
import { networkNote } from './explain-denial.js';

export type DomainProxyParts = Awaited<ReturnType<typeof loadDomainProxy>>;

/** The proxy and what it decides by; loaded for the first policy that needs it. */
export function loadDomainProxy() {
  return import('./domain-proxy/index.js');
}

/** One command's way to its domains. */
export type Crossing = {
  /** Variables by which programs find the proxy, with the password of this command. */
  readonly env: Readonly<Record<string, string>>;
  onNote(listener: (line: string) => void): void;
  close(): void;
};

export class DomainAccess {
  readonly #dialer: Dialer | undefined;
  readonly #socket: string | null;
  #proxy: Promise<{ proxy: DomainProxy; port: number }> | null = null;

  /** `socket`: the path of the unix socket to listen on; null = a port of the loopback. */
  constructor(socket: string | null, dialer: Dialer | undefined) {
    this.#socket = socket;
    this.#dialer = dialer;
  }

  /** `port`: where the command finds the proxy on its loopback; null = where it listens. */
  async open(policy: SandboxPolicy & { type: 'profile' }, port: number | null): Promise<Crossing & { port: number }> {
    const { proxy, port: ownPort } = await (this.#proxy ??= this.#start());
    const notes = new Notes();
    const admission = proxy.admit({
      lists: policy.network.type === 'domains' ? policy.network : { allow: [], deny: [] },
      onDenied: denial => notes.add(denial.host, networkNote(denial, policy.name)),
    });
    return {
      port: port ?? ownPort,
      env: proxyEnvironment(admission.password, port ?? ownPort),
      onNote: listener => notes.listen(listener),
      close: () => admission.close(),
    };
  }

  async close(): Promise<void> {
    const started = await this.#proxy;
    started?.proxy.close();
  }

  async #start(): Promise<{ proxy: DomainProxy; port: number }> {
    const { DomainProxy, systemDialer } = await loadDomainProxy();
    const proxy = new DomainProxy(this.#dialer ?? systemDialer);
    return { proxy, port: await proxy.listen(this.#socket) };
  }
}

/** One line for a host, however often it is asked for. */
class Notes {
  readonly #told = new Set<string>();
  readonly #waiting: string[] = [];
  #listener: ((line: string) => void) | null = null;

  add(host: string, line: string): void {
    if (this.#told.has(host)) return;
    this.#told.add(host);
    if (this.#listener) this.#listener(line);
    else this.#waiting.push(line);
  }

  listen(listener: (line: string) => void): void {
    this.#listener = listener;
    for (const line of this.#waiting.splice(0)) listener(line);
  }
}

function proxyEnvironment(password: string, port: number): Record<string, string> {
  const credentials = `sandbox:${password}`;
  const http = `http://${credentials}@127.0.0.1:${port}`;
  const socks = `socks5h://${credentials}@127.0.0.1:${port}`;
  const local = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: http,
    HTTPS_PROXY: http,
    ALL_PROXY: socks,
    NO_PROXY: local,
    http_proxy: http,
    https_proxy: http,
    all_proxy: socks,
    no_proxy: local,
    // Node reads the variables above only when told so.
    NODE_USE_ENV_PROXY: '1',
    GIT_SSH_COMMAND: `ssh -o ProxyCommand='socat - PROXY:127.0.0.1:%h:%p,proxyport=${port},proxyauth=${credentials}'`,
  };
}
