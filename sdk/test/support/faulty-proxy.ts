import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stopServer } from '../../../server/test/support/stop-server.ts';

/** Faults for one request. With `lost`, the request reaches the service but the client never gets the full response. */
export const faults = [
  'reset before',
  'lost: reset',
  'lost: cut in the middle',
  'lost: hangs',
  'hangs before',
  '500 before',
  'lost: 502 page',
  '503 before',
  '429 with Retry-After',
] as const;

export type Fault = (typeof faults)[number];

/** A Retry-After longer than any call waits. */
type Refusal = '429 for an hour';

export type FaultyProxy = {
  url: string;
  plan: (Fault | Refusal | null)[];
  requests: number;
  stop(): Promise<void>;
};

/** A proxy that applies the faults in `plan` to successive requests, then forwards unchanged. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const server = createServer((request, response) => {
    proxy.requests += 1;
    serve(proxy.plan.shift() ?? null, request, response, target).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan: [],
    requests: 0,
    stop: () => stopServer(server),
  };
  return proxy;
}

async function serve(
  fault: Fault | Refusal | null,
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
): Promise<void> {
  switch (fault) {
    case 'reset before':
      request.socket.resetAndDestroy();
      return;
    case 'hangs before':
      return;
    case '500 before':
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":{"type":"api_error","code":"internal","message":"Internal error."}}');
      return;
    case '503 before':
      response.writeHead(503, { 'retry-after': '0' }).end();
      return;
    case '429 with Retry-After':
    case '429 for an hour':
      response.writeHead(429, {
        'content-type': 'application/json',
        'retry-after': fault === '429 for an hour' ? '3600' : '1',
      });
      response.end('{"error":{"type":"rate_limit_error","code":"rate_limited","message":"Slower."}}');
      return;
  }
  const answer = await forward(request, target);
  switch (fault) {
    case 'lost: reset':
      request.socket.resetAndDestroy();
      return;
    case 'lost: hangs':
      return;
    case 'lost: 502 page':
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
      return;
    case 'lost: cut in the middle':
      response.writeHead(answer.status, answer.headers);
      response.write(answer.body.subarray(0, answer.body.length / 2), () => response.socket?.destroy());
      return;
    default:
      response.writeHead(answer.status, answer.headers).end(answer.body);
  }
}

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

function forward(request: IncomingMessage, target: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, headers, url } = request;
    const forwarded = httpRequest(target + url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    forwarded.on('error', reject);
    request.pipe(forwarded);
  });
}
