import { expect, test } from 'vitest';
import { apiChores, workerChores } from '../../src/background/chores.ts';
import type { Service } from '../../src/background/service.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { startService } from '../support/service.ts';

// What a chore does is tested with its feature, by calling it. This says that a process does call it.
test('a worker runs every chore, each as often as its users may wait', async () => {
  const service = await startService();
  const statements: string[] = [];
  const db = {
    ...service.db,
    ...recorded(service.db, statements),
    transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
      service.db.transaction((tx) => work(recorded(tx, statements))),
  };
  const begun: [string | undefined, number][] = [];
  for (const { everyMs, run } of workerChores({ ...service.service, db }, readConfig({}).config, () => {})) {
    const before = statements.length;
    await run(new AbortController().signal);
    begun.push([statements[before], everyMs]);
  }
  await service.stop();

  expect(Object.fromEntries(begun)).toEqual({
    bundle_lock_holders_due: 1_000,
    recovery_close_hopeless: 1_000,
    failure_group_take_retry: 1_000,
    ordered_set_positions: 1_000,
    endpoint_take_health_reports: 1_000,
    overview_claim_uncounted: 2_000,
    tables_without_statistics: 2_000,
    endpoint_cancel_undeliverable_blocked_deliveries: 10_000,
    idempotency_delete_expired: 60_000,
    session_delete_expired: 60_000,
    retention_add_ranges: 60_000,
    lease_delete_stale: 600_000,
    iccid_range_count: 600_000,
  });
});

test('a process that serves the API saves when keys were used, and learns which keys there are', async () => {
  const called: string[] = [];
  const keys = {
    flushUses: async () => void called.push('flushUses'),
    learn: async (nowMs: number) => void called.push(`learn ${nowMs}`),
  };
  const chores = apiChores({ keys, clock: { nowMs: () => 7 } } as unknown as Service);
  for (const { run } of chores) await run(new AbortController().signal);
  expect(called).toEqual(['flushUses', 'learn 7']);
});

function recorded(db: Queryable, names: string[]): Queryable {
  return {
    query(statement, values) {
      names.push(statement.name);
      return db.query(statement, values);
    },
  };
}
