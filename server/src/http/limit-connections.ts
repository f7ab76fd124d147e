import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Service } from '../background/service.ts';
import { isInOneOf, requireCidr } from '../platform/addresses/in-networks.ts';
import { hasRequestInWork, phaseOf } from './bound-pipelining.ts';
import { createConnectionsByAddress } from './connections-by-address.ts';
import { networkOf } from './unknown-key-limit.ts';

// Share of connections to close when the process is full. Choosing them reads all connections, so it must not happen for each.
const evictedShare = 0.1;

export type ConnectionLimits = {
  /** Until its end, a request through a trusted proxy counts for its client, like a connection of that client. */
  beginRequest(request: FastifyRequest): void;
  endRequest(request: FastifyRequest): void;
};

/** Limits the number of connections and how long a client may leave a response unread. */
export function limitConnections(server: Server, service: Service): ConnectionLimits {
  // A client on a bad line reads something within seconds; one that reads nothing for so long is gone or hostile.
  const { drainTimeoutMs = 20_000, metrics } = service;
  // Node resets this timeout whenever the kernel takes some of a pending write, so only a client that stopped reading is cut.
  server.setTimeout(drainTimeoutMs, (socket: Socket) => {
    const isUnread = socket.writableLength > 0;
    if (isUnread) metrics.connectionsCut.inc({ reason: 'unread' });
    // With this listener, Node no longer closes expired keep-alive connections, so we do. A request that is being received or
    // processed has its own timeouts.
    if (isUnread || !hasRequestInWork(socket)) socket.destroy();
  });
  return shareConnections(server, service);
}

/**
 * A new connection is refused only if requests are in work on all others. At the limit of its address it replaces the oldest
 * of that address whose request is unfinished, or an idle one; if the process is full, the address with most makes room.
 * Node's own limit would refuse the new connection, whoever holds the others.
 */
function shareConnections(server: Server, service: Service): ConnectionLimits {
  const { maxConnections, maxConnectionsPerAddress, metrics } = service;
  const trusted = service.trustedProxies.map(requireCidr);
  const proxied = new WeakSet<Socket>();
  const connections = createConnectionsByAddress(phaseOf);
  const evictCount = Math.ceil(maxConnections * evictedShare);

  function cut(socket: Socket, reason: 'too_many' | 'too_many_of_address'): void {
    connections.remove(socket);
    socket.destroy();
    metrics.connectionsCut.inc({ reason });
  }

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (connections.count() >= maxConnections) {
      for (const one of connections.ofBusiestAddress(evictCount)) cut(one, 'too_many');
      if (connections.count() >= maxConnections) return cut(socket, 'too_many');
    }
    socket.once('close', () => connections.remove(socket));
    // An IPv4 address may come in IPv6 notation.
    if (isInOneOf(trusted, address.replace(/^::ffff:/, ''))) {
      proxied.add(socket);
      connections.put(socket, proxyName);
    } else if (connections.put(socket, networkOf(address)) > maxConnectionsPerAddress) {
      cut(connections.oldestBeside(socket, ['receiving', 'idle']) ?? socket, 'too_many_of_address');
    }
  });

  return {
    beginRequest({ raw: { socket }, ip }) {
      if (!proxied.has(socket) || socket.destroyed) return;
      if (connections.put(socket, networkOf(ip)) <= maxConnectionsPerAddress) return;
      const oldest = connections.oldestBeside(socket, ['receiving']);
      if (oldest) cut(oldest, 'too_many_of_address');
    },
    endRequest({ raw: { socket } }) {
      if (!proxied.has(socket) || socket.destroyed) return;
      // A request that was refused early still counts for its client while its body arrives.
      if (phaseOf(socket) !== 'receiving') connections.put(socket, proxyName);
    },
  };
}

/** Stands for all proxies: their connections that have no request count for no client. */
const proxyName = 'proxy';
