import type { Server } from 'node:http';

/** Closes open connections too; an idle keep-alive connection would delay the close. */
export function stopServer(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
