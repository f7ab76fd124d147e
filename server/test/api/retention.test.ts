import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deployment } from '../../src/accounts/deployment.ts';
import { turnLockId } from '../../src/background/retention/sql.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { removeOld } from '../support/remove-old.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

let service: TestService;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

async function publish(key = service.key): Promise<string> {
  const body = { type: 'a.b', data: {} };
  return (await call(service, 'POST', '/v1/events/test', { body, key })).json.id;
}

async function listed(key = service.key): Promise<string[]> {
  const { data } = (await call(service, 'GET', '/v1/events?limit=100', { key })).json;
  return data.map(({ id }: { id: string }) => id);
}

async function count(table: string): Promise<number> {
  const { rows } = await service.db.pool.query(`select count(*)::integer as count from ${table}`);
  return rows[0].count;
}

/** Stores deliveries that ended so many days before the service's time, in ranges of about 4,500. */
async function storeDeliveries(number: number, days: number): Promise<void> {
  await service.db.pool.query(
    `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
     select $1, uuid_v7($3), gen_random_uuid(), $1, 'succeeded', 'event', 1, $3, $3 from generate_series(1, $2)`,
    [service.accountUuid, number, new Date(service.clock.nowMs() - days * day)],
  );
}

type Ran = { name: string; rows: object[] };

/** The same database, which notes the statements, and may fail before a commit. */
function watch({ beforeCommit = () => {} }: { beforeCommit?(number: number): void } = {}) {
  const ran: Ran[] = [];
  const noted = (on: Queryable): Queryable => ({
    async query<Row extends object>(...[statement, values]: Parameters<Queryable['query']>) {
      const rows = await on.query<Row>(statement, values);
      ran.push({ name: statement.name, rows });
      return rows;
    },
  });
  let commits = 0;
  const db: Database = {
    ...service.db,
    ...noted(service.db),
    transaction: (work) =>
      service.db.transaction(async (tx) => {
        const result = await work(noted(tx));
        beforeCommit(++commits);
        return result;
      }),
  };
  return { db, ran, names: () => ran.map(({ name }) => name) };
}

test('events older than the retention are deleted; newer and undelivered ones stay', async () => {
  const endpoint = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
  await Promise.all(Array.from({ length: 60 }, () => publish()));
  await call(service, 'POST', '/v1/webhook_endpoints', { body: endpoint });
  const waiting = await publish();
  await sequenceEvents(service);
  service.clock.advance(30 * day + 1_000);
  const young = await publish();
  await sequenceEvents(service);
  expect(await removeOld(service)).toBe(60);
  expect(await listed()).toEqual([young, waiting]);
  expect(await count('delivery_queue')).toBe(2);
});

test('an event without pending deliveries is kept until its retention ends, and goes within an hour', async () => {
  const old = await publish();
  await sequenceEvents(service);
  service.clock.advance(29 * day);
  const young = await publish();
  await sequenceEvents(service);
  expect(await removeOld(service)).toBe(0);
  expect(await listed()).toEqual([young, old]);
  service.clock.advance(day);
  expect(await removeOld(service)).toBe(0);
  service.clock.advance(hour);
  expect(await removeOld(service)).toBe(1);
  expect(await listed()).toEqual([young]);
});

