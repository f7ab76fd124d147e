import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { removeOld } from '../support/remove-old.ts';
import { startService, type TestService } from '../support/service.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await call(service, 'POST', '/v1/webhook_endpoints', {
    body: { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] },
  });
});
afterAll(() => service.stop());

async function count(table: string): Promise<number> {
  const { rows } = await service.db.pool.query(`select count(*)::integer as count from ${table}`);
  return rows[0].count;
}

const columnsOf: [table: string, keptMs: number, columns: string, values: string][] = [
  [
    'endpoint_hours',
    30 * day,
    'account_id, endpoint_id, hour, succeeded_count, failed_count, duration_counts',
    `$1, $1, $2, 1, 0, '{}'`,
  ],
  [
    'request_log',
    7 * day,
    'account_id, id, api_key_id, duration_ms, status, method, path, operation',
    `$1, uuid_v7($2), $1, 1, 200, 'GET', '/', ''`,
  ],
  [
    'audit_log',
    365 * day,
    'account_id, id, actor_type, action, target_type, target_id, created_at',
    `$1, uuid_v7($2), 'api_key', 'a.b', 'esim', '1', $2`,
  ],
  ['order_counts', 745 * hour, 'account_id, hour, stage, code, bucket, count', `$1, $2, 'active', '', -1, 1`],
  ['esim_milestones', 745 * hour, 'account_id, esim_id, stage', `$1, uuid_v7($2), 'active'`],
  [
    'install_links',
    30 * day,
    'account_id, id, iccid, hash, created_at, expires_at',
    `$1, gen_random_uuid(), '1', sha256(gen_random_uuid()::text::bytea), $2, $2`,
  ],
  [
    'rejected_usage',
    90 * day,
    'account_id, id, iccid, record_id, bytes, observed_at, reason, rejected_at',
    `$1, gen_random_uuid(), '1', gen_random_uuid()::text, 1, $2, 'too_old', $2`,
  ],
  [
    'endpoint_gaps',
    30 * day,
    'account_id, endpoint_id, from_at, until_at, enabled_event_types',
    `$1, (select id from webhook_endpoints), $2::timestamptz - interval '1 hour', $2, '{}'`,
  ],
];

test.each(columnsOf)(
  'a row of %s is kept as long as it is shown, and no longer',
  async (table, keptMs, columns, values) => {
    for (const ageMs of [keptMs - minute, keptMs + minute]) {
      await service.db.pool.query(`insert into ${table} (${columns}) values (${values})`, [
        service.accountUuid,
        new Date(service.clock.nowMs() - ageMs),
      ]);
    }
    const before = await count(table);
    await service.db.pool.query('delete from retention_ranges'); // as if nothing was swept yet
    expect(await removeOld(service, { tables: [table] })).toBe(1);
    expect(await count(table)).toBe(before - 1);
  },
);
