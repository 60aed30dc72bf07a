/**
 * The profile of macOS' sandbox-exec for a layout. Pure text; every path is a parameter, so none can become a part of
 * the profile. Of several rules that match, the last one counts.
 */
import { dirname } from 'node:path';
import { isInside } from './find-program.js';
import { accessAt, type Layout, type PathRule } from './layout.js';

export type SeatbeltNetwork = { readonly type: 'off' | 'on' } | { readonly type: 'proxy'; readonly port: number };

export type SeatbeltOptions = {
  readonly layout: Layout;
  readonly network: SeatbeltNetwork;
  readonly unixSockets: boolean;
};

export type SeatbeltProfile = {
  readonly text: string;
  /** For `-D`: name and path. */
  readonly parameters: readonly (readonly [string, string])[];
};

export function seatbeltProfile(options: SeatbeltOptions): SeatbeltProfile {
  const parameters = new Parameters();
  const lines = [
    BASE,
    ...readLines(options.layout, parameters),
    ...writeLines(options.layout, parameters),
    ...denyLines(options.layout, parameters),
    ...networkLines(options),
  ];
  return { text: `${lines.join('\n')}\n`, parameters: parameters.all };
}

const BASE = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name-prefix "net.routetable.")
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.bootargs")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc")
  (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg"))
(allow mach-lookup
  (global-name "com.apple.cfprefsd.agent")
  (global-name "com.apple.cfprefsd.daemon")
  (global-name "com.apple.logd")
  (global-name "com.apple.PowerManagement.control")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow user-preference-read)
(allow pseudo-tty)
(allow file-ioctl (regex #"^/dev/(tty.*|ptmx)$"))
(allow file-read* file-write*
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/tty")
  (literal "/dev/ptmx")
  (literal "/dev/dtracehelper")
  (regex #"^/dev/ttys[0-9]+$")
  (subpath "/dev/fd"))`;

function readLines(layout: Layout, parameters: Parameters): string[] {
  if (layout.base.access !== 'deny') return ['(allow file-read*)'];
  // Where a path leads through can be looked at, not listed.
  const readable = layout.rules.filter(rule => rule.access !== 'deny');
  return [
    '(allow file-read-metadata)',
    ...readable.map(rule => `(allow file-read* ${subpath(parameters.add('READABLE', rule.path))})`),
  ];
}

/** Each writable folder without what is closed inside it; a writable folder further inside has its own rule. */
function writeLines(layout: Layout, parameters: Parameters): string[] {
  const writable = layout.rules.filter(rule => rule.access === 'write');
  const all: Pick<PathRule, 'path'>[] = layout.base.access === 'write' ? [{ path: '/' }, ...writable] : writable;
  return all.map((root, i) => {
    const closed = layout.rules.filter(rule => rule.access !== 'write' && isInside(rule.path, root.path));
    const rootName = parameters.addAs(`WRITABLE_ROOT_${i}`, root.path);
    const exceptions = closed.map((rule, j) => `(require-not ${subpath(parameters.addAs(`RO_${i}_${j}`, rule.path))})`);
    const pins = pinsOf(layout, root.path, closed).map(
      path => `(deny file-write-unlink ${literal(parameters.add('PIN', path))})`,
    );
    return [
      `(allow file-write* (require-all ${[subpath(rootName), ...exceptions].join(' ')}))`,
      // Neither the folder itself nor one on the way to a closed path may be moved away.
      ...pins,
    ].join('\n');
  });
}

function pinsOf(layout: Layout, root: string, closed: readonly PathRule[]): string[] {
  const pins = new Set<string>([root]);
  for (const rule of closed) {
    for (let path = dirname(rule.path); isInside(path, root) && path !== root; path = dirname(path)) {
      if (accessAt(layout, path).access !== 'write') break;
      pins.add(path);
    }
  }
  return [...pins];
}

function denyLines(layout: Layout, parameters: Parameters): string[] {
  return layout.rules.flatMap((rule, i) => {
    if (rule.access !== 'deny') return [];
    const name = subpath(parameters.add('DENIED', rule.path));
    const inside = layout.rules
      .slice(i + 1)
      .filter(other => other.access !== 'deny' && isInside(other.path, rule.path));
    return [
      `(deny file-read* file-write* ${name})`,
      ...inside.map(
        other =>
          `(allow ${other.access === 'write' ? 'file-read* file-write*' : 'file-read*'} ${subpath(parameters.add('INSIDE', other.path))})`,
      ),
    ];
  });
}

const NAME_SERVICES = `(allow system-socket)
(allow mach-lookup
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.networkd")
  (global-name "com.apple.ocspd")
  (global-name "com.apple.trustd.agent"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))`;

function networkLines({ network, unixSockets }: SeatbeltOptions): string[] {
  const sockets = unixSockets ? ['(allow network* (remote unix-socket))', '(allow network* (local unix-socket))'] : [];
  switch (network.type) {
    case 'off':
      return sockets;
    case 'on':
      return [
        '(allow network-outbound (remote ip))',
        '(allow network-inbound (local ip))',
        '(allow network-bind (local ip))',
        NAME_SERVICES,
        ...sockets,
      ];
    case 'proxy':
      return [`(allow network-outbound (remote ip "localhost:${network.port}"))`, ...sockets];
  }
}

function subpath(parameter: string): string {
  return `(subpath (param "${parameter}"))`;
}

function literal(parameter: string): string {
  return `(literal (param "${parameter}"))`;
}

class Parameters {
  readonly all: [string, string][] = [];

  /** A name of the form `PREFIX_n`. */
  add(prefix: string, path: string): string {
    return this.addAs(`${prefix}_${this.all.filter(([name]) => name.startsWith(`${prefix}_`)).length}`, path);
  }

  addAs(name: string, path: string): string {
    this.all.push([name, path]);
    return name;
  }
}
