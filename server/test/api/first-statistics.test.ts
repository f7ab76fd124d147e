import { expect, test } from 'vitest';
import { createFirstStatistics } from '../../src/platform/db/first-statistics.ts';
import { startService, type TestService } from '../support/service.ts';

const running = new AbortController().signal;

test('a table that has grown is analyzed once, and then left to autovacuum', async () => {
  const service = await startService();
  try {
    await query(service, 'alter table events set (autovacuum_enabled = off)'); // so ours is first
    const gather = createFirstStatistics(service.db, (error) => expect.fail(String(error)));
    await grow(service, 10);
    await gather(running);
    expect(await analyzedRows(service)).toBeNull();
    await grow(service, 990);
    await gather(AbortSignal.abort());
    expect(await analyzedRows(service)).toBeNull();
    await gather(running);
    expect(await analyzedRows(service)).toBe(1_000);
    await grow(service, 1_000);
    await gather(running);
    expect(await analyzedRows(service)).toBe(1_000);
  } finally {
    await service.stop();
  }
});

test('a table that another process analyzes is not waited for', async () => {
  const service = await startService();
  try {
    await grow(service, 1_000);
    await service.db.transaction(async (tx) => {
      await tx.query({ name: 'test_analyzing', text: 'lock table events in share update exclusive mode' });
      await createFirstStatistics(service.db, (error) => expect.fail(String(error)))(running);
    });
  } finally {
    await service.stop();
  }
});

test('a table that cannot be analyzed is left to autovacuum, and the next one is still analyzed', async () => {
  const service = await startService();
  try {
    for (const table of ['deliveries', 'events'])
      await query(service, `alter table ${table} set (autovacuum_enabled = off)`);
    await grow(service, 1_000);
    await query(
      service,
      `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, created_at)
       select account_id, id, id, id, 'canceled', 'event', now() from events`,
    );
    // `analyze` evaluates expression indexes, and this one fails there.
    await query(
      service,
      `create function refuses(uuid) returns uuid language plpgsql immutable as
      $$ begin if current_setting('application_name') = 'indexing' then return $1; end if; raise 'refused'; end $$`,
    );
    await service.db.transaction(async (tx) => {
      await tx.query({ name: 'test_name', text: `set local application_name = 'indexing'` });
      await tx.query({ name: 'test_index', text: 'create index refusing on deliveries (refuses(id))' });
    });
    const failures: unknown[] = [];
    const gather = createFirstStatistics(service.db, (error) => void failures.push(String(error)));
    await gather(running);
    await gather(running);
    expect(failures).toEqual(['error: refused']);
    expect(await analyzedRows(service)).toBe(1_000);
  } finally {
    await service.stop();
  }
});

async function query<Row extends object>(service: TestService, text: string): Promise<Row[]> {
  return (await service.db.pool.query(text)).rows;
}

function grow(service: TestService, count: number): Promise<object[]> {
  return query(
    service,
    `insert into events (account_id, id, type, created_at, body)
     select '${service.accountUuid}', gen_random_uuid(), 'a.b', now(), repeat('x', 200) from generate_series(1, ${count})`,
  );
}

/** The row count of `events` when it was analyzed; null if it never was. */
async function analyzedRows(service: TestService): Promise<number | null> {
  const [row] = await query<{ rows: number | null }>(
    service,
    `select case when exists (select from pg_stats where tablename = 'events') then reltuples::integer end as rows
     from pg_class where relname = 'events'`,
  );
  return row?.rows ?? null;
}
