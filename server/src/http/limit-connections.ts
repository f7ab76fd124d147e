import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Service } from '../service.ts';
import { hasRequestInWork } from './bound-pipelining.ts';
import { createSilentConnections } from './silent-connections.ts';

const closeIdleEveryMs = 1_000;

// How much room a refused connection makes for those after it. One place would go to whoever connects fastest.
const roomShare = 0.1;

/** How many connections there may be, and how long one may leave its answer unread. */
export function limitConnections(server: Server, service: Service): void {
  const { maxConnections, drainTimeoutMs, metrics } = service;
  server.maxConnections = maxConnections;
  makeRoomWhenFull(server, service);
  // Node counts as progress what the system takes off a write under way, so a slow reader is not cut, only one that stopped.
  server.setTimeout(drainTimeoutMs, (socket: Socket) => {
    const isUnread = socket.writableLength > 0;
    if (isUnread) metrics.connectionsCut.inc({ reason: 'unread' });
    // With a listener, Node leaves it to us to close connections that were kept alive for too long as well. A request that is
    // being sent or worked on has limits of its own.
    if (isUnread || !hasRequestInWork(socket)) socket.destroy();
  });
}

/**
 * Node refuses the connection that is too many; this makes room for the next. Connections that never asked for anything give
 * way first. Idle ones give way only when that was not enough: they belong to clients that were served.
 */
function makeRoomWhenFull(server: Server, { maxConnections, metrics }: Service): void {
  const silent = createSilentConnections();
  const room = Math.ceil(maxConnections * roomShare);
  let closing = 0;
  let closedIdleAtMs = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.remove(socket));
  });
  server.on('request', ({ socket }) => silent.remove(socket));
  server.on('drop', () => {
    metrics.connectionsCut.inc({ reason: 'too_many' });
    if (closing > 0) return; // Node counts them until they are closed
    const chosen = silent.ofBusiestAddress(room);
    closing = chosen.length;
    for (const socket of chosen) {
      socket.once('close', () => {
        closing -= 1;
      });
      socket.destroy();
      metrics.connectionsCut.inc({ reason: 'too_many' });
    }
    if (chosen.length === room || performance.now() - closedIdleAtMs < closeIdleEveryMs) return;
    closedIdleAtMs = performance.now();
    server.closeIdleConnections();
  });
}
