import type { Socket } from 'node:net';
import type { Phase } from './bound-pipelining.ts';

export type ConnectionsByAddress = {
  count(): number;
  /** Adds a connection, or moves it to another address. Returns how many that address has. */
  put(socket: Socket, address: string): number;
  remove(socket: Socket): void;
  /** The oldest connection of the socket's address in one of these phases, the first phase first. Never the socket itself. */
  oldestBeside(socket: Socket, phases: readonly Phase[]): Socket | undefined;
  /** Up to `count` connections of the address that takes most room, those with an unfinished request first, then by age. */
  ofBusiestAddress(count: number): Socket[];
};

/** Open connections by the address of the client, oldest first. Those with a request in work are never chosen. */
export function createConnectionsByAddress(phaseOf: (socket: Socket) => Phase): ConnectionsByAddress {
  const socketsOf = new Map<string, Set<Socket>>();
  const addressOf = new Map<Socket, string>();

  function remove(socket: Socket): void {
    const address = addressOf.get(socket);
    if (address === undefined) return;
    addressOf.delete(socket);
    const sockets = socketsOf.get(address);
    sockets?.delete(socket);
    if (sockets?.size === 0) socketsOf.delete(address);
  }

  return {
    count: () => addressOf.size,
    put(socket, address) {
      remove(socket);
      const sockets = socketsOf.get(address) ?? new Set();
      socketsOf.set(address, sockets.add(socket));
      addressOf.set(socket, address);
      return sockets.size;
    },
    remove,
    oldestBeside(socket, phases) {
      const sockets = socketsOf.get(addressOf.get(socket) ?? '') ?? [];
      for (const phase of phases) {
        for (const one of sockets) if (one !== socket && phaseOf(one) === phase) return one;
      }
      return undefined;
    },
    ofBusiestAddress(count) {
      const choices = [...socketsOf.values()].map((sockets) => {
        const receiving = [...sockets].filter((socket) => phaseOf(socket) === 'receiving');
        const idle = [...sockets].filter((socket) => phaseOf(socket) === 'idle');
        return { receiving, all: [...receiving, ...idle] };
      });
      // A client that just connected is also receiving, so a few of these do not make an address the busiest.
      const hasMany = choices.filter(({ receiving }) => receiving.length >= count);
      const busiest =
        hasMany.length > 0
          ? mostOf(hasMany.map(({ receiving }) => receiving))
          : mostOf(choices.map(({ all }) => all));
      return busiest.slice(0, count);
    },
  };
}

function mostOf(lists: Socket[][]): Socket[] {
  return lists.reduce((most, list) => (list.length > most.length ? list : most), []);
}
