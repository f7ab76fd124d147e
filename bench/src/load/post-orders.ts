import { randomUUID } from 'node:crypto';
import { openConnection, postRequest } from './http-connection.ts';

export type PostOrders = {
  url: string;
  key: string;
  connections: number;
  /** Stops after this time, or after `count` orders. */
  forMs?: number;
  count?: number;
};

/** Orders eSIMs one after the other on every connection, each with a new idempotency key. */
export async function postOrders(input: PostOrders): Promise<{ count: number; elapsedMs: number }> {
  const { url, key, connections, forMs = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY } = input;
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(url)));
  const run = randomUUID();
  const body = JSON.stringify({ product_id: 'prod_europe_5gb_30d' });
  const startedAtMs = performance.now();
  let sent = 0;
  const isOver = () => sent >= count || performance.now() - startedAtMs >= forMs;
  await Promise.all(
    open.map(async (connection) => {
      while (!isOver()) {
        sent += 1;
        await connection.send(postRequest({ url, key }, '/v1/esims', body, `${run}-${sent}`));
      }
    }),
  );
  const elapsedMs = performance.now() - startedAtMs;
  for (const connection of open) connection.close();
  return { count: sent, elapsedMs };
}
