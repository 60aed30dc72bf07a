/**
 * The way from a sandbox without network to the domains it may reach: the unix socket of our proxy is mounted into the
 * sandbox, and a bridge inside leads from a port of the sandbox's own loopback to that socket.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxPolicy } from '../protocol/index.js';
import { BRIDGE_SOCKET } from './bwrap-plan.js';
import { type Crossing, DomainAccess } from './domain-access.js';
import type { Dialer } from './domain-proxy/gate.js';

const PORT = 3128;
const LISTENING = `:${PORT.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;
const SOCKET = 'proxy.sock';

/** `$1` socat, `$2` and `$3` its addresses, `$4` what /proc/net/tcp shows once it listens; then the inner sandbox. */
const SCRIPT = `
"$1" "$2" "$3" </dev/null >/dev/null 2>&1 3<&- 4<&- &
tries=0
until grep -q "$4" /proc/net/tcp; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] || { echo 'bwrap: the bridge to the proxy did not start' >&2; exit 1; }
  sleep 0.01
done
shift 4
exec "$@"
`;

export class DomainBridge {
  readonly #directory: string;
  readonly #dialer: Dialer | undefined;
  #access: DomainAccess | null = null;
  #directoryFd: number | null = null;

  /** `directory`: of this process, for the socket. */
  constructor(directory: string, dialer: Dialer | undefined) {
    this.#directory = directory;
    this.#dialer = dialer;
  }

  /** `socket`: what is to be mounted. */
  async open(policy: SandboxPolicy & { type: 'profile' }): Promise<Crossing & { readonly socket: string }> {
    this.#access ??= this.#makeAccess();
    return { ...(await this.#access.open(policy, PORT)), socket: join(this.#directory, SOCKET) };
  }

  async close(): Promise<void> {
    await this.#access?.close();
    if (this.#directoryFd !== null) closeSync(this.#directoryFd);
    this.#directoryFd = null;
  }

  #makeAccess(): DomainAccess {
    // Names of sockets are limited to 107 bytes; by way of the opened folder this one is short.
    this.#directoryFd = openSync(this.#directory, constants.O_RDONLY | constants.O_DIRECTORY);
    return new DomainAccess(`/proc/self/fd/${this.#directoryFd}/${SOCKET}`, this.#dialer);
  }
}

/** The program of the outer sandbox: starts the bridge, waits for it, becomes the inner sandbox. */
export function bridgeArgv(socat: string, inner: readonly string[]): string[] {
  const listen = `TCP-LISTEN:${PORT},bind=127.0.0.1,fork,reuseaddr`;
  return ['/bin/sh', '-c', SCRIPT, 'sh', socat, listen, `UNIX-CONNECT:${BRIDGE_SOCKET}`, LISTENING, ...inner];
}
