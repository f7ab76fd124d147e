import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Service } from '../service.ts';
import { hasRequestInWork } from './bound-pipelining.ts';
import { createSilentConnections } from './silent-connections.ts';

const closeIdleEveryMs = 1_000;

// Share of connections to close when one is refused. A single free slot would go to the client that connects fastest.
const evictedShare = 0.1;

/** Limits the number of connections and how long a client may leave a response unread. */
export function limitConnections(server: Server, service: Service): void {
  const { maxConnections, drainTimeoutMs, metrics } = service;
  server.maxConnections = maxConnections;
  makeRoomWhenFull(server, service);
  // Node resets this timeout whenever the kernel takes some of a pending write, so only a client that stopped reading is cut.
  server.setTimeout(drainTimeoutMs, (socket: Socket) => {
    const isUnread = socket.writableLength > 0;
    if (isUnread) metrics.connectionsCut.inc({ reason: 'unread' });
    // With this listener, Node no longer closes expired keep-alive connections, so we do. A request that is being received or
    // processed has its own timeouts.
    if (isUnread || !hasRequestInWork(socket)) socket.destroy();
  });
}

/**
 * Node refuses connections over the limit; this makes room for the next ones. Connections that never sent a request are closed
 * first. Idle ones are closed only if that was not enough, because they belong to real clients.
 */
function makeRoomWhenFull(server: Server, { maxConnections, metrics }: Service): void {
  const silent = createSilentConnections();
  const evictCount = Math.ceil(maxConnections * evictedShare);
  let closing = 0;
  let closedIdleAtMs = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.remove(socket));
  });
  server.on('request', ({ socket }) => silent.remove(socket));
  server.on('drop', () => {
    metrics.connectionsCut.inc({ reason: 'too_many' });
    if (closing > 0) return; // Node counts them until they have closed
    const chosen = silent.ofBusiestAddress(evictCount);
    closing = chosen.length;
    for (const socket of chosen) {
      socket.once('close', () => {
        closing -= 1;
      });
      socket.destroy();
      metrics.connectionsCut.inc({ reason: 'too_many' });
    }
    if (chosen.length === evictCount || performance.now() - closedIdleAtMs < closeIdleEveryMs) return;
    closedIdleAtMs = performance.now();
    server.closeIdleConnections();
  });
}
