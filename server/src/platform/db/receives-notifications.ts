import { randomUUID } from 'node:crypto';
import { parseConnectionUrl } from './connection-url.ts';
import type { Database } from './database.ts';
import { endClient } from './end-client.ts';
import { openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';

const timeoutMs = 3_000;

/** Whether a connection to this URL receives notifications sent in the database. Throws if it cannot connect. */
export async function receivesNotifications(connectionString: string, db: Database): Promise<boolean> {
  const channel = `simplane_${randomUUID().replaceAll('-', '')}`;
  const { client } = await openWritable(parseConnectionUrl(connectionString), {
    applicationName: applicationName('check'),
    queryTimeoutMs: timeoutMs,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const received = new Promise<boolean>((resolve) => {
      client.on('notification', () => resolve(true));
      timer = setTimeout(resolve, timeoutMs, false);
    });
    await client.query(`listen ${channel}`);
    await db.pool.query('select pg_notify($1, $2)', [channel, '']);
    return await received;
  } finally {
    clearTimeout(timer);
    await endClient(client);
  }
}
