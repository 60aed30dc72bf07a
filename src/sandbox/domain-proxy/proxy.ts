/**
 * The proxy between sandboxed commands and the domains they may reach: HTTP (CONNECT and plain) and SOCKS5 on one unix
 * socket. Each command has a password of its own, which tells its lists and where to report a denial.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ByteReader } from './byte-reader.js';
import type { DomainLists } from './domains.js';
import { type Dialer, openPassage, type Passage, type PassageDenial } from './gate.js';
import { readSocksRequest, replySocks, SOCKS_REPLY } from './socks.js';

export type ProxyClient = {
  readonly lists: DomainLists;
  /** Called for every refused connection. */
  readonly onDenied: (denial: PassageDenial) => void;
};

export type Admission = { readonly password: string; close(): void };

type Session = ProxyClient & { readonly sockets: Set<Duplex> };

export class DomainProxy {
  readonly #dialer: Dialer;
  readonly #sessions = new Map<string, Session>();
  readonly #http: Server;
  readonly #server: NetServer;

  constructor(dialer: Dialer) {
    this.#dialer = dialer;
    this.#http = createServer((incoming, response) => void this.#forward(incoming, response));
    this.#http.on('connect', (incoming, socket, head) => void this.#tunnel(incoming, socket, head));
    this.#server = createNetServer({ pauseOnConnect: false }, socket => void this.#greet(socket));
  }

  /** Starts listening: on the path of a unix socket, or on a free port of the loopback. Resolves to that port or 0. */
  listen(path: string | null): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path === null ? { host: '127.0.0.1', port: 0 } : { path }, () => {
        this.#server.unref();
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }

  /** Lets a command in until the admission is closed; its connections end then. */
  admit(client: ProxyClient): Admission {
    const password = randomBytes(16).toString('hex');
    const session = { ...client, sockets: new Set<Duplex>() };
    this.#sessions.set(password, session);
    return {
      password,
      close: () => {
        this.#sessions.delete(password);
        for (const socket of session.sockets) socket.destroy();
      },
    };
  }

  close(): void {
    for (const session of this.#sessions.values()) for (const socket of session.sockets) socket.destroy();
    this.#sessions.clear();
    this.#server.close();
    this.#http.closeAllConnections();
  }

  async #greet(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const reader = new ByteReader(socket);
    try {
      if ((await reader.peek()) !== 5) {
        reader.release();
        this.#http.emit('connection', socket);
        return;
      }
      await this.#socks(socket, reader);
    } catch {
      // The client went away, or sent nonsense: there is nobody to tell.
      socket.destroy();
    }
  }

  async #socks(socket: Socket, reader: ByteReader): Promise<void> {
    const asked = await readSocksRequest(socket, reader);
    if (asked === null) return;
    const session = this.#sessions.get(asked.password);
    if (!session) {
      replySocks(socket, SOCKS_REPLY.denied);
      socket.end();
      return;
    }
    const passage = await this.#open(session, asked.host, asked.port);
    switch (passage.type) {
      case 'open':
        replySocks(socket, SOCKS_REPLY.ok);
        reader.release();
        join(socket, passage.socket, session);
        return;
      case 'denied':
      case 'failed':
        replySocks(socket, passage.type === 'denied' ? SOCKS_REPLY.denied : SOCKS_REPLY.failed);
        socket.end();
    }
  }

  async #tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const session = this.#sessionOf(incoming);
    if (!session) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="sandbox"\r\n\r\n');
      return;
    }
    const target = splitHostPort(incoming.url ?? '');
    const passage: Passage = target
      ? await this.#open(session, target.host, target.port)
      : { type: 'failed', message: `${incoming.url} is no host and port` };
    if (passage.type !== 'open') {
      const [status, text] = refusalOf(passage);
      const body = `${text}\n`;
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
      return;
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) passage.socket.write(head);
    join(socket, passage.socket, session);
  }

  /** A plain `http://` request: each one is looked at, also on a connection that stays open. */
  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = this.#sessionOf(incoming);
    if (!session) {
      response.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="sandbox"' }).end();
      return;
    }
    const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : null;
    if (url?.protocol !== 'http:') {
      response.writeHead(400).end('This is a proxy: ask it for absolute http:// addresses, or with CONNECT.\n');
      return;
    }
    const passage = await this.#open(session, url.hostname, Number(url.port || 80));
    if (passage.type !== 'open') {
      const [status, text] = refusalOf(passage);
      response.writeHead(Number.parseInt(status, 10), { 'Content-Type': 'text/plain' }).end(`${text}\n`);
      return;
    }
    relay(incoming, response, url, passage.socket);
    session.sockets.add(passage.socket);
    passage.socket.once('close', () => session.sockets.delete(passage.socket));
  }

  async #open(session: Session, host: string, port: number): Promise<Passage> {
    const passage = await openPassage(host, port, session.lists, this.#dialer);
    if (passage.type === 'denied') session.onDenied(passage.denial);
    return passage;
  }

  #sessionOf(incoming: IncomingMessage): Session | undefined {
    const [, encoded = ''] = /^Basic (.+)$/i.exec(incoming.headers['proxy-authorization'] ?? '') ?? [];
    const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
    return this.#sessions.get(password);
  }
}

function refusalOf(passage: Exclude<Passage, { type: 'open' }>): [string, string] {
  return passage.type === 'denied'
    ? ['403 Forbidden', `The sandbox refused network access to ${passage.denial.host}: ${passage.denial.reason}.`]
    : ['502 Bad Gateway', passage.message];
}

function relay(incoming: IncomingMessage, response: ServerResponse, url: URL, socket: Socket): void {
  const { 'proxy-authorization': _password, 'proxy-connection': _connection, ...headers } = incoming.headers;
  const outgoing = request(
    {
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, connection: 'close' },
      createConnection: () => socket,
    },
    answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** Connects both ends until one is gone; what is on its way still arrives. */
function join(client: Duplex, remote: Duplex, session: Session): void {
  for (const [socket, other] of [
    [client, remote],
    [remote, client],
  ] as const) {
    session.sockets.add(socket);
    socket.once('close', () => {
      session.sockets.delete(socket);
      other.end();
    });
    socket.on('error', () => other.destroy());
  }
  client.pipe(remote);
  remote.pipe(client);
}

function splitHostPort(text: string): { host: string; port: number } | null {
  const match = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text);
  return match?.[1] === undefined ? null : { host: match[1], port: Number(match[2]) };
}
