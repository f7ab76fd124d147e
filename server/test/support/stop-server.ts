import type { Server } from 'node:http';

/** With whatever is connected to it; an idle keep-alive connection would hold up the close. */
export function stopServer(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
