/** A webhook receiver in a process of its own: answers 200 at once, and remembers what came when. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTasks } from '../support/child.ts';

const receipts = new Map<string, { count: number; atMs: number }>();
let total = 0;
let awaited = { count: Number.POSITIVE_INFINITY, tell: () => {} };

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const id = String(request.headers['webhook-id']);
    const known = receipts.get(id);
    if (known) known.count += 1;
    else receipts.set(id, { count: 1, atMs: performance.timeOrigin + performance.now() });
    response.end();
    total += 1;
    if (total === awaited.count) awaited.tell();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');

answerTasks({
  address: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  forget() {
    receipts.clear();
    total = 0;
  },
  /** Resolves when this many have come since the last `forget`, or with how many did in the time given. */
  async wait({ count, patienceMs }: { count: number; patienceMs: number }) {
    if (total < count) {
      await new Promise<void>((resolve) => {
        const giveUp = setTimeout(resolve, patienceMs);
        awaited = {
          count,
          tell() {
            clearTimeout(giveUp);
            resolve();
          },
        };
      });
    }
    return { total, distinct: receipts.size };
  },
  receipts: () => [...receipts].map(([id, { atMs }]) => ({ id, atMs })),
});
