import { afterAll, beforeAll, expect, test } from 'vitest';
import { deployment } from '../../src/accounts/deployment.ts';
import { expireFeeds, planExpiry } from '../../src/notify/feed/expire.ts';
import { assignPositions } from '../../src/notify/feed/sql/positions.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** An account whose feed has so many runs of old events. */
async function accountWith(runs: number, eventsPerRun = 1): Promise<string> {
  const { accountUuid } = await service.createAccount('Of runs');
  await service.db.pool.query(
    `insert into event_feed (account_id, first_position, event_ids, mark, oldest_id, newest_id, sequenced_at)
     select $1, (n - 1) * $3 + 1, array_fill(id, array[$3::integer]), n, id, id, 'epoch'
     from generate_series(1, $2::integer) n, uuid_v7(to_timestamp(n)) as id`,
    [accountUuid, runs, eventsPerRun],
  );
  await service.db.pool.query(
    'insert into event_feed_heads (account_id, last_position, mark, newest_id) values ($1, $2, 1, uuid_v7(now()))',
    [accountUuid, runs * eventsPerRun],
  );
  return accountUuid;
}

async function expiredThrough(accountUuid: string): Promise<number> {
  const { rows } = await service.db.pool.query(
    'select expired_through from event_feed_heads where account_id = $1',
    [accountUuid],
  );
  return rows[0].expired_through;
}

test('a plan covers as many runs as there are events to delete', async () => {
  const accountUuid = await accountWith(500);
  const [plan] = await planExpiry(service.db, [{ accountUuid, count: 50 }], new Date());
  expect(plan?.through).toBe(50);
  expect(plan?.keptFromUuid?.slice(0, 13)).toBe('00000000-c738'); // of second 51
});

test('a run is old if its events or its positions are, because one clock may have been wrong', async () => {
  const hour = 3_600_000;
  const than = new Date();
  const at = (ms: number) => new Date(than.getTime() + ms);
  const cases: [newest: Date, sequenced: Date, through: number][] = [
    [at(-hour), at(hour), 1],
    [at(hour), at(-hour), 1],
    [at(hour), at(hour), 0],
  ];
  for (const [newest, sequenced, through] of cases) {
    const accountUuid = await accountWith(1);
    await service.db.pool.query(
      'update event_feed set newest_id = uuid_v7($2), sequenced_at = $3 where account_id = $1',
      [accountUuid, newest, sequenced],
    );
    const [plan] = await planExpiry(service.db, [{ accountUuid, count: 1 }], than);
    expect(plan?.through).toBe(through);
  }
});

test('a feed never goes back, and keeps the run of its last expired position', async () => {
  const accountUuid = await accountWith(10, 2);
  for (const through of [8, 4]) {
    await expireFeeds(service.db, [{ accountUuid, through, keptFromUuid: null }]);
    expect(await expiredThrough(accountUuid)).toBe(8);
  }
  const { rows } = await service.db.pool.query(
    'select min(first_position) as first from event_feed where account_id = $1',
    [accountUuid],
  );
  expect(rows[0].first).toBe(7); // the run with positions 7 and 8
});

test('feeds are locked in the sequencer’s order, whatever order they are given in', async () => {
  const accounts = [await accountWith(2), await accountWith(2)].toSorted();
  const holder = await service.db.pool.connect();
  await holder.query('begin');
  const lock = (accountUuid: string | undefined) =>
    holder.query('select from event_feed_heads where account_id = $1 for update nowait', [accountUuid]);
  await lock(accounts[0]);
  const plans = accounts.toReversed().map((accountUuid) => ({ accountUuid, through: 1, keptFromUuid: null }));
  const expiring = expireFeeds(service.db, plans);
  await untilLockIsAwaited(service);
  await lock(accounts[1]);
  await holder.query('commit');
  holder.release();
  await expiring;
  expect(await Promise.all(accounts.map(expiredThrough))).toEqual([1, 1]);
});

