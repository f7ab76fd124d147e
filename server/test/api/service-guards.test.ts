import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Core, Reply } from '../../src/network/port.ts';
import { lockOwnEsim } from '../../src/orders/esims/lock.ts';
import { storeRefused } from '../../src/orders/service/core-sql.ts';
import { refreshService } from '../../src/orders/service/write.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let iccid: string;
beforeAll(async () => {
  service = await startService({ core: 'state' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());
beforeEach(async () => {
  const { json } = await provision(service);
  const done = await until(
    async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  iccid = done.iccid;
});

async function queued() {
  const text = 'select version, is_refused, service from core_queue where iccid = $1';
  const [row] = await service.db.query<{ version: number; is_refused: boolean }>(
    { name: 'test_core_row', text },
    [iccid],
  );
  return row;
}

const inTransaction = (run: (esim: Awaited<ReturnType<typeof lockOwnEsim>>) => object) =>
  service.db.transaction(async (tx) => {
    const esim = await lockOwnEsim(tx, service.accountUuid, iccid);
    await refreshService(tx, { ...esim, ...run(esim) }, service.service);
  });

test('a version is written once: a writer that read an older one fails', async () => {
  await inTransaction(() => ({ status: 'suspended' }));
  expect(await queued()).toMatchObject({ version: 2 });
  const stale = inTransaction(() => ({ service_version: 1, status: 'terminated' }));
  await expect(stale).rejects.toThrow('the eSIM is locked');
  expect(await queued()).toMatchObject({ version: 2, service: { reason: 'suspended' } });
});

test('an older version does not overwrite a newer one in the queue', async () => {
  const raise = 'update core_queue set version = 9 where iccid = $1';
  await service.db.query({ name: 'test_raise', text: raise }, [iccid]);
  await inTransaction(() => ({ status: 'suspended' }));
  expect(await queued()).toMatchObject({ version: 9, service: { state: 'full' } });
});

test('a refusal of an older version leaves a newer one in the queue as it is', async () => {
  await inTransaction(() => ({ status: 'suspended' }));
  const key = { account_id: service.accountUuid, iccid, version: 1 };
  expect(await storeRefused(service.db, key, { code: 'declined', message: 'no' })).toBe(false);
  expect(await queued()).toMatchObject({ version: 2, is_refused: false });
});

test('a state that is being sent is not sent by others meanwhile', async () => {
  const calls: string[] = [];
  let answer = () => {};
  const slow: Core = {
    setService: ({ id }) =>
      new Promise((resolve) => {
        calls.push(id);
        answer = () => resolve({ kind: 'done', result: {} });
      }),
  };
  await service.db.query({ name: 'test_empty', text: 'delete from core_queue where iccid <> $1' }, [iccid]);
  const workers = [service.startCore(slow), service.startCore(slow)];
  await until(
    async () => calls.length,
    (count) => count > 0,
  );
  for (let n = 0; n < 30; n++) {
    for (const worker of workers) worker.wake();
    await queued();
  }
  expect(calls).toHaveLength(1);
  answer();
  await Promise.all(workers.map((worker) => worker.stop(1_000)));
});

test('while the core is down, only a probe is claimed, and the others wait untouched', async () => {
  const calls: string[] = [];
  const down: Core = {
    async setService({ id }): Promise<Reply<never>> {
      calls.push(id);
      return { kind: 'failed', reason: { code: 'network_unavailable', message: 'down' }, isDown: true };
    },
  };
  const worker = service.startCore(down, {
    pause: { afterFailures: 1, pauseMs: 3_600_000 },
    concurrency: 1,
  });
  await until(
    async () => calls.length,
    (count) => count > 0,
  );
  for (let n = 0; n < 3; n++) worker.wake();
  await worker.stop(1_000);
  const leased =
    "select 1 from core_queue where leased_until is not null or due_at > now() + interval '2 seconds'";
  expect(await service.db.query({ name: 'test_touched', text: leased }, [])).toEqual([]);
  expect(calls).toHaveLength(1);
});

test('a suspension ends when the core has it, without waiting for the next look', async () => {
  const worker = service.startCore({ setService: async () => ({ kind: 'done', result: {} }) });
  const { json } = await call(service, 'POST', `/v1/esims/${iccid}/suspend`);
  const done = await until(
    async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded',
    60_000,
  );
  expect(done.finished_at - done.created).toBeLessThan(60);
  await worker.stop(1_000);
});
