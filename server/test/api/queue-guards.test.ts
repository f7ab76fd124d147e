import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { newEvent } from '../../src/notify/events/new-event.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
} from '../../src/notify/webhooks/sender/sql/claim-deliveries.ts';
import { postponeDelivery } from '../../src/notify/webhooks/sender/sql/leases.ts';
import { allot } from '../../src/orders/esims/allot.ts';
import type { IccidSource } from '../../src/orders/esims/iccid.ts';
import { failAfterLastAttempt } from '../../src/orders/esims/roll-back-provision.ts';
import { changeStatus } from '../../src/orders/esims/sql/esims.ts';
import { allotRows, detachIccid, settleProvisionedRows } from '../../src/orders/esims/sql/orders.ts';
import { hold } from '../../src/orders/executions/hold.ts';
import type { Deps } from '../../src/orders/executions/runner.ts';
import { type ClaimedExecution, claimExecutionRows } from '../../src/orders/executions/sql/queue.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

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

test('an order keeps the ICCID of its first claim: the network may have it', async () => {
  await provision(service);
  const claim = async (number: string) => {
    const wanted = { count: 1, holder: randomUUID(), leaseMs: 60_000, since: null, iccids: [number] };
    return (await claimExecutionRows(service.db, wanted)).executions;
  };
  const [first] = await claim('8999901000000005555');
  expect(first).toMatchObject({ iccid: '8999901000000005555', fence: 1 });
  await service.db.pool.query('update execution_queue set leased_until = now() where id = $1', [first?.id]);
  expect(await claim('8999901000000004444')).toMatchObject([
    { id: first?.id, iccid: first?.iccid, fence: 2 },
  ]);
});

test('an order that another worker has claimed meanwhile does not go on, and the number taken for it goes back', async () => {
  const order = await claimOrder();
  await read('update execution_queue set fence = fence + 1 where leased_until > now()');
  const { keyring, db } = service.service;
  const network = { ...createMockNetwork({ delayMs: 0 }), forgetsCalls: true };
  const returned: string[] = [];
  const numbers: IccidSource = {
    allot: async () => [iccid],
    stock: null,
    giveBack: async (_, given, state) => void returned.push(`${given} ${state}`),
  };
  expect(await allot({ keyring, db, network } as Deps, [order], numbers)).toEqual([]);
  expect(returned).toEqual([`${iccid} free`]);
});

test('an execution is counted by the worker that ends it, and not by one that has lost its claim', async () => {
  const order = await claimOrder();
  const counted: string[] = [];
  const deps = { ...service.service, onOutcome: (_: string, outcome: string) => counted.push(outcome) };
  const end = (claimed: ClaimedExecution) =>
    hold(deps as unknown as Deps, null, claimed, new AbortController().signal).finish(service.db, null);
  expect([await end({ ...order, fence: order.fence - 1 }), counted]).toEqual([false, []]);
  expect([await end(order), counted]).toEqual([true, ['succeeded']]);
});

test('the number of an order whose profile was canceled is not given out again', async () => {
  const order = { ...(await claimOrder()), iccid: '8999901000000006666', progress: { is_closed: true } };
  await service.db.pool.query('update execution_queue set iccid = $1 where id = $2', [order.iccid, order.id]);
  const deps = { ...service.service, network: createMockNetwork({ delayMs: 0 }), onOutcome: () => {} };
  const held = hold(deps as unknown as Deps, null, order, new AbortController().signal);
  const error = { code: 'internal', message: 'It failed too often.', retryable: true } as const;
  const returned: string[] = [];
  const giveBack = async (_: unknown, given: string) => void returned.push(given);
  await failAfterLastAttempt(deps as unknown as Deps, held, error, giveBack);
  expect(returned).toEqual([]);
  const { json } = await call(service, 'GET', `/v1/esims/${order.iccid}`);
  expect(json).toMatchObject({ status: 'failed' });
});

test('the number of a terminated eSIM does not go back, nor that of one whose change is being accepted', async () => {
  const give = async (text: string, number: string) => {
    const order = await claimOrder();
    await service.db.pool.query(`update execution_queue set ${text} iccid = $1 where id = $2`, [
      number,
      order.id,
    ]);
    return order;
  };
  const terminated = await give('is_terminated = true,', '8999901000000004444');
  expect(await detachIccid(service.db, terminated)).toBeNull();

  const number = '8999901000000003333';
  const order = await give('', number);
  let detached: Promise<string | null> | undefined;
  await service.db.transaction(async (tx) => {
    const hold = 'select from execution_queue where id = $1 for update';
    await tx.query({ name: 'test_hold_order', text: hold }, [order.id]);
    await tx.query(
      {
        name: 'test_insert_termination',
        text: `
insert into execution_queue (account_id, id, type, product_id, iccid, input, created_at, due_at)
values ($1, $2, 'esim.terminate', 'prod_us_1gb_7d', $3, '{}', now(), now() + interval '1 hour')`,
      },
      [order.account_id, randomUUID(), number],
    );
    detached = service.db.transaction((other) => detachIccid(other, order));
    await untilLockIsAwaited(service);
  });
  expect(await detached).toBeNull();
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

test('a delivery whose attempt was recorded meanwhile is not postponed', async () => {
  const claim = await createDue();
  const delivery = (await claim()) as ClaimedDelivery;
  await read(`update delivery_queue set attempt_count = attempt_count + 1`);
  const due = () => read('select due_at from delivery_queue order by id');
  const before = await due();
  await postponeDelivery(service.db, delivery, 60_000);
  expect(await due()).toEqual(before);
});

test('a pending delivery of a disabled endpoint is never claimed', async () => {
  const claim = await createDue();
  await read(`update webhook_endpoints set status = 'disabled'`);
  expect(await claim()).toBeUndefined();
  await read(`update webhook_endpoints set status = 'enabled'`);
  expect(await claim()).toBeDefined();
});
