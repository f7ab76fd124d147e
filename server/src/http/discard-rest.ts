import type { IncomingMessage } from 'node:http';

// More than any client sends by mistake. A larger body is cut off, and its client may see a reset instead of the answer.
const maxDiscardedBytes = 64 * 1024 * 1024;

/**
 * Reads and drops the rest of a body that was refused. Closing at once would reset the connection while the client still sends,
 * and it would never read the answer: of Node's `fetch` with 5 MB, 6 of 15 calls failed with EPIPE.
 */
export function discardRest(request: IncomingMessage): void {
  let leftBytes = maxDiscardedBytes;
  request.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length;
    if (leftBytes < 0) request.socket.destroy();
  });
}
