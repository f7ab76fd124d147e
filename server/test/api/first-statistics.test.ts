import { expect, test } from 'vitest';
import { gatherFirstStatistics } from '../../src/db/first-statistics.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

test('a table that has grown gets its first statistics once, and is then left to the database', async () => {
  const service = await startService();
  try {
    // The database's own chore must not come first.
    await service.db.query({
      name: 'test_alone',
      text: 'alter table events set (autovacuum_enabled = off)',
    });
    await grow(service, 499);
    expect(await statisticsOf(service)).toEqual([]);
    await grow(service, 1);
    await until(
      () => statisticsOf(service),
      (tables) => tables.length > 0,
    );
    expect(await statisticsOf(service)).toEqual([{ relname: 'events', times: 1 }]);
    await grow(service, 1_000);
    expect(await statisticsOf(service)).toEqual([{ relname: 'events', times: 1 }]);
  } finally {
    await service.stop();
  }
});

/** In one transaction with the request to count it now: PostgreSQL would, a second later. */
function grow(service: TestService, count: number): Promise<unknown> {
  return service.db.transaction(async (tx) => {
    await tx.query(
      {
        name: 'test_grow',
        text: `insert into events (account_id, id, type, created_at, body)
               select $1, gen_random_uuid(), 'a.b', now(), '{}' from generate_series(1, $2)`,
      },
      [service.accountUuid, count],
    );
    await tx.query({ name: 'test_flush', text: 'select pg_stat_force_next_flush()' });
  });
}

async function statisticsOf(service: TestService) {
  await gatherFirstStatistics(service.db);
  return service.db.query<{ relname: string; times: number }>({
    name: 'test_statistics',
    text: `select relname, analyze_count::integer as times from pg_stat_user_tables where analyze_count > 0`,
  });
}
