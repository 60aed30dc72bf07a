import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Dialer, type DomainProxyParts, loadDomainProxy } from '../../src/sandbox/index.js';
import { describeIf } from '../support/requires.js';
import { bash, entry, exited, makePlace, openSandbox, profile, run } from './support.js';

const { DomainProxy, isAllowedHost, isPublicAddress, normalizeHost } = await loadDomainProxy();

describe('domain lists', () => {
  test.each([
    ['example.com', ['example.com'], [], true],
    ['EXAMPLE.com.', ['example.com'], [], true],
    ['a.example.com', ['example.com'], [], false],
    ['a.example.com', ['*.example.com'], [], true],
    ['a.b.example.com', ['*.example.com'], [], true],
    ['example.com', ['*.example.com'], [], false],
    ['example.com', ['**.example.com'], [], true],
    ['a.example.com', ['**.example.com'], [], true],
    ['badexample.com', ['**.example.com'], [], false],
    ['anything.test', ['*'], [], true],
    ['a.example.com', ['*'], ['a.example.com'], false],
    ['a.example.com', ['a.example.com'], ['**.example.com'], false],
    ['bücher.example', ['bücher.example'], [], true],
    ['xn--bcher-kva.example', ['bücher.example'], [], true],
    ['1.2.3.4', ['1.2.3.4'], [], true],
    ['example.com', [], [], false],
    ['exam ple.com', ['*'], [], false],
    ['', ['*'], [], false],
  ])('%s with %j without %j: %s', (host, allow, deny, expected) => {
    expect(isAllowedHost(host, { allow, deny })).toBe(expected);
  });

  test('names are compared in one form', () => {
    expect(['A.B.', '[::1]', 'ÄÖ.de', 'a/b'].map(normalizeHost)).toEqual(['a.b', '::1', 'xn--4ca0b.de', null]);
  });
});

