import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEndpointHealth } from '../../src/webhooks/endpoints/list-endpoint-health.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('the operator’s list of endpoints', () => {
  test('covers all accounts, filters by status and failing, and counts each backlog up to its limit', async () => {
    const { pool } = service.db;
    const other = await service.createAccount('Other');
    const body = { url: 'https://example.com/', enabled_event_types: ['*'] };
    for (const key of [service.key, other.key, service.key]) {
      await call(service, 'POST', '/v1/webhook_endpoints', { body, key });
    }
    const read = (
      filter: Parameters<typeof listEndpointHealth>[1],
      beforeUuid: string | null = null,
      count = 10,
    ) => listEndpointHealth(service.db, filter, { beforeUuid, count });
    const [newest, middle, oldest] = await read({});
    if (!newest || !middle || !oldest) throw new Error('three endpoints exist');
    expect([newest, middle, oldest].map(({ account_id }) => account_id.replaceAll('-', ''))).toEqual([
      service.accountUuid,
      other.accountUuid,
      service.accountUuid,
    ]);
    expect(newest).toMatchObject({ backlog_count: 0, oldest_pending_at: null });
    await pool.query(`update webhook_endpoints set failing_since = now() where id = $1`, [middle.id]);
    await pool.query(`update webhook_endpoints set status = 'disabled' where id = $1`, [oldest.id]);
    const queued = (endpoint: typeof newest, count: number, attempts: number) =>
      pool.query(
        `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, attempt_count, created_at)
         select $1, uuid_v7('2026-01-01'::timestamptz + n * interval '1 second'), gen_random_uuid(), $2, 'event', $3,
           '2026-01-01'::timestamptz + n * interval '1 second'
         from generate_series($4::integer, $4 + $5 - 1) n`,
        [endpoint.account_id, endpoint.id, attempts, attempts === 0 ? 10 : 1, count],
      );
    await queued(middle, 20, 0);
    await queued(middle, 3, 1);
    await queued(newest, 1_200, 0);
    expect(await read({})).toMatchObject([
      { id: newest.id, backlog_count: 1_000, oldest_pending_at: new Date('2026-01-01T00:00:10Z') },
      { id: middle.id, backlog_count: 23, oldest_pending_at: new Date('2026-01-01T00:00:01Z') },
      { id: oldest.id, backlog_count: 0, oldest_pending_at: null },
    ]);
    const idsOf = async (filter: Parameters<typeof listEndpointHealth>[1]) =>
      (await read(filter)).map(({ id }) => id);
    expect(await idsOf({ failing: true })).toEqual([middle.id]);
    expect(await idsOf({ failing: false })).toEqual([newest.id, oldest.id]);
    expect(await idsOf({ status: 'disabled' })).toEqual([oldest.id]);
    expect(await idsOf({ status: 'enabled', failing: false })).toEqual([newest.id]);
    expect((await read({}, newest.id, 1)).map(({ id }) => id)).toEqual([middle.id]);
    await pool.query('delete from delivery_queue');
    await pool.query('delete from webhook_endpoints');
  });
});
