import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOperator } from '../../../sdk/src/index.ts';
import { startHeartbeat } from '../../src/processes/start-heartbeat.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operator: ReturnType<typeof createOperator>;

beforeAll(async () => {
  service = await startService();
  const apiKey = await service.createKey({ scopes: ['operator'] });
  operator = createOperator({ apiKey, baseUrl: service.url });
});
afterAll(() => service.stop());

const rethrow = (error: unknown) => {
  throw error;
};

/** A process of this deployment. The test writes its heartbeats itself: the next one by the timer is an hour away. */
function startProcess(role: 'all' | 'api' | 'worker', report: () => object = () => ({})) {
  const { db, newUuid } = service.service;
  return startHeartbeat({ db, newUuid, role, version: '1.2.3', report, onError: rethrow, beatMs: 3_600_000 });
}

describe('processes', () => {
  const roles = async () => (await operator.processes.list()).data.map(({ role }) => role);

  test('are listed while they run, with role, version, host and times of the database’s clock', async () => {
    const worker = await startProcess('worker');
    const api = await startProcess('api');
    const { data } = await operator.processes.list();
    expect(data).toMatchObject([
      { object: 'process', role: 'api', version: '1.2.3', pid: process.pid, host: expect.any(String) },
      { role: 'worker' },
    ]);
    const { rows } = await service.db.pool.query<{ now: number }>(
      'select extract(epoch from now())::integer as now',
    );
    const now = rows[0]?.now ?? 0;
    expect(Math.abs((data[0]?.last_seen_at ?? 0) - now)).toBeLessThan(25);
    expect(data[0]?.since).toBeLessThanOrEqual(data[0]?.last_seen_at ?? 0);
    await api.stop();
    expect(await roles()).toEqual(['worker']);
    await worker.stop();
    expect(await roles()).toEqual([]);
  });

  test('leave the list within 30 seconds of their last heartbeat, and the table with the next one of another', async () => {
    const killed = await startProcess('worker');
    const { pool } = service.db;
    await pool.query(`update processes set seen_at = now() - interval '24 seconds'`);
    expect(await roles()).toEqual(['worker']);
    await pool.query(`update processes set seen_at = now() - interval '26 seconds'`);
    expect(await roles()).toEqual([]);
    const other = await startProcess('all');
    expect((await pool.query('select role from processes')).rows).toEqual([{ role: 'all' }]);
    await Promise.all([killed.stop(), other.stop()]);
  });
});
