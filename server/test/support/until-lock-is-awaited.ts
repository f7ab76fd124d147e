import type { TestService } from './service.ts';
import { until } from './until.ts';

/**
 * Waits until this many sessions wait for a lock. Asked on a connection of its own: within a transaction, PostgreSQL shows only the
 * sessions that it saw when first asked.
 */
export async function untilLockIsAwaited({ db }: Pick<TestService, 'db'>, sessions = 1): Promise<void> {
  await until(
    () =>
      db.query({
        name: 'test_waiting_for_lock',
        text: `
select
from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'`,
      }),
    ({ length }) => length === sessions,
  );
}
