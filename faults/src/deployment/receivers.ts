import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { History, Receipt } from '../history/history.ts';
import { createRandom, type Random } from '../random.ts';

/** How an endpoint's receiver answers until it is healed: always well, at random, or never well. */
export type Reliability = 'reliable' | 'flaky' | 'dead';

export type Receivers = {
  /** The URL for an endpoint of this name. */
  urlOf(account: number, hook: string, reliability: Reliability): string;
  /** From now on every delivery is acknowledged. */
  heal(): void;
  stop(): Promise<void>;
};

/** The customers' webhook receivers: they record deliveries, and hang, refuse or reset as the seed decides. */
export async function startReceivers(
  history: History,
  seed: number,
  tls?: { key: string; cert: string },
): Promise<Receivers> {
  const unanswered = new Set<ServerResponse>();
  const randoms = new Map<string, Random>();
  let isHealed = false;

  function behaviorOf(hook: string, reliability: Reliability): string {
    if (isHealed || reliability === 'reliable') return 'ok';
    let random = randoms.get(hook);
    if (!random) {
      random = createRandom(seed, `receiver ${hook}`);
      randoms.set(hook, random);
    }
    const choices = reliability === 'dead' ? failures : { ...failures, ...successes };
    return random.pick(Object.keys(choices));
  }

  function receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const [, account, reliability, hook = ''] = (request.url ?? '').split('/');
      const behavior = behaviorOf(hook, reliability as Reliability);
      const receipt: Receipt = {
        account: Number(account),
        hook,
        atMs: Date.now(),
        body: Buffer.concat(chunks).toString(),
        headers: signatureHeadersOf(request),
        behavior,
        isAcknowledged: false,
      };
      history.receipts.push(receipt);
      unanswered.add(response);
      response.on('close', () => unanswered.delete(response));
      respond(behavior, response, receipt);
    });
  }

  const server = tls ? createTlsServer(tls, receive) : createServer(receive);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (account, hook, reliability) =>
      `${tls ? 'https' : 'http'}://127.0.0.1:${port}/${account}/${reliability}/${hook}`,
    heal() {
      isHealed = true;
      for (const response of unanswered) response.destroy(); // otherwise hanging requests would wait for their timeout
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Behavior = (response: ServerResponse, ack: (status: number, body?: string | Buffer) => void) => void;

const successes: Record<string, Behavior> = {
  ok: (_, ack) => ack(200, 'ok'),
  garbage: (_, ack) => ack(200, '{"error": not JSON, and no error either'),
  created: (_, ack) => ack(201),
  slow: (_, ack) => void setTimeout(ack, 200, 200, 'ok').unref(),
  huge: (_, ack) => ack(200, Buffer.alloc(1_000_000, 'x')),
};

const failures: Record<string, Behavior> = {
  broken: (response) => response.writeHead(500).end('no'),
  missing: (response) => response.writeHead(404).end(),
  redirect: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  // A TLS socket cannot be reset, only closed.
  reset: ({ socket }) => void (socket instanceof TLSSocket ? socket.destroy() : socket?.resetAndDestroy()),
  nonsense: (response) => response.socket?.end('this is not HTTP\r\n\r\n'),
  hang: () => {},
};

function respond(name: string, response: ServerResponse, receipt: Receipt): void {
  const behavior = successes[name] ?? failures[name];
  behavior?.(response, (status, body) => {
    receipt.isAcknowledged = true;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
}

function signatureHeadersOf({ headers }: IncomingMessage): Record<string, string> {
  const names = ['service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
}
