import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Incoming = { headers: IncomingHttpHeaders; body: Buffer };
export type Answer = { status: number; headers?: Record<string, string>; body?: Buffer | string };

export type Receiver = { url: string; stop(): void };

// Four times what the service itself takes for a body.
const largestBodyBytes = 1024 * 1024;

/**
 * A receiver on this machine only, at a path that nobody guesses. `GET` there answers the path's own word: that is how
 * another `listen` knows that this one is alive.
 */
export async function startReceiver(
  word: string,
  handle: (incoming: Incoming) => Promise<Answer>,
): Promise<Receiver> {
  const server = createServer((request, response) => {
    answer(request, word, handle).then(
      (given) => send(response, given),
      () => send(response, { status: 500 }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${word}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  word: string,
  handle: (incoming: Incoming) => Promise<Answer>,
): Promise<Answer> {
  if (request.url !== `/${word}`) return { status: 404 };
  if (request.method === 'GET') return { status: 200, body: word };
  if (request.method !== 'POST') return { status: 405, headers: { Allow: 'GET, POST' } };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBodyBytes) return { status: 413, headers: { Connection: 'close' } };
    chunks.push(chunk);
  }
  return handle({ headers: request.headers, body: Buffer.concat(chunks) });
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, headers).end(body);
}
