import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newEvent } from '../../src/notify/events/new-event.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
} from '../../src/notify/webhooks/sender/sql/claim-deliveries.ts';
import { postponeDelivery } from '../../src/notify/webhooks/sender/sql/leases.ts';
import { changeStatus } from '../../src/orders/esims/sql/esims.ts';
import { allotRows, settleProvisionedRows } from '../../src/orders/esims/sql/orders.ts';
import { type ClaimedExecution, claimExecutionRows } from '../../src/orders/executions/sql/queue.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const iccid = '8999901000000009999';

async function read(text: string): Promise<Record<string, unknown>[]> {
  return (await service.db.pool.query(text)).rows;
}

async function claimOrder(): Promise<ClaimedExecution> {
  await provision(service);
  const wanted = { count: 1, holder: randomUUID(), leaseMs: 60_000, since: null, iccids: [] };
  const { executions } = await claimExecutionRows(service.db, wanted);
  return executions[0] as ClaimedExecution;
}

test('an order keeps its first matching id, and a terminated one is not settled', async () => {
  const order = await claimOrder();
  const first = await allotRows(service.db, [{ ...order, iccid, sealedMatchingId: 'first' }]);
  expect(first).toMatchObject([{ id: order.id, iccid, progress: { matching_id: 'first' } }]);
  expect(await allotRows(service.db, [{ ...order, iccid, sealedMatchingId: 'second' }])).toEqual([]);
  expect(await read('select progress from execution_queue')).toMatchObject([
    { progress: { matching_id: 'first' } },
  ]);

  await read('update execution_queue set is_terminated = true');
  const event = newEvent(service.service, {
    accountUuid: order.account_id,
    type: 'esim.provisioned',
    data: {},
  });
  const done = {
    ...order,
    iccid,
    smdpAddress: 'smdp.example.com',
    sealedMatchingId: 'first',
    confirmationCodeRequired: false,
    bundleUuid: randomUUID(),
    at: new Date(),
    event,
  };
  const noBundle = (source: string) => `no_bundle as (select from ${source})`;
  expect(
    await settleProvisionedRows(service.db, [done], { firstBundle: noBundle, core: 'none' }),
  ).toMatchObject([{ outcome: 'gone' }]);
  expect(await read('select from execution_queue')).toHaveLength(1);
  expect([...(await read('select from esims')), ...(await read('select from events'))]).toEqual([]);
});

test('an order that has an ICCID already keeps it', async () => {
  const order = await claimOrder();
  const own = '8999901000000008888';
  await service.db.pool.query('update execution_queue set iccid = $1 where id = $2', [own, order.id]);
  const wanted = { ...order, iccid: '8999901000000007777', sealedMatchingId: 'first' };
  expect(await allotRows(service.db, [wanted])).toMatchObject([{ id: order.id, iccid: own }]);
});

test('an eSIM is changed only from a status that allows it', async () => {
  const esim = { account_id: service.accountUuid, iccid: await insertEsim(service) };
  expect(await changeStatus(service.db, esim, 'terminate')).toMatchObject({ status: 'terminated' });
  for (const change of ['suspend', 'resume', 'activate'] as const) {
    expect(await changeStatus(service.db, esim, change)).toBeNull();
  }
});

const lowest = '00000000-0000-0000-0000-000000000000';

/** Creates an endpoint with one due delivery; the returned function claims it as a new sender. */
async function createDue() {
  const { json } = await call(service, 'POST', '/v1/webhook_endpoints', {
    body: { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] },
  });
  await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
  const endpointUuid = uuidOfId('we', json.id) as string;
  return async () => {
    const { deliveries } = await claimDeliveries(service.db, {
      wanted: [{ accountUuid: service.accountUuid, endpointUuid, slots: 1, afterUuid: lowest }],
      heldUuids: [],
      holder: randomUUID(),
      leaseMs: 25_000,
      renewBelowMs: 20_000,
      now: new Date(),
    });
    return deliveries[0];
  };
}

test('a sender that lost its endpoint postpones nothing', async () => {
  const claim = await createDue();
  const former = (await claim()) as ClaimedDelivery;
  await read(`update endpoint_leases set leased_until = now() - interval '1 second'`);
  const holder = (await claim()) as ClaimedDelivery;
  expect(holder.id).toBe(former.id);
  const due = () => read('select due_at from delivery_queue');
  const before = await due();
  await postponeDelivery(service.db, former, 60_000);
  expect(await due()).toEqual(before);
  await postponeDelivery(service.db, holder, 60_000);
  expect(await due()).not.toEqual(before);
});

test('a pending delivery of a disabled endpoint is never claimed', async () => {
  const claim = await createDue();
  await read(`update webhook_endpoints set status = 'disabled'`);
  expect(await claim()).toBeUndefined();
  await read(`update webhook_endpoints set status = 'enabled'`);
  expect(await claim()).toBeDefined();
});
