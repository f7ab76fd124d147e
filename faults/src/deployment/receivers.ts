import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { History, Receipt } from '../history/history.ts';
import { createRandom, type Random } from '../random.ts';

/** How the server behind one endpoint behaves until it is healed. */
export type Temper = 'good' | 'moody' | 'dead';

export type Receivers = {
  /** Where an endpoint of this name gets its deliveries. */
  urlOf(account: number, hook: string, temper: Temper): string;
  /** From now on every delivery is acknowledged. */
  heal(): void;
  stop(): Promise<void>;
};

/** The customers' servers: they keep what they get, and hang, lie, refuse and reset as the seed says. */
export async function startReceivers(history: History, seed: number): Promise<Receivers> {
  const unanswered = new Set<ServerResponse>();
  const randoms = new Map<string, Random>();
  let isHealed = false;

  function moodOf(hook: string, temper: Temper): string {
    if (isHealed || temper === 'good') return 'ok';
    let random = randoms.get(hook);
    if (!random) {
      random = createRandom(seed, `receiver ${hook}`);
      randoms.set(hook, random);
    }
    const moods = temper === 'dead' ? failures : { ...failures, ...successes };
    return random.pick(Object.keys(moods));
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const [, account, temper, hook = ''] = (request.url ?? '').split('/');
      const mood = moodOf(hook, temper as Temper);
      const receipt: Receipt = {
        account: Number(account),
        hook,
        atMs: Date.now(),
        body: Buffer.concat(chunks).toString(),
        headers: signatureHeadersOf(request),
        mood,
        isAcknowledged: false,
      };
      history.receipts.push(receipt);
      unanswered.add(response);
      response.on('close', () => unanswered.delete(response));
      behave(mood, response, receipt);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (account, hook, temper) => `http://127.0.0.1:${port}/${account}/${temper}/${hook}`,
    heal() {
      isHealed = true;
      for (const response of unanswered) response.destroy(); // those that hang would do so until they are given up
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Mood = (response: ServerResponse, acknowledge: (status: number, body?: string | Buffer) => void) => void;

const successes: Record<string, Mood> = {
  ok: (_, acknowledge) => acknowledge(200, 'ok'),
  garbage: (_, acknowledge) => acknowledge(200, '{"error": not JSON, and no error either'),
  created: (_, acknowledge) => acknowledge(201),
  slow: (_, acknowledge) => void setTimeout(acknowledge, 200, 200, 'ok').unref(),
  huge: (_, acknowledge) => acknowledge(200, Buffer.alloc(1_000_000, 'x')),
};

const failures: Record<string, Mood> = {
  broken: (response) => response.writeHead(500).end('no'),
  missing: (response) => response.writeHead(404).end(),
  redirect: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  reset: (response) => response.socket?.resetAndDestroy(),
  nonsense: (response) => response.socket?.end('this is not HTTP\r\n\r\n'),
  hang: () => {},
};

function behave(name: string, response: ServerResponse, receipt: Receipt): void {
  const mood = successes[name] ?? failures[name];
  mood?.(response, (status, body) => {
    receipt.isAcknowledged = true;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
}

function signatureHeadersOf({ headers }: IncomingMessage): Record<string, string> {
  const names = ['service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
}
