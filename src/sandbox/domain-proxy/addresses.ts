/**
 * Addresses that a domain list never leads to, whatever name resolves to them: this machine, its networks, and the
 * services clouds offer there. Otherwise any domain could be pointed at them.
 */
import { BlockList, isIP } from 'node:net';

const FORBIDDEN_4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Only global unicast, 2000::/3, is let through at all; these parts of it lead elsewhere or hold an IPv4 address. */
const FORBIDDEN_6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** `address` is an IP address in text form; anything else is refused. */
export function isPublicAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  switch (isIP(plain)) {
    case 4:
      return !blockList(FORBIDDEN_4, 'ipv4').check(plain, 'ipv4');
    case 6:
      return (
        blockList([['2000::', 3]], 'ipv6').check(plain, 'ipv6') && !blockList(FORBIDDEN_6, 'ipv6').check(plain, 'ipv6')
      );
    default:
      return false;
  }
}

function blockList(subnets: readonly [string, number][], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}
