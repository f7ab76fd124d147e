import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { openLink } from '../../../faults/src/deployment/link.ts';
import { endClient } from '../../src/db/end-client.ts';

test('closing a connection does not wait for a server that never answers', async () => {
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/postgres';
  const link = await openLink(url.href, () => `${url.searchParams.get('host')}/.s.PGSQL.5432`);
  const client = new pg.Client(link.url);
  await client.connect();
  const ended = new Promise((resolve) => client.once('end', resolve));
  link.hold();
  await endClient(client);
  await ended;
  await expect(client.query('select 1')).rejects.toThrow();
  await link.close();
});
