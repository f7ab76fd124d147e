import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network } from '../../src/network/port.ts';
import type { LockedEsim } from '../../src/orders/esims/lock.ts';
import { updateEsimFields } from '../../src/orders/esims/sql/esims.ts';
import { observe } from '../../src/orders/observations/observe.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const mock = createMockNetwork({ delayMs: 0 });
let confirm: Network['confirm'] = mock.confirm;

let service: TestService;
beforeAll(async () => {
  service = await startService();
  service.startWorker({ ...mock, confirm: (wanted) => confirm(wanted) });
});
afterAll(() => service.stop());
beforeEach(() => {
  confirm = mock.confirm;
});

const body = {
  product_id: 'prod_us_1gb_7d',
  metadata: { order_id: 'A-1', team: 'red' },
  description: 'For Ada',
};

async function get(path: string) {
  return (await call(service, 'GET', path)).json;
}

function ended(executionId: string) {
  return until(
    () => get(`/v1/executions/${executionId}`),
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function newEsim(): Promise<string> {
  return (await ended((await provision(service, undefined, body)).json.id)).iccid;
}

function patch(iccid: string, change: unknown, idempotencyKey?: string) {
  return call(service, 'PATCH', `/v1/esims/${iccid}`, {
    body: change,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
}

describe('an update of an eSIM', () => {
  test('merges metadata, removes keys by null or an empty value, and leaves the rest alone', async () => {
    const iccid = await newEsim();
    const before = await get(`/v1/esims/${iccid}`);
    const { status, json } = await patch(iccid, { metadata: { order_id: 'A-2', team: null, seat: '4c' } });
    expect(status).toBe(200);
    expect(json).toEqual({ ...before, metadata: { order_id: 'A-2', seat: '4c' } });
    expect(await get(`/v1/esims/${iccid}`)).toEqual(json);
    expect((await patch(iccid, { metadata: { seat: '', other: null } })).json.metadata).toEqual({
      order_id: 'A-2',
    });
  });

  test('sets the description, and null removes it', async () => {
    const iccid = await newEsim();
    expect((await patch(iccid, { description: 'For Bob' })).json.description).toBe('For Bob');
    expect((await patch(iccid, {})).json).toMatchObject({ description: 'For Bob', metadata: body.metadata });
    expect((await patch(iccid, { description: null })).json.description).toBeNull();
    expect((await get(`/v1/esims/${iccid}`)).description).toBeNull();
  });

  test('takes what GET shows', async () => {
    const iccid = await newEsim();
    const { metadata, description } = (await patch(iccid, { description: null })).json;
    const again = await patch(iccid, { metadata, description });
    expect([again.status, again.json]).toEqual([200, await get(`/v1/esims/${iccid}`)]);
  });

  test('of a terminated eSIM is possible: its notes outlive it', async () => {
    const iccid = await newEsim();
    await ended((await call(service, 'DELETE', `/v1/esims/${iccid}`)).json.id);
    expect((await patch(iccid, { metadata: { refunded: 'yes' } })).json).toMatchObject({
      status: 'terminated',
      metadata: { ...body.metadata, refunded: 'yes' },
    });
  });

  test('while the eSIM is being provisioned survives provisioning', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    confirm = async (wanted) => {
      await opened;
      return mock.confirm(wanted);
    };
    const { json: accepted } = await provision(service, undefined, body);
    const { iccid } = await until(
      () => get(`/v1/executions/${accepted.id}`),
      (execution) => execution.iccid !== null,
    );
    const { json: changed } = await patch(iccid, { metadata: { team: null, late: '1' }, description: null });
    const want = { metadata: { order_id: 'A-1', late: '1' }, description: null };
    expect(changed).toMatchObject({ status: 'provisioning', ...want });
    expect(await get(`/v1/esims/${iccid}`)).toEqual(changed);
    // On one connection with a report of the network, which changes the same row.
    await service.db.transaction(async (tx) => {
      const seen = {
        kind: 'profile',
        state: 'downloaded',
        iccid,
        at: new Date(service.clock.nowMs()),
      } as const;
      const esim = (await observe(tx, seen, service.service)) as LockedEsim;
      await updateEsimFields(tx, { ...esim, description: 'For Eve' });
    });
    open();
    await ended(accepted.id);
    expect(await get(`/v1/esims/${iccid}`)).toMatchObject({
      status: 'provisioned',
      profile: { state: 'downloaded' },
      ...want,
      description: 'For Eve',
    });
  });

  test('while the eSIM is being provisioned waits for another change of its notes, and leaves its order alone', async () => {
    const iccid = '8999901000000007777';
    await service.db.query(
      {
        name: 'test_insert_open_order',
        text: `
insert into execution_queue (account_id, id, type, product_id, iccid, input, attempts, fence, created_at, due_at)
values ($1, $2, 'esim.provision', 'prod_us_1gb_7d', $3, '{"reference": "R-1"}', 1, 1, now(), now() + interval '1 hour')`,
      },
      [service.accountUuid, service.service.newUuid().toString('hex'), iccid],
    );
    let patched: ReturnType<typeof patch> | undefined;
    await service.db.transaction(async (tx) => {
      const text = `update execution_queue set input = input || '{"metadata": {"first": "1"}}' where iccid = $1`;
      await tx.query({ name: 'test_note', text }, [iccid]);
      patched = patch(iccid, { metadata: { second: '2' } });
      await untilLockIsAwaited(service);
    });
    expect((await patched)?.status).toBe(200);
    const { metadata, reference } = await get(`/v1/esims/${iccid}`);
    expect([metadata, reference]).toEqual([{ first: '1', second: '2' }, 'R-1']);
  });

  test('runs once per key: a repetition gets the first answer and undoes nothing', async () => {
    const iccid = await newEsim();
    const first = await patch(iccid, { metadata: { step: '1' } }, `once-${iccid}`);
    await patch(iccid, { metadata: { step: '2' } });
    const again = await patch(iccid, { metadata: { step: '1' } }, `once-${iccid}`);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await get(`/v1/esims/${iccid}`)).metadata.step).toBe('2');
    const reused = await patch(iccid, { metadata: { step: '3' } }, `once-${iccid}`);
    expect([reused.status, reused.json.error.code]).toEqual([400, 'idempotency_key_reused']);
  });

  test('made by many at once loses nothing', async () => {
    const iccid = await newEsim();
    const names = Array.from({ length: 10 }, (_, n) => `n${n}`);
    await Promise.all(names.map((name) => patch(iccid, { metadata: { [name]: '1' } })));
    const { metadata } = await get(`/v1/esims/${iccid}`);
    expect(Object.keys(metadata).sort()).toEqual([...names, 'order_id', 'team'].sort());
  });

  test.each([
    [{ metadata: { a: 1 } }, 'metadata.a', /must be a string or null/],
    [{ metadata: 'x' }, 'metadata', /must be an object/],
    [{ metadata: null }, 'metadata', /must be an object/],
    [{ metadata: { ['x'.repeat(41)]: 'y' } }, `metadata.${'x'.repeat(41)}`, /1 to 40 characters/],
    [{ description: 'x'.repeat(501) }, 'description', /at most 500/],
    [{ status: 'active' }, 'status', /takes metadata, description/],
    [
      { metadata: Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`k${n}`, 'v'])) },
      'metadata',
      /at most 20 entries.*would be 21.*null/,
    ],
  ])('%j is refused', async (change, param, message) => {
    const iccid = await newEsim();
    const { status, json } = await patch(iccid, change);
    expect([status, json.error.param]).toEqual([400, param]);
    expect(json.error.message).toMatch(message);
    expect((await get(`/v1/esims/${iccid}`)).metadata).toEqual(body.metadata);
  });

  test('of another account’s eSIM is refused as of a missing one', async () => {
    const iccid = await newEsim();
    const other = await service.createAccount('Other');
    const reply = await call({ url: service.url, key: other.key }, 'PATCH', `/v1/esims/${iccid}`, {
      body: { description: 'mine' },
    });
    expect([reply.status, reply.json.error.code]).toEqual([404, 'resource_missing']);
    expect((await get(`/v1/esims/${iccid}`)).description).toBe(body.description);
  });
});
