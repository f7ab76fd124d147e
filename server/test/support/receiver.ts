import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stopServer } from './stop-server.ts';

type Received = { atMs: number; headers: IncomingHttpHeaders; body: string; path: string };

type Answer = (response: ServerResponse, received: Received, count: number) => void;

export type Receiver = {
  url: string;
  received: Received[];
  answer(next: Answer): void;
  stop(): Promise<void>;
};

/** A customer's server: records requests, and answers 200 unless `answer` replaces that. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let answer: Answer = (response) => response.end('ok');
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const got = {
        atMs: performance.now(),
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        path: request.url ?? '',
      };
      received.push(got);
      answer(response, got, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (next) => {
      answer = next;
    },
    stop: () => stopServer(server),
  };
}