test('each table loses its old rows of all accounts, and only what has ended', async () => {
  const other = await service.createAccount('Other');
  const at = (days: number) => new Date(service.clock.nowMs() - days * day);
  const { pool } = service.db;
  for (const account of [service.accountUuid, other.accountUuid]) {
    for (const days of [29, 31]) {
      const values = [account, at(days)];
      await pool.query(
        `with one as (select uuid_v7($2) as id)
         insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms) select $1, id, 1, $2, 5 from one`,
        values,
      );
      await pool.query(
        `with one as (select uuid_v7($2) as id), queued as (
           insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, attempt_count, created_at)
           select $1, id, gen_random_uuid(), $1, 'event', 1, $2 from one)
         insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms) select $1, id, 1, $2, 5 from one`,
        values,
      );
      for (const finishedAt of [at(days), null]) {
        await pool.query(
          `insert into recoveries (account_id, id, endpoint_id, from_event, until_event, position, created_at, finished_at)
           select $1, id, id, id, id, id, $2, $3 from uuid_v7($2) as id`,
          [...values, finishedAt],
        );
      }
    }
    for (const days of [6, 8]) {
      await pool.query(
        `insert into request_log (account_id, id, api_key_id, duration_ms, status, method, path, operation)
         select $1, uuid_v7($2), $1, 1, 200, 'GET', '/', ''`,
        [account, at(days)],
      );
    }
  }
  await storeDeliveries(1, 29);
  await storeDeliveries(1, 31);
  expect(await removeOld(service)).toBe(2 + 2 + 2 + 1);
  const left = ['delivery_attempts', 'recoveries', 'request_log', 'deliveries'].map(count);
  expect(await Promise.all(left)).toEqual([6, 6, 2, 1]);
  expect(await count('delivery_attempts join delivery_queue on id = delivery_id')).toBe(4);
  expect(await count('recoveries where finished_at is null')).toBe(4);
});

