import { expect, test } from 'vitest';
import type { Database } from '../db/database.ts';
import { createMetrics } from './metrics.ts';

test('a connection to PostgreSQL is idle or used', async () => {
  const pool = { totalCount: 5, idleCount: 2, waitingCount: 0 };
  const { registry } = createMetrics({ pool } as Database);
  const { values } = (await registry.getSingleMetric('db_client_connection_count')?.get()) ?? {};
  expect(values).toMatchObject([
    { value: 2, labels: { db_client_connection_state: 'idle' } },
    { value: 3, labels: { db_client_connection_state: 'used' } },
  ]);
});
