import { expect, test } from 'vitest';
import type { Database } from '../../../platform/db/database.ts';
import { listEndpointHealth } from './list-for-operator.ts';

const uuid = '0190a000-0000-7000-8000-000000000000';

async function shown(row: object) {
  const rows = [{ id: uuid, account_id: uuid, disabled_reason: null, created_at: new Date(0), ...row }];
  const ctx = { db: { query: async () => rows } as unknown as Database, clock: { nowMs: () => 60_999 } };
  const { data } = await listEndpointHealth(ctx, { params: {}, query: {}, body: {} });
  return data[0];
}

test('an endpoint is shown to the operator with its last success, and the age of its backlog in whole seconds', async () => {
  const times = { last_success_at: new Date(30_500), oldest_pending_at: new Date(50_500) };
  expect(await shown({ ...times, failing_since: new Date(40_900), backlog_count: 3 })).toMatchObject({
    ...{ last_success_at: 30, failing_since: 40, disabled_at: undefined },
    backlog: { count: 3, age_seconds: 10 },
  });
});

test('a backlog from a clock that is ahead has no negative age', async () => {
  const times = { last_success_at: null, oldest_pending_at: new Date(70_000) };
  expect(await shown({ ...times, backlog_count: 1 })).toMatchObject({
    last_success_at: null,
    backlog: { age_seconds: 0 },
  });
});
