import { expect, test } from 'vitest';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

test.each(['failed', 'canceled', 'pending', 'succeeded'])(
  'an endpoint’s %s deliveries are found without reading thousands of later ones',
  async (status) => {
    const service = await startService();
    const { pool } = service.db;
    try {
      const endpoint = { url: 'https://example.com/', enabled_event_types: ['*'] };
      const { id } = (await call(service, 'POST', '/v1/webhook_endpoints', { body: endpoint })).json;
      await pool.query(
        `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, created_at)
         select account_id, uuid_v7(now() + n * interval '1 second'), gen_random_uuid(), id, $1, 'event', now()
         from webhook_endpoints, generate_series(1, 5000) n`,
        [status === 'succeeded' ? 'canceled' : 'succeeded'],
      );
      const { rows } = await pool.query(
        status === 'pending'
          ? `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
             select account_id, uuid_v7(now()), gen_random_uuid(), id, 'event', now() from webhook_endpoints returning id`
          : `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, created_at)
             select account_id, uuid_v7(now()), gen_random_uuid(), id, '${status}', 'event', now()
             from webhook_endpoints returning id`,
      );
      await pool.query('analyze deliveries');
      // The pool reuses this connection next, so the query below gets a generic plan.
      await pool.query('set plan_cache_mode = force_generic_plan');
      const { json } = await call(service, 'GET', `/v1/webhook_endpoints/${id}/deliveries?status=${status}`);
      expect(json.data.map((delivery: { id: string }) => delivery.id)).toEqual([idOfUuid('dlv', rows[0].id)]);
      const readStats = async () =>
        (
          await pool.query(
            `select sum(idx_scan)::integer as scans, sum(idx_tup_read)::integer as read
             from pg_stat_user_indexes where relname in ('deliveries', 'delivery_queue')`,
          )
        ).rows[0];
      // PostgreSQL updates its statistics with a delay.
      const { read } = await until(readStats, ({ scans }) => scans > 0);
      expect(read).toBeLessThan(100);
    } finally {
      await service.stop();
    }
  },
);