describe('a sweep', () => {
  test('takes as many statements for the old events of 300 accounts as for those of one', async () => {
    const first = watch();
    await publish();
    await sequenceEvents(service);
    service.clock.advance(31 * day);
    expect(await removeOld({ db: first.db, clock: service.clock }, { tables: ['events'] })).toBe(1);
    const { rows } = await service.db.pool.query(
      `insert into accounts (id, name, api_version, created_at)
       select gen_random_uuid(), 'Many', '2026-11-01', now() from generate_series(1, 300) returning id`,
    );
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body)
       select account_id, uuid_v7($2), 'a.b', $2, '{}' from unnest($1::uuid[]) as account_id`,
      [rows.map(({ id }) => id), new Date(service.clock.nowMs())],
    );
    await sequenceEvents(service);
    service.clock.advance(31 * day);
    const second = watch();
    expect(await removeOld({ db: second.db, clock: service.clock }, { tables: ['events'] })).toBe(300);
    expect(second.names().toSorted()).toEqual(first.names().toSorted());
  });

  test('with nothing due takes two statements, with 20,000 accounts too', async () => {
    await service.db.pool.query(
      `insert into accounts (id, name, api_version, created_at)
       select gen_random_uuid(), 'Empty', '2026-11-01', now() from generate_series(1, 20000)`,
    );
    await publish();
    await sequenceEvents(service);
    await removeOld(service);
    service.clock.advance(day);
    const { db, names } = watch();
    expect(await removeOld({ db, clock: service.clock })).toBe(0);
    expect(names()).toEqual(['retention_add_ranges', 'retention_take_range']);
  });

  test('deletes a range of 64 pages per transaction, and ends with the running one when it is told to stop', async () => {
    await storeDeliveries(12_000, 31);
    const stopping = new AbortController();
    const { db, ran } = watch({ beforeCommit: () => stopping.abort() });
    const first = await removeOld({ db, clock: service.clock }, { stopping: stopping.signal });
    expect(first).toBeGreaterThan(2_000);
    expect(first).toBeLessThan(8_000);
    expect(ran.filter(({ name }) => name === 'retention_set_due')).toHaveLength(1);
    expect(first + (await removeOld(service))).toBe(12_000);
  });

  test('that was killed in the middle goes on where it was', async () => {
    await storeDeliveries(12_000, 31);
    const { db } = watch({
      beforeCommit(number) {
        if (number === 2) throw new Error('killed');
      },
    });
    const query: Database['query'] = (statement, values) =>
      statement.name === 'retention_set_due'
        ? Promise.reject(new Error('killed'))
        : db.query(statement, values);
    await expect(removeOld({ db: { ...db, query }, clock: service.clock })).rejects.toThrow('killed');
    const left = await count('deliveries');
    expect(left).toBeGreaterThan(4_000);
    expect(left).toBeLessThan(12_000);
    expect(await removeOld(service)).toBe(left);
  });

  test('waits for nobody else’s: the turn is one worker’s until its transaction ends', async () => {
    await storeDeliveries(12_000, 31);
    const holder = await service.db.pool.connect();
    await holder.query('begin');
    await holder.query('select from deliveries for update');
    const first = removeOld(service);
    await untilLockIsAwaited(service);
    expect(await removeOld(service)).toBe(0);
    await holder.query('rollback');
    expect(await first).toBe(12_000);
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock($1)', [turnLockId]);
    await storeDeliveries(1, 31);
    service.clock.advance(16 * day);
    expect(await removeOld(service)).toBe(0);
    await holder.query('commit');
    holder.release();
    expect(await removeOld(service)).toBe(1);
  });

  test('finds the ranges of a table that has grown, also if another worker is just adding them', async () => {
    await storeDeliveries(1, 31);
    const other = await service.db.pool.connect();
    await other.query('begin');
    await other.query(`insert into retention_ranges values ('deliveries', 0, $1)`, [
      new Date(service.clock.nowMs() + day),
    ]);
    const removing = removeOld(service, { tables: ['deliveries'] });
    await untilLockIsAwaited(service);
    await other.query('commit');
    other.release();
    expect(await removing).toBe(0);
    service.clock.advance(day);
    expect(await removeOld(service, { tables: ['deliveries'] })).toBe(1);
  });

  test('that fails in one range sweeps the others, and that one an hour later', async () => {
    await publish();
    await sequenceEvents(service);
    await storeDeliveries(1, 0);
    service.clock.advance(31 * day);
    await service.db.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
       create trigger refuse before delete on deliveries for each row execute function refuse()`,
    );
    await expect(removeOld(service)).rejects.toThrow('refused');
    expect([await count('events'), await count('deliveries')]).toEqual([0, 1]);
    await service.db.pool.query('drop function refuse cascade');
    expect(await removeOld(service)).toBe(0);
    service.clock.advance(hour);
    expect(await removeOld(service)).toBe(1);
  });

  test('does not read a range every minute because of a row that must stay', async () => {
    const endpoint = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
    await call(service, 'POST', '/v1/webhook_endpoints', { body: endpoint });
    await publish();
    await sequenceEvents(service);
    service.clock.advance(40 * day);
    await removeOld(service);
    service.clock.advance(minute);
    const { db, names } = watch();
    expect(await removeOld({ db, clock: service.clock })).toBe(0);
    expect(names()).not.toContain('retention_count_events');
    await service.db.pool.query('delete from delivery_queue');
    service.clock.advance(hour);
    expect(await removeOld(service)).toBe(1);
  });

  test('takes the range that has been due longest first, also one that is due just now', async () => {
    await storeDeliveries(1, 31);
    await publish();
    await sequenceEvents(service);
    await removeOld(service, { tables: ['events', 'deliveries'] });
    const nowMs = service.clock.nowMs();
    const due = (table: string, ms: number) =>
      service.db.pool.query('update retention_ranges set due_at = $2 where table_name = $1', [
        table,
        new Date(nowMs - ms),
      ]);
    const clock = { nowMs: () => nowMs };
    const first = async () => {
      const stopping = new AbortController();
      const { db, ran } = watch({ beforeCommit: () => stopping.abort() });
      await removeOld({ db, clock }, { tables: ['events', 'deliveries'], stopping: stopping.signal });
      return ran.find(({ name }) => name === 'retention_take_range')?.rows;
    };
    await due('events', minute);
    await due('deliveries', 0);
    expect(await first()).toEqual([{ table: 'events', firstPage: 0 }]);
    expect(await first()).toEqual([{ table: 'deliveries', firstPage: 0 }]);
    expect(await first()).toEqual([]);
  });

  test('looks at a range again when its oldest row has expired, wherever that lies in it', async () => {
    for (const days of [1, 20, 3]) await storeDeliveries(1, days);
    expect(await removeOld(service, { tables: ['deliveries'] })).toBe(0);
    service.clock.advance(10 * day + hour);
    expect(await removeOld(service, { tables: ['deliveries'] })).toBe(1);
  });

  test('leaves ranges of tables that it does not know to newer releases', async () => {
    await service.db.pool.query(`insert into retention_ranges values ('of_a_newer_release', 0, '-infinity')`);
    await storeDeliveries(1, 31);
    expect(await removeOld(service)).toBe(1);
  });

  test('finds a row that is written with an old id, within half of the retention', async () => {
    await storeDeliveries(1, 0);
    await removeOld(service);
    await storeDeliveries(1, 31);
    service.clock.advance(15 * day - hour);
    expect(await removeOld(service)).toBe(0);
    service.clock.advance(hour);
    expect(await removeOld(service)).toBe(1);
  });
});

