import type { Socket } from 'node:net';

export type SilentConnections = {
  add(socket: Socket): void;
  remove(socket: Socket): void;
  /** At most so many of the address that has most of them, oldest first. */
  ofBusiestAddress(count: number): Socket[];
};

/**
 * Connections that have not sent the whole head of a request yet. Node does not count them as idle, so it offers no way to
 * close them. There are never more than there may be connections.
 */
export function createSilentConnections(): SilentConnections {
  const silent = new Set<Socket>(); // a set keeps the order of insertion

  return {
    add: (socket) => void silent.add(socket),
    remove: (socket) => void silent.delete(socket),
    ofBusiestAddress(count) {
      // The address is asked for only here: it costs a system call the first time.
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
