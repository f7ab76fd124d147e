import type { Socket } from 'node:net';
import type pg from 'pg';

// A server says goodbye within a round trip. One that went away never does, and TCP gives up after a quarter of an hour.
const goodbyeMs = 1_000;

/** Ends a connection. Never rejects, and waits a second at most. */
export async function endClient(client: pg.ClientBase): Promise<void> {
  const timer = setTimeout(dropClient, goodbyeMs, client);
  await (client as pg.Client).end().catch(() => {});
  clearTimeout(timer);
}

/** Ends it without a word: for a server that need not, or cannot, answer. */
export function dropClient(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Socket } };
  connection.stream.destroy();
}