describe('the feed', () => {
  const feed = async (after = 'start') => {
    const { json } = await call(service, 'GET', `/v1/events/feed?after=${after}&limit=1000`);
    return json.data.map(({ id }: { id: string }) => id);
  };

  test('keeps an old event that has no position yet', async () => {
    const event = await publish();
    service.clock.advance(31 * day);
    expect(await removeOld(service)).toBe(0);
    await sequenceEvents(service);
    expect(await feed()).toEqual([event]);
    service.clock.advance(2 * hour);
    expect(await removeOld(service)).toBe(1);
  });

  test('keeps an old event whose run has a young one, and those of other accounts go', async () => {
    const other = await service.createAccount('Other');
    await publish(other.key);
    await sequenceEvents(service);
    const old = await publish();
    service.clock.advance(31 * day);
    const young = await publish();
    await sequenceEvents(service);
    expect(await removeOld(service)).toBe(1);
    expect([await feed(), await listed(other.key)]).toEqual([[old, young], []]);
  });

  test('of the deployment has what an account’s feed would lose, or answers 410; it never skips an event', async () => {
    const operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
    const readAll = (after: string) =>
      call(operator, 'GET', `/v1/operator/events/feed?after=${after}&limit=1000`);
    await publish();
    await sequenceEvents(service);
    const { cursor } = (await readAll('start')).json;
    const other = await service.createAccount('Beside');
    const second = await publish(other.key);
    await sequenceEvents(service);
    // As after a clock that was wrong: for the deployment, the second run seems young.
    service.clock.advance(31 * day);
    await service.db.pool.query(
      'update event_feed set newest_id = uuid_v7($1), sequenced_at = $1 where account_id = $2 and event_ids = array[$3::uuid]',
      [new Date(service.clock.nowMs()), deployment.uuid, uuidOfId('evt', second)],
    );
    expect(await removeOld(service)).toBe(1);
    expect((await readAll('start')).json.data.map(({ id }: { id: string }) => id)).toEqual([second]);
    expect(await listed(other.key)).toEqual([second]);
    expect((await readAll(cursor)).json.data).toHaveLength(1);
    service.clock.advance(31 * day);
    expect(await removeOld(service)).toBe(1);
    const { status, json } = await readAll(cursor);
    expect([status, json.error.code]).toEqual([410, 'cursor_expired']);
    expect((await readAll(json.error.cursor)).json).toMatchObject({ data: [], caught_up: true });
  });

  test('expires from the front only: nothing goes behind something that is kept', async () => {
    const events: string[] = [];
    for (let i = 0; i < 2; i++) {
      events.push(await publish());
      await sequenceEvents(service);
    }
    service.clock.advance(31 * day);
    // As after a clock that was wrong: the first run seems young.
    const now = new Date(service.clock.nowMs());
    await service.db.pool.query(
      'update event_feed set newest_id = uuid_v7($1), sequenced_at = $1 where first_position = 1',
      [now],
    );
    expect(await removeOld(service)).toBe(0);
    expect(await feed()).toEqual(events);
  });

  test('expires with the deletion, or not at all', async () => {
    await publish();
    await sequenceEvents(service);
    const cursor = (await call(service, 'GET', '/v1/events/feed?after=start&limit=1')).json.cursor;
    const second = await publish();
    await sequenceEvents(service);
    service.clock.advance(31 * day);
    const { db } = watch({
      beforeCommit() {
        throw new Error('killed');
      },
    });
    await expect(removeOld({ db, clock: service.clock }, { tables: ['events'] })).rejects.toThrow('killed');
    expect(await feed(cursor)).toEqual([second]);
    service.clock.advance(2 * hour);
    expect(await removeOld(service)).toBe(2);
    const { status, json } = await call(service, 'GET', `/v1/events/feed?after=${cursor}`);
    expect([status, json.error.code]).toEqual([410, 'cursor_expired']);
  });
});
