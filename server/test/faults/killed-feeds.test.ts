import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call, provision } from '../support/client.ts';
import { spawnServer } from '../support/process.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const preload = fileURLToPath(new URL('../support/die-at-statement.mjs', import.meta.url));

let service: TestService;
let iccids: string[];
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  await Promise.all(Array.from({ length: 5 }, () => provision(service)));
  const esims = await until(
    async () => (await call(service, 'GET', '/v1/esims?status=provisioned')).json.data,
    (data) => data.length === 5,
  );
  iccids = esims.map(({ iccid }: { iccid: string }) => iccid);
});
afterAll(() => service.stop());

async function countedBytes(): Promise<number[]> {
  return Promise.all(
    iccids.map(async (iccid) => {
      const { json: esim } = await call(service, 'GET', `/v1/esims/${iccid}`);
      const { json: bundles } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
      return esim.uncovered_bytes + bundles.data[0].used_bytes;
    }),
  );
}

describe('a process killed', () => {
  test.each([
    ['while it holds the eSIM locks', 'esim_lock_carried:after:1'],
    ['after all writes, before the commit', 'event_emit:before:1'],
    ['after the commit, before the answer', 'usage_write:commit:1'],
  ])('%s leaves a batch that counts once when resent', async (name, moment) => {
    const records = iccids.map((iccid, index) => ({
      record_id: name,
      iccid,
      // Crosses a threshold each time, so there is an event to write.
      bytes: 3_000_000_000 + index,
      at: Math.floor(Date.now() / 1_000),
    }));
    const before = await countedBytes();
    const doomed = await spawnServer(
      {
        DATABASE_URL: service.databaseUrl,
        SIMPLANE_API_KEY: 'sp_test_killed_feeds_sandbox',
        SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 3).toString('base64'),
        DIE_AT: moment,
      },
      { preload },
    );
    const request = { body: { records }, idempotencyKey: moment };
    const target = { url: doomed.url, key: service.key };
    await expect(call(target, 'POST', '/v1/usage_records', request)).rejects.toThrow();
    expect(await doomed.ended).toBe('SIGKILL');
    // Its connection may outlive it briefly; until it closes, the key is in progress.
    const retried = await until(
      () => call(service, 'POST', '/v1/usage_records', request),
      ({ status }) => status !== 409,
    );
    expect(retried.json).toMatchObject({ accepted: 5, duplicates: 0, rejected: 0 });
    const again = await call(service, 'POST', '/v1/usage_records', { body: { records } });
    expect(again.json).toMatchObject({ accepted: 0, duplicates: 5 });
    expect(await countedBytes()).toEqual(before.map((bytes, index) => bytes + 3_000_000_000 + index));
  });

  test('never causes a second event for a threshold', async () => {
    const { json } = await call(service, 'GET', '/v1/events?type=bundle.usage_threshold&limit=100');
    const thresholds = json.data.map(
      ({ data }: { data: Record<string, unknown> }) => `${data['iccid']} ${data['threshold_percent']}`,
    );
    expect(thresholds.length).toBe(iccids.length * 3);
    expect(new Set(thresholds).size).toBe(thresholds.length);
  });
});
