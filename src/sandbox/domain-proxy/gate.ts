/** Decides about one connection of a command and makes it: name against the lists, then address, then connect. */
import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { messageOf } from '../../util/index.js';
import { isPublicAddress } from './addresses.js';
import { type DomainLists, isAllowedHost, isDeniedHost, normalizeHost } from './domains.js';

/** How names are looked up and addresses reached; replaced in tests, where there is no network. */
export type Dialer = {
  /** All addresses of a name. Rejects when there are none. */
  lookup(host: string): Promise<readonly string[]>;
  /** A socket that is being connected. */
  connect(address: string, port: number): Socket;
};

export const systemDialer: Dialer = {
  lookup: async host => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  connect: (address, port) => connect({ host: address, port }),
};

export type PassageDenial = {
  readonly host: string;
  /** Goes on after "access to HOST was refused: ". */
  readonly reason: string;
  /** An entry in the list would open the way. */
  readonly canBeAllowed: boolean;
};

export type Passage =
  | { readonly type: 'open'; readonly socket: Socket }
  | { readonly type: 'denied'; readonly denial: PassageDenial }
  | { readonly type: 'failed'; readonly message: string };

const CONNECT_TIMEOUT_MS = 30_000;

/** Never rejects. The name decides; the connection goes to an address that was looked at, never to the name again. */
export async function openPassage(host: string, port: number, lists: DomainLists, dialer: Dialer): Promise<Passage> {
  const name = normalizeHost(host);
  if (name === null) return denied(host, 'it is no valid host name', false);
  if (isDeniedHost(name, lists)) return denied(name, 'it is among the denied domains', false);
  if (!isAllowedHost(name, lists)) return denied(name, 'it is not among the allowed domains', true);
  let addresses: readonly string[];
  try {
    addresses = isIP(name) ? [name] : await dialer.lookup(name);
  } catch (error) {
    return { type: 'failed', message: `${name} could not be resolved: ${messageOf(error)}` };
  }
  const address = addresses.find(isPublicAddress);
  if (address === undefined) {
    return denied(
      name,
      `it leads to ${addresses.join(', ') || 'no address'}, which is not on the public internet`,
      false,
    );
  }
  return dial(name, address, port, dialer);
}

function denied(host: string, reason: string, canBeAllowed: boolean): Passage {
  return { type: 'denied', denial: { host, reason, canBeAllowed } };
}

function dial(name: string, address: string, port: number, dialer: Dialer): Promise<Passage> {
  return new Promise(resolve => {
    const socket = dialer.connect(address, port);
    const fail = (message: string) => {
      socket.destroy();
      resolve({ type: 'failed', message: `${name}:${port} could not be reached: ${message}` });
    };
    const timer = setTimeout(() => fail('no answer within 30 seconds'), CONNECT_TIMEOUT_MS);
    socket.once('error', error => {
      clearTimeout(timer);
      fail(messageOf(error));
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve({ type: 'open', socket });
    });
  });
}