test('runs that were deleted before are not read again while they wait for a vacuum', async () => {
  const accountUuid = await accountWith(2_000);
  const readCount = async () => {
    await service.db.pool.query('select pg_stat_force_next_flush()');
    const { rows } = await service.db.pool.query(
      `select sum(idx_tup_read)::integer as read from pg_stat_user_indexes where relname = 'event_feed'`,
    );
    return rows[0].read as number;
  };
  await expireFeeds(service.db, [{ accountUuid, through: 1_900, keptFromUuid: null }]);
  const before = await readCount();
  await expireFeeds(service.db, [{ accountUuid, through: 1_950, keptFromUuid: null }]);
  expect((await readCount()) - before).toBeLessThan(500);
});

test('a feed that another process is moving on goes no further back than that', async () => {
  const accountUuid = await accountWith(10);
  const holder = await service.db.pool.connect();
  await holder.query('begin');
  await holder.query('update event_feed_heads set expired_through = 8 where account_id = $1', [accountUuid]);
  const expiring = expireFeeds(service.db, [{ accountUuid, through: 4, keptFromUuid: null }]);
  await untilLockIsAwaited(service);
  await holder.query('commit');
  holder.release();
  await expiring;
  expect(await expiredThrough(accountUuid)).toBe(8);
});

/** Writes an event whose id is of this second, in a transaction of its own. */
async function write(accountUuid: string, second: number): Promise<void> {
  await service.db.pool.query(
    `insert into events (account_id, id, type, created_at, body)
     select $1, uuid_v7(at), 'a.b', at, '{}' from to_timestamp($2) as at`,
    [accountUuid, second],
  );
}

const pass = (limit = 1_000) => assignPositions(service.db, { afterId: 0, limit, at: new Date() });

test('a pass takes what was written first, however old its id is, and a run knows its oldest and newest event', async () => {
  const { accountUuid } = await service.createAccount('Written');
  for (const second of [10, 40, 20]) await write(accountUuid, second);
  await pass(1);
  await pass();
  const secondOf = (id: string) =>
    `('x' || left(replace((${id})::text, '-', ''), 12))::bit(48)::bigint::integer / 1000`;
  const { rows } = await service.db.pool.query(
    `select first_position::integer as first, array(select ${secondOf('one')} from unnest(event_ids) as one) as seconds,
       ${secondOf('oldest_id')} as oldest, ${secondOf('newest_id')} as newest
     from event_feed where account_id = $1 order by first_position`,
    [accountUuid],
  );
  expect(rows).toEqual([
    { first: 1, seconds: [10], oldest: 10, newest: 10 },
    { first: 2, seconds: [40, 20], oldest: 20, newest: 40 },
  ]);
});

test('a pass locks the deployment’s feed after those of accounts, as an expiry does', async () => {
  const { accountUuid } = await service.createAccount('First');
  const writeBoth = async () => {
    for (const owner of [accountUuid, deployment.uuid]) await write(owner, 10);
  };
  await writeBoth();
  await pass();
  await writeBoth();
  const holder = await service.db.pool.connect();
  await holder.query('begin');
  const lock = (uuid: string) =>
    holder.query('select from event_feed_heads where account_id = $1 for update nowait', [uuid]);
  await lock(accountUuid);
  const passing = pass();
  await untilLockIsAwaited(service);
  const locking = lock(deployment.uuid);
  await locking.catch(() => {});
  await holder.query('rollback');
  holder.release();
  await Promise.all([locking, passing]);
});

test('a pass tells of ordered deliveries only if an account of its events has an ordered endpoint', async () => {
  const accounts: string[] = [];
  for (const ordering of ['none', 'esim']) {
    const { accountUuid } = await service.createAccount('Listening');
    await service.db.pool.query(
      `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, ordering, api_version, created_at)
       values ($1, gen_random_uuid(), 'http://127.0.0.1:9/', '{none.of.these}', '{}', 'enabled', $2, '2026-11-01', now())`,
      [accountUuid, ordering],
    );
    accounts.push(accountUuid);
  }
  const tells: boolean[] = [];
  for (const accountUuid of accounts) {
    await write(accountUuid, 10);
    tells.push((await pass()).hasWaiting);
  }
  expect(tells).toEqual([false, true]);
});
