import type { Socket } from 'node:net';

export type SilentConnections = {
  add(socket: Socket): void;
  remove(socket: Socket): void;
  /** Up to `count` connections of the address that has the most, oldest first. */
  ofBusiestAddress(count: number): Socket[];
};

/**
 * Connections that have not yet sent a complete request header. Node does not count them as idle, so it has no way to close
 * them. The connection limit bounds their number.
 */
export function createSilentConnections(): SilentConnections {
  const silent = new Set<Socket>(); // in insertion order

  return {
    add: (socket) => void silent.add(socket),
    remove: (socket) => void silent.delete(socket),
    ofBusiestAddress(count) {
      // Read only here, because the first read of the address costs a system call.
      const byAddress = new Map<string | undefined, Socket[]>();
      for (const socket of silent) {
        const sameAddress = byAddress.get(socket.remoteAddress);
        if (sameAddress) sameAddress.push(socket);
        else byAddress.set(socket.remoteAddress, [socket]);
      }
      let most: Socket[] = [];
      for (const sockets of byAddress.values()) if (sockets.length > most.length) most = sockets;
      return most.slice(0, count);
    },
  };
}
