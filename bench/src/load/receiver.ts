/** A webhook receiver; runs as a child process. Answers 200 at once and records the time of each event. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveTasks } from '../support/child.ts';

const receipts = new Map<string, { count: number; atMs: number }>();
let total = 0;
let waiter = { count: Number.POSITIVE_INFINITY, resolve: () => {} };

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const id = String(request.headers['webhook-id']);
    const known = receipts.get(id);
    if (known) known.count += 1;
    else receipts.set(id, { count: 1, atMs: performance.timeOrigin + performance.now() });
    response.end();
    total += 1;
    if (total === waiter.count) waiter.resolve();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');

serveTasks({
  address: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  reset() {
    receipts.clear();
    total = 0;
  },
  /** Resolves when `count` deliveries have arrived since the last `reset`, or after the timeout. */
  async wait({ count, timeoutMs }: { count: number; timeoutMs: number }) {
    if (total < count) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        waiter = {
          count,
          resolve() {
            clearTimeout(timer);
            resolve();
          },
        };
      });
    }
    return { total, distinct: receipts.size };
  },
  receipts: () => [...receipts].map(([id, { atMs }]) => ({ id, atMs })),
});
