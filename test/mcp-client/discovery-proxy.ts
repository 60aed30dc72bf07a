/** Stands before a server that knows the calls of 2026-07-28 but not `server/discover`, and answers that one question. */
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function startDiscoveryProxy(address: string): Promise<{ url: string; close: () => void }> {
  const target = new URL(address);
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const message = body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as { id?: number; method?: string });
      if (message.method === 'server/discover') {
        const result = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
        return;
      }
      const onward = send(
        target,
        { method: request.method, headers: { ...request.headers, host: target.host } },
        answer => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.writeHead(502).end());
      onward.end(body);
    })();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
