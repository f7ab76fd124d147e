import { Socket } from 'node:net';

// Smaller ones are not counted: a connection has one response at a time, so the connection limit bounds them.
const countedFromBytes = 16 * 1024;

// A page of 100 executions has 28 kB, so this much is unread only if clients do not read.
const budgetBytes = 32 * 1024 * 1024;

export type UnreadAnswers = {
  /** Call before a response is written. */
  add(socket: Socket, bytes: number): void;
  /** Call when the response was written or its connection closed. */
  remove(socket: Socket): void;
};

/**
 * Tracks large responses that the kernel has not yet taken. Over the budget, the oldest are cut: a client that reads has
 * received its response long before, so the oldest belong to clients that do not read.
 */
export function createUnreadAnswers(onCut: () => void): UnreadAnswers {
  const unread = new Map<Socket, number>(); // in insertion order
  let totalBytes = 0;

  function remove(socket: Socket): void {
    const bytes = unread.get(socket);
    if (bytes === undefined) return;
    unread.delete(socket);
    totalBytes -= bytes;
  }

  return {
    add(socket, bytes) {
      if (bytes < countedFromBytes) return;
      // A closed socket holds no memory, and its entry would never be removed. A call from /mcp has no real socket.
      if (!(socket instanceof Socket) || socket.destroyed) return;
      remove(socket);
      unread.set(socket, bytes);
      totalBytes += bytes;
      while (totalBytes > budgetBytes && unread.size > 1) {
        const oldest = unread.keys().next().value as Socket;
        remove(oldest);
        oldest.destroy();
        onCut();
      }
    },
    remove,
  };
}
