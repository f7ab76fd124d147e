import { randomUUID } from 'node:crypto';
import { parseConnectionUrl } from './connection-url.ts';
import type { Database } from './database.ts';
import { endClient } from './end-client.ts';
import { openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';

const boundMs = 3_000;

/** Whether a connection to this address hears what is notified in the database. Throws when it cannot be opened. */
export async function hears(connectionString: string, db: Database): Promise<boolean> {
  const channel = `simplane_${randomUUID().replaceAll('-', '')}`;
  const { client } = await openWritable(parseConnectionUrl(connectionString), {
    applicationName: applicationName('check'),
    queryTimeoutMs: boundMs,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const heard = new Promise<boolean>((resolve) => {
      client.on('notification', () => resolve(true));
      timer = setTimeout(resolve, boundMs, false);
    });
    await client.query(`listen ${channel}`);
    await db.pool.query('select pg_notify($1, $2)', [channel, '']);
    return await heard;
  } finally {
    clearTimeout(timer);
    await endClient(client);
  }
}