describe('addresses', () => {
  test.each([
    '127.0.0.1',
    '127.8.8.8',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '::1',
    '::',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '64:ff9b::7f00:1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2001:0:1::1',
    'not an address',
    '',
  ])('%s is not public', address => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['93.184.216.34', '172.32.0.1', '8.8.8.8', '2606:2800:220:1::1', '::ffff:8.8.8.8'])(
    '%s is public',
    address => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

/** Names and where they lead; every public address is the local server. */
function dialer(port: number): Dialer {
  const names: Record<string, string[]> = {
    'good.test': ['93.184.216.34'],
    'rebind.test': ['127.0.0.1'],
    'mixed.test': ['10.0.0.1', '93.184.216.34'],
    'metadata.test': ['169.254.169.254'],
  };
  return {
    lookup: async host => {
      const addresses = names[host];
      if (!addresses) throw new Error('not found');
      return addresses;
    },
    connect: address => {
      dialed.push(address);
      return connect(port, '127.0.0.1');
    },
  };
}

const dialed: string[] = [];

async function originServer() {
  const server = createServer((incoming, response) =>
    response.end(`${incoming.method} ${incoming.url} ${incoming.headers.host}`),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

describe('the proxy', () => {
  let origin: Awaited<ReturnType<typeof originServer>>;
  let folder: string;
  let proxy: InstanceType<DomainProxyParts['DomainProxy']>;
  let password: string;
  const denials: object[] = [];
  const lists = { allow: ['**.test'], deny: ['no.test'] };

  beforeEach(async () => {
    denials.length = 0;
    dialed.length = 0;
    origin = await originServer();
    folder = mkdtempSync(join(tmpdir(), 'oi-proxy-'));
    proxy = new DomainProxy(dialer(origin.port));
    await proxy.listen(join(folder, 's'));
    ({ password } = proxy.admit({ lists, onDenied: denial => denials.push(denial) }));
  });

  afterEach(() => {
    proxy.close();
    origin.server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const authorization = (secret: string) => `Basic ${Buffer.from(`sandbox:${secret}`).toString('base64')}`;

  function get(url: string, secret = password): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { socketPath: join(folder, 's'), path: url, headers: { 'proxy-authorization': authorization(secret) } },
        response => {
          let body = '';
          response.on('data', chunk => {
            body += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        },
      );
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  /** The status line of a CONNECT, and what an HTTP request through the tunnel answers. */
  async function tunnel(target: string, secret = password): Promise<string> {
    const socket = connect(join(folder, 's'));
    socket.write(
      `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${authorization(secret)}\r\n\r\n`,
    );
    return exchange(socket);
  }

  /** Sends a request once the way is open; all that comes back. */
  async function exchange(socket: Socket): Promise<string> {
    let text = '';
    socket.on('data', chunk => {
      const first = text === '';
      text += chunk;
      if (first && / 200 /.test(text)) socket.write('GET /t HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n\r\n');
    });
    await once(socket, 'close');
    return text;
  }

  async function socks(host: string, secret = password): Promise<{ code: number | undefined; body: string }> {
    const socket = connect(join(folder, 's'));
    const received: Buffer[] = [];
    socket.on('data', chunk => received.push(chunk));
    const name = Buffer.from(host);
    const auth = Buffer.from(secret);
    socket.write(Buffer.from([5, 1, 2]));
    socket.write(Buffer.concat([Buffer.from([1, 1, 120, auth.length]), auth]));
    socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([0, 80])]));
    socket.write('GET /s HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    const all = Buffer.concat(received);
    return { code: all[5], body: all.subarray(14).toString() };
  }

  test('forwards plain requests, each one by its own name', async () => {
    expect(await get('http://good.test/a?b')).toEqual({ status: 200, body: 'GET /a?b good.test' });
    expect(dialed).toEqual(['93.184.216.34']);
  });

  test('makes tunnels', async () => {
    expect(await tunnel('good.test:443')).toMatch(/^HTTP\/1\.1 200 [^]*GET \/t inner$/);
  });

  test('speaks SOCKS5', async () => {
    const { code, body } = await socks('good.test');
    expect([code, body.endsWith('GET /s inner')]).toEqual([0, true]);
  });

  test('refuses names that are not allowed or denied, and reports them', async () => {
    expect(await get('http://other.example/')).toEqual({
      status: 403,
      body: 'The sandbox refused network access to other.example: it is not among the allowed domains.\n',
    });
    expect(await tunnel('no.test:443')).toMatch(/^HTTP\/1\.1 403 /);
    expect((await socks('other.example')).code).toBe(2);
    expect(denials).toEqual([
      { host: 'other.example', reason: 'it is not among the allowed domains', canBeAllowed: true },
      { host: 'no.test', reason: 'it is among the denied domains', canBeAllowed: false },
      { host: 'other.example', reason: 'it is not among the allowed domains', canBeAllowed: true },
    ]);
    expect(dialed).toEqual([]);
  });

  test('refuses allowed names that lead to this machine, its network or its cloud', async () => {
    expect(await tunnel('rebind.test:443')).toMatch(/ 403 [^]*127\.0\.0\.1, which is not on the public internet/);
    expect((await get('http://metadata.test/latest')).status).toBe(403);
    expect((await socks('metadata.test')).code).toBe(2);
    expect(dialed).toEqual([]);
  });

  test('connects to the address that was looked at, and only to public ones', async () => {
    await tunnel('mixed.test:443');
    expect(dialed).toEqual(['93.184.216.34']);
  });

  test('lets nobody in without the password, nor after the command has ended', async () => {
    expect((await get('http://good.test/', 'wrong')).status).toBe(407);
    expect(await tunnel('good.test:443', 'wrong')).toMatch(/^HTTP\/1\.1 407 /);
    expect((await socks('good.test', 'wrong')).code).toBe(2);
    const other = proxy.admit({ lists, onDenied: () => {} });
    other.close();
    expect((await get('http://good.test/', other.password)).status).toBe(407);
    expect(dialed).toEqual([]);
  });

  test('a name that cannot be resolved is an error of the gateway', async () => {
    expect((await get('http://unknown.test/')).status).toBe(502);
    expect((await socks('unknown.test')).code).toBe(1);
    expect(denials).toEqual([]);
  });

  test('nonsense ends the connection and nothing else', async () => {
    for (const bytes of ['\x05', '\x05\x01\x00', 'GET / HTTP/1.1\r\n\r\n', '\0\0\0']) {
      const socket = connect(join(folder, 's'));
      socket.resume();
      socket.end(bytes);
      await once(socket, 'close');
    }
    expect((await get('http://good.test/')).status).toBe(200);
  });
});

describeIf(['bubblewrap', 'socat', 'curl'], 'a command with a list of domains', () => {
  test('reaches those, is told which it may not reach, and nothing else', async () => {
    const origin = await originServer();
    const place = makePlace();
    const sandbox = openSandbox(place, { dialer: dialer(origin.port) });
    const policy = profile([entry('read', '/'), entry('write', place.ws)], {
      network: { type: 'domains', allow: ['good.test'], deny: [] },
    });
    const line = `curl -sS http://good.test/one; echo; curl -sS -p http://good.test/two; echo; curl -sS --proxy $ALL_PROXY http://good.test/three; echo; curl -s http://bad.test/; curl -s --noproxy '*' http://127.0.0.1:${origin.port}/ || echo closed; touch ok .git/x`;
    const ran = await run(sandbox, bash(place, line, { policy }));
    expect(ran.result).toEqual(exited(1));
    expect(ran.stdout).toBe(
      'GET /one good.test\nGET /two good.test\nGET /three good.test\nThe sandbox refused network access to bad.test: it is not among the allowed domains.\nclosed\n',
    );
    expect(ran.stderr).toContain(
      '[sandbox] Network access to bad.test was refused: it is not among the allowed domains. The caller can allow it with permissions.p.network.domains."bad.test" = "allow".\n',
    );
    expect(existsSync(join(place.ws, 'ok'))).toBe(true);
    origin.server.close();
  });

  test('still has a filter, no capabilities and no processes of others, and its exit code', async () => {
    const place = makePlace();
    const policy = profile([entry('read', '/')], { network: { type: 'domains', allow: [], deny: [] } });
    const line =
      "grep -E '^(CapEff|CapBnd|Seccomp):' /proc/self/status; cat /proc/[0-9]*/comm | grep -c socat; ls /dev/proxy.sock; exit 9";
    const ran = await run(openSandbox(place), bash(place, line, { policy }));
    expect(ran.result).toEqual(exited(9));
    expect(ran.stdout).toMatch(/^CapEff:\t0+\nCapBnd:\t0+\nSeccomp:\t2\n0\n$/);
  });
});

describeIf('bubblewrap', 'a command with a list of domains on a machine without socat', () => {
  test('is not run, and the message tells how to get it', async () => {
    const place = makePlace();
    const bin = mkdtempSync(join(place.root, 'bin-'));
    for (const name of ['bwrap', 'mkfifo']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    const policy = profile([entry('read', '/')], { network: { type: 'domains', allow: [], deny: [] } });
    const ran = await run(openSandbox(place, { env: { PATH: bin } }), bash(place, 'true', { policy }));
    expect(ran.result).toMatchObject({ type: 'not_started', message: /needs socat.*apt-get install socat/ });
  });
});
