import type { Socket } from 'node:net';
import type pg from 'pg';

// A server closes within a round trip. One that is gone never does, and TCP gives up only after 15 minutes.
const closeTimeoutMs = 1_000;

/** Ends a connection. Never rejects and waits at most a second. */
export async function endClient(client: pg.ClientBase): Promise<void> {
  const timer = setTimeout(dropClient, closeTimeoutMs, client);
  await (client as pg.Client).end().catch(() => {});
  clearTimeout(timer);
}

/** Destroys the socket without closing the connection properly. */
export function dropClient(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Socket } };
  connection.stream.destroy();
}
