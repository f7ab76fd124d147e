import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assignPositions } from '../../src/notify/feed/sql/positions.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
const clients: pg.Client[] = [];

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await service.stop();
});

async function begin() {
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  clients.push(client);
  await client.query('begin');
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  return { client, xid: BigInt(rows[0]?.xid as string) };
}

const insert = (client: pg.Client, type: string) =>
  client.query(
    `insert into events (account_id, id, type, created_at, body) values ($1, gen_random_uuid(), $2, now(), '{}')`,
    [service.accountUuid, type],
  );

const feed = () =>
  service.db.query<{ type: string }>(
    {
      name: 'test_feed_types',
      text: `
select event.type
from event_feed run
cross join lateral unnest(run.event_ids) with ordinality as one (event_id, number)
join events event on event.account_id = run.account_id and event.id = one.event_id
where run.account_id = $1
order by run.first_position, one.number`,
    },
    [service.accountUuid],
  );

test('an event that was written first but committed late comes before events written after its commit', async () => {
  // The late one has the lower row number and the higher transaction id.
  const [early, late] = [await begin(), await begin()];
  await insert(late.client, 'late');
  await insert(early.client, 'early');
  await early.client.query('commit');
  const pass = () => assignPositions(service.db, { afterId: 0, limit: 1_000, at: new Date() });
  const first = await pass();
  expect(first.rowCount).toBe(1);
  // The sequencer skips row numbers up to this one only once every transaction below this id has ended.
  expect(BigInt(first.xid as string)).toBeGreaterThan(late.xid);
  expect(BigInt((await pass()).oldestOpenXid)).toBeLessThan(BigInt(first.xid as string));

  const sequencer = service.startSequencer();
  for (const type of ['other 1', 'other 2', 'other 3']) {
    const { client } = await begin();
    await insert(client, type);
    await client.query('commit');
    sequencer.wake();
    await until(feed, (rows) => rows.at(-1)?.type === type);
  }
  await late.client.query('commit');
  const { client } = await begin();
  await insert(client, 'after late');
  await client.query('commit');
  sequencer.wake();
  const types = (await until(feed, ({ length }) => length === 6)).map(({ type }) => type);
  expect(types).toEqual(['early', 'other 1', 'other 2', 'other 3', 'late', 'after late']);
});
