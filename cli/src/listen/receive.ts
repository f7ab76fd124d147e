import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Incoming = { headers: IncomingHttpHeaders; body: Buffer };
export type Answer = { status: number; headers?: Record<string, string>; body?: Buffer | string };

export type Receiver = { url: string; stop(): void };

// Four times the service's own body limit.
const maxBodyBytes = 1024 * 1024;

/**
 * Listens on loopback, at a path that is an unguessable token. `GET` on that path returns the token, so another `listen`
 * can tell that this one is alive.
 */
export async function startReceiver(
  token: string,
  handle: (incoming: Incoming) => Promise<Answer>,
): Promise<Receiver> {
  const server = createServer((request, response) => {
    answer(request, token, handle).then(
      (answered) => send(response, answered),
      () => send(response, { status: 500 }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${token}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  token: string,
  handle: (incoming: Incoming) => Promise<Answer>,
): Promise<Answer> {
  if (request.url !== `/${token}`) return { status: 404 };
  if (request.method === 'GET') return { status: 200, body: token };
  if (request.method !== 'POST') return { status: 405, headers: { Allow: 'GET, POST' } };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return { status: 413, headers: { Connection: 'close' } };
    chunks.push(chunk);
  }
  return handle({ headers: request.headers, body: Buffer.concat(chunks) });
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, headers).end(body);
}
