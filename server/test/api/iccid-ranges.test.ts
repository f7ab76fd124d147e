import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIccidSource } from '../../src/orders/esims/iccid.ts';
import { createDatabaseClock } from '../../src/platform/db/database-clock.ts';
import { startHeartbeat } from '../../src/platform/processes/start-heartbeat.ts';
import { createThroughput } from '../../src/platform/telemetry/throughput.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startService();
  key = await service.createKey({ scopes: ['operator'] });
});
afterAll(() => service.stop());

const first = '898830300000000000';

/** Runs a worker that has the range with this size, until `work` is done. */
async function withRange(size: number, work: () => Promise<void>): Promise<void> {
  const { db, newUuid } = service.service;
  const report = {
    ...{ cell: null, encryption_keys: [], certificates: [], clock_skew_ms: 0, networks: [] },
    iccid_ranges: [{ first, size }],
    throughput: createThroughput().read(),
  };
  const heartbeat = await startHeartbeat({
    ...{ db, newUuid, clock: createDatabaseClock(), role: 'worker', version: '1.2.3', beatMs: 3_600_000 },
    report: () => report,
    onError: (error) => {
      throw error;
    },
  });
  await work();
  await heartbeat.stop();
}

const shown = async () => (await call(service, 'GET', '/v1/operator/iccid_ranges', { key })).json.data;

test('a range that processes give different sizes has the largest, whichever reported last', () =>
  withRange(500, () =>
    withRange(1_000, () =>
      withRange(700, async () => {
        expect(await shown()).toMatchObject([{ size: 1_000, free: 1_000 }]);
      }),
    ),
  ));

test('a range that was made smaller than what was taken has nothing left', async () => {
  await createIccidSource([{ first, size: 100 }]).allot(service.db, 20);
  await withRange(10, async () => {
    expect(await shown()).toMatchObject([{ size: 10, taken: 10, free: 0 }]);
  });
});

test('the pace of a range is told only after an hour, and no range lasts forever', async () => {
  const count = (minutes: number) =>
    service.db.pool.query(
      `insert into iccid_range_hours (first_number, hour, taken, counted_at)
       values ($1, now() - $2 * interval '1 minute', 0, now() - $2 * interval '1 minute')`,
      [first, minutes],
    );
  await withRange(100, async () => {
    await count(59);
    expect(await shown()).toMatchObject([{ taken_last_week: null, days_left: null }]);
    await count(24 * 60);
    expect(await shown()).toMatchObject([{ taken_last_week: 20, days_left: 4 }]);
  });
});
