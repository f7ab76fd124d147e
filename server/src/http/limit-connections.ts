import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Service } from '../service.ts';
import { hasRequestInWork } from './bound-pipelining.ts';

const makeRoomEveryMs = 1_000;

/** How many connections there may be, and how long one may leave its answer unread. */
export function limitConnections(server: Server, service: Service): void {
  const { maxConnections, drainTimeoutMs, metrics } = service;
  let madeRoomAtMs = Number.NEGATIVE_INFINITY;
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    metrics.connectionsCut.inc({ reason: 'too_many' });
    // Whoever is idle can connect again; whoever comes now has something to ask.
    if (performance.now() - madeRoomAtMs < makeRoomEveryMs) return;
    madeRoomAtMs = performance.now();
    server.closeIdleConnections();
  });
  // Node counts as progress what the system takes off a write under way, so a slow reader is not cut, only one that stopped.
  server.setTimeout(drainTimeoutMs, (socket: Socket) => {
    const isUnread = socket.writableLength > 0;
    if (isUnread) metrics.connectionsCut.inc({ reason: 'unread' });
    // With a listener, Node leaves it to us to close connections that were kept alive for too long as well. A request that is
    // being sent or worked on has limits of its own.
    if (isUnread || !hasRequestInWork(socket)) socket.destroy();
  });
}
