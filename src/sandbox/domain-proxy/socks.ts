/** The server side of SOCKS5 (RFC 1928, 1929): CONNECT only, with user name and password. */
import type { Socket } from 'node:net';
import type { ByteReader } from './byte-reader.js';

export type SocksRequest = { readonly host: string; readonly port: number; readonly password: string };

/** Reply codes. */
export const SOCKS_REPLY = { ok: 0, failed: 1, denied: 2, unsupported: 7 } as const;

const VERSION = 5;
const USER_PASSWORD = 2;
const NO_METHOD = 0xff;
const CONNECT = 1;

/** Null when the client speaks something else; it has been told so and is gone. `reader` stands at the first byte. */
export async function readSocksRequest(socket: Socket, reader: ByteReader): Promise<SocksRequest | null> {
  const [, methodCount = 0] = await reader.take(2);
  const methods = await reader.take(methodCount);
  if (!methods.includes(USER_PASSWORD)) {
    socket.end(Buffer.from([VERSION, NO_METHOD]));
    return null;
  }
  socket.write(Buffer.from([VERSION, USER_PASSWORD]));
  await reader.take(1);
  await readText(reader);
  const password = await readText(reader);
  socket.write(Buffer.from([1, 0]));
  const [, command] = await reader.take(3);
  const host = await readHost(reader);
  const port = (await reader.take(2)).readUInt16BE();
  if (command === CONNECT && host !== null) return { host, port, password };
  replySocks(socket, SOCKS_REPLY.unsupported);
  socket.end();
  return null;
}

export function replySocks(socket: Socket, code: number): void {
  // The bound address is of no use to anybody: zeros.
  socket.write(Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]));
}

async function readHost(reader: ByteReader): Promise<string | null> {
  const type = (await reader.take(1)).readUInt8();
  switch (type) {
    case 1:
      return [...(await reader.take(4))].join('.');
    case 3:
      return readText(reader);
    case 4: {
      const bytes = await reader.take(16);
      return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16)).join(':');
    }
    default:
      return null;
  }
}

async function readText(reader: ByteReader): Promise<string> {
  const [length = 0] = await reader.take(1);
  return (await reader.take(length)).toString('utf8');
}
