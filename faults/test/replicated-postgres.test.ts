import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLink } from '../src/deployment/link.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../src/deployment/replicated-postgres.ts';

// Failover runs and tests rely on this pair: if it lost commits by itself, they would prove nothing.

let postgres: ReplicatedPostgres;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  await postgres.primary().query('simplane', 'create table written (n int primary key)');
});
afterAll(() => postgres.remove());

async function write(n: number): Promise<void> {
  await postgres.primary().query('simplane', 'insert into written values ($1)', [n]);
}

async function written(): Promise<number[]> {
  const rows = await postgres.primary().query<{ n: number }>('simplane', 'select n from written order by n');
  return rows.map(({ n }) => n);
}

async function waitingForStandby(): Promise<number> {
  const [row] = await postgres
    .primary()
    .query<{ count: number }>(
      'postgres',
      `select count(*)::int as count from pg_stat_activity where wait_event = 'SyncRep'`,
    );
  return row?.count ?? 0;
}

test('an acknowledged commit is on the promoted standby after kill -9 of the primary, twice in a row', async () => {
  for (const n of [1, 2]) {
    await write(n);
    await postgres.stopPrimary('kill');
    await postgres.promote();
    expect(await written()).toContain(n);
    await postgres.rejoin();
  }
  expect(await written()).toEqual([1, 2]);
});

test('after a switchover the old primary keeps its connections but refuses writes; new connections reach the new primary', async () => {
  const link = await openLink(postgres.primary().url('simplane'), () => postgres.primary().socketPath());
  const [before, after] = [new pg.Client(link.url), new pg.Client(link.url)];
  await before.connect();
  await before.query('insert into written values (3)');

  await postgres.switchOver();
  await expect(before.query('insert into written values (4)')).rejects.toMatchObject({ code: '25006' });
  expect((await before.query('show transaction_read_only')).rows).toEqual([{ transaction_read_only: 'on' }]);
  await after.connect();
  await after.query('insert into written values (4)');
  expect(await written()).toEqual([1, 2, 3, 4]);

  const ended = new Promise((resolve) => before.once('error', resolve));
  await postgres.rejoin();
  await ended;
  await after.end();
  await link.close();
});

test('a commit waits for a lost standby until it is back; a restarted primary keeps its standby', async () => {
  await postgres.stopStandby();
  let acknowledged = false;
  const writing = write(5).then(() => {
    acknowledged = true;
  });
  await expect.poll(waitingForStandby).toBe(1);
  expect(acknowledged).toBe(false);
  await postgres.startStandby();
  await writing;

  await postgres.stopPrimary('immediate');
  await postgres.startPrimary();
  await write(6);
  expect(await written()).toEqual([1, 2, 3, 4, 5, 6]);
});

test('without replication the promoted standby lacks acknowledged commits', async () => {
  await postgres.stopReplication();
  await write(7);
  await postgres.stopPrimary('kill');
  await postgres.promote();
  expect(await written()).toEqual([1, 2, 3, 4, 5, 6]);
});
