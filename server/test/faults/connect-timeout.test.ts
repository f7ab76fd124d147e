import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { openLink } from '../../../faults/src/deployment/link.ts';
import { openDatabase } from '../../src/db/database.ts';

test.each([
  ['the default of 5 s', 'is given up', '', false],
  ['connect_timeout=60', 'is waited for', '&connect_timeout=60', true],
])('with %s, a server that takes 6 s to accept a connection %s', async (_, __, parameter, isUsed) => {
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/postgres';
  const link = await openLink(url.href, () => `${url.searchParams.get('host')}/.s.PGSQL.5432`);
  link.hold();
  const db = openDatabase({ connectionString: link.url + parameter, poolSize: 1, onError: () => {} });
  const pinged = db.ping().then(
    () => true,
    () => false,
  );
  await sleep(6_000);
  link.release();
  expect(await pinged).toBe(isUsed);
  await db.end();
  await link.close();
});
