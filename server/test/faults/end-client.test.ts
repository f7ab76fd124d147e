import pg from 'pg';
import { expect, test } from 'vitest';
import { endClient } from '../../src/platform/db/end-client.ts';
import { linkToPostgres } from '../support/link-to-postgres.ts';

test('closing a connection does not wait for a server that never answers', async () => {
  const link = await linkToPostgres();
  const client = new pg.Client(link.url);
  await client.connect();
  const ended = new Promise((resolve) => client.once('end', resolve));
  link.hold();
  await endClient(client);
  await ended;
  await expect(client.query('select 1')).rejects.toThrow();
  await link.close();
});
