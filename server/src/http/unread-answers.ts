import { Socket } from 'node:net';

// Smaller ones are not counted: a connection has one answer at a time, so they are bounded by the number of connections.
const countedFromBytes = 16 * 1024;

// A page of 100 executions has 28 kB: so much is only ever unread together when clients do not read.
const budgetBytes = 32 * 1024 * 1024;

export type UnreadAnswers = {
  /** An answer is about to be written. */
  add(socket: Socket, bytes: number): void;
  /** It was written whole, or its connection is gone. */
  remove(socket: Socket): void;
};

/**
 * Large answers that were made for one client and are not yet handed to the system. Beyond the budget the oldest give way:
 * who reads has long had his, so the oldest are those of clients that do not.
 */
export function createUnreadAnswers(onCut: () => void): UnreadAnswers {
  const unread = new Map<Socket, number>(); // a map keeps the order of insertion
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
      // A client that has gone holds nothing, and nothing would remove its entry. A call from /mcp has no real socket.
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
