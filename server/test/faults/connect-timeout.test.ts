import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect } from '../../src/platform/db/connect.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { linkToPostgres } from '../support/link-to-postgres.ts';

test.each([
  ['the default of 5 s', 'is given up', '', false],
  ['connect_timeout=60', 'is waited for', '&connect_timeout=60', true],
])('with %s, a server that takes 6 s to accept a connection %s', async (_, __, parameter, isUsed) => {
  const link = await linkToPostgres();
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

test('a process that gives up on PostgreSQL says which one it could not reach, without its password', async () => {
  const link = await linkToPostgres();
  link.hold();
  const url = new URL(`${link.url}&connect_timeout=1`);
  url.password = 'not-for-terminals';
  const connecting = connect({
    databaseUrl: url.href,
    dataDir: '',
    poolSize: 1,
    waitMs: 0,
    onError: () => {},
  });
  const { message } = await connecting.then(
    () => new Error('connected'),
    (error: Error) => error,
  );
  await link.close();
  expect(message).toMatch(/^PostgreSQL at \S+:\d+ cannot be used now: .*timeout/);
  expect(message).not.toContain('not-for-terminals');
});
