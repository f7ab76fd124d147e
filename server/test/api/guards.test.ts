import { type EsimStatus, operation } from '@simplane/contract';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hashApiKey } from '../../src/accounts/api-key-text.ts';
import { createKeyDirectory } from '../../src/accounts/key-directory.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { storeBundle } from '../../src/orders/bundles/run-top-up.ts';
import { bundlesByEsim, writeBundles } from '../../src/orders/bundles/write.ts';
import { continueClosings } from '../../src/orders/closing/continue.ts';
import { runErasures } from '../../src/orders/erasures/run.ts';
import { createObservationHandler } from '../../src/orders/observations/handle-observation.ts';
import { lockCarried } from '../../src/orders/observations/sql.ts';
import { writeUsage } from '../../src/orders/observations/usage-sql.ts';
import { continueGroupRetries } from '../../src/orders/operator/continue-group-retries.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed, insertUnknown } from '../support/insert-executions.ts';
import { apiWith, startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

let serial = 0;

async function createEsim(status: EsimStatus): Promise<string> {
  const iccid = `8999903${String(++serial).padStart(12, '0')}`;
  await service.db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, resumes_to, metadata, created_at)
             values ($1, $2, $3, $2, 'prod_us_1gb_7d', $4, case when $4 = 'suspended' then 'active' end, '{}', now())`,
    },
    [service.accountUuid, service.service.newUuid().toString('hex'), iccid, status],
  );
  return iccid;
}

function setStatus(iccid: string, status: EsimStatus) {
  return service.db.query(
    { name: 'test_set_status', text: 'update esims set status = $2 where iccid = $1' },
    [iccid, status],
  );
}

const change = (iccid: string, verb: string, idempotencyKey?: string) => {
  const options = idempotencyKey === undefined ? {} : { idempotencyKey };
  return verb === 'terminate'
    ? call(service, 'DELETE', `/v1/esims/${iccid}`, options)
    : call(service, 'POST', `/v1/esims/${iccid}/${verb}`, options);
};

describe('a 409 decided by the operation is stored under its key', () => {
  test('the same key gets it again even if the eSIM allows the change later; another key does not', async () => {
    const iccid = await createEsim('active');
    const first = await change(iccid, 'resume', 'resume-early');
    expect([first.status, first.json.error.code]).toEqual([409, 'state_conflict']);
    expect(first.json.error.message).toBe(
      'The eSIM is active. To resume it, its status must be one of: suspended.',
    );
    await setStatus(iccid, 'suspended');
    const again = await change(iccid, 'resume', 'resume-early');
    expect([again.status, again.text]).toEqual([409, first.text]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await change(iccid, 'resume', 'resume-late')).status).toBe(202);
  });

  test('an order for an inactive product stays refused for its key after the product becomes active', async () => {
    const activate = (active: boolean) =>
      service.db.query(
        { name: 'test_activate', text: `update products set active = $1 where id = 'prod_gulf_3gb_14d'` },
        [active],
      );
    const order = (key: string) => provision(service, key, { product_id: 'prod_gulf_3gb_14d' });
    await activate(false);
    const first = await order('inactive');
    expect([first.status, first.json.error.code]).toEqual([409, 'state_conflict']);
    await activate(true);
    const again = await order('inactive');
    expect([again.status, again.text, again.headers.get('Idempotent-Replayed')]).toEqual([
      409,
      first.text,
      'true',
    ]);
    expect((await order('active')).status).toBe(202);
  });

  test('an error for a missing setup is not stored: the same key works once the core is connected', async () => {
    const iccid = await createEsim('active');
    const unconnected = await startService({ databaseUrl: service.databaseUrl, core: 'none' });
    const key = await service.createKey();
    const suspend = (url: string) =>
      call({ url, key }, 'POST', `/v1/esims/${iccid}/suspend`, { idempotencyKey: 'core' });
    const ended = await createEsim('active');
    try {
      expect((await suspend(unconnected.url)).json.error.code).toBe('core_not_connected');
      const terminated = await call({ url: unconnected.url, key }, 'DELETE', `/v1/esims/${ended}`);
      expect(terminated.status, 'needs no core').toBe(202);
    } finally {
      await unconnected.stop();
    }
    expect((await suspend(service.url)).status).toBe(202);
  });
});

test('a key that is used again after a day replays its new answer', async () => {
  const [one, other] = [await createEsim('active'), await createEsim('active')];
  const old = await change(one, 'resume', 'of-two-days');
  service.clock.advance(25 * 3_600_000);
  const young = await change(other, 'resume', 'of-two-days');
  expect([young.status, young.headers.get('Idempotent-Replayed')]).toEqual([409, null]);
  const again = await change(other, 'resume', 'of-two-days');
  expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([young.text, 'true']);
  expect(again.text).not.toBe(old.text);
  expect((await change(one, 'resume', 'of-two-days')).json.error.code).toBe('idempotency_key_reused');
});

describe('while a change of an eSIM is open, the next one is refused and names it', () => {
  test.each([
    ['suspend', 'active', ['suspend', 'terminate']],
    ['resume', 'suspended', ['resume', 'terminate']],
    ['terminate', 'active', ['suspend', 'terminate']],
  ] as const)('%s', async (verb, status, next) => {
    const iccid = await createEsim(status);
    const open = await change(iccid, verb);
    expect(open.status).toBe(202);
    for (const other of next) {
      const refused = await change(iccid, other);
      expect([refused.status, refused.json.error.code]).toEqual([409, 'state_conflict']);
      expect(refused.json.error.message).toContain(`esim.${verb}, execution ${open.json.id}`);
    }
    // Another eSIM is not affected.
    expect((await change(await createEsim(status), verb)).status).toBe(202);
  });
});

test('a bundle of unlimited data has no thresholds, ordered with an eSIM or as a top-up that requests some', async () => {
  const own = await startService();
  try {
    own.startWorker(createMockNetwork({ delayMs: 0 }));
    const settled = (id: string) =>
      until(
        async () => (await call(own, 'GET', `/v1/executions/${id}`)).json,
        ({ status }) => status === 'succeeded',
      );
    const order = await provision(own, undefined, { product_id: 'prod_th_unlimited_10d' });
    const { iccid } = await settled(order.json.id);
    const topUps = [{}, { thresholds: [10, 90] }].map(async (more) => {
      const body = { product_id: 'prod_th_unlimited_10d', ...more };
      return settled((await call(own, 'POST', `/v1/esims/${iccid}/bundles`, { body })).json.id);
    });
    await Promise.all(topUps);
    const { data } = (await call(own, 'GET', `/v1/esims/${iccid}/bundles`)).json;
    expect(
      data.map((bundle: { data_bytes: null; thresholds: number[] }) => [
        bundle.data_bytes,
        bundle.thresholds,
      ]),
    ).toEqual([
      [null, []],
      [null, []],
      [null, []],
    ]);
  } finally {
    await own.stop();
  }
});

test('another account gets 404 for every object with an id', async () => {
  const other = await service.createAccount('Other account');
  const iccid = await createEsim('active');
  const endpoint = await call(service, 'POST', '/v1/webhook_endpoints', {
    body: { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] },
  });
  const event = await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
  const execution = await provision(service);
  const deliveries = await call(service, 'GET', `/v1/events/${event.json.id}/deliveries`);
  const [{ id: deliveryId }] = deliveries.json.data;
  const places: [string, string, object?][] = [
    ['GET', `/v1/esims/${iccid}`],
    ['GET', `/v1/esims/${iccid}/install`],
    ['GET', `/v1/esims/${iccid}/bundles`],
    ['POST', `/v1/esims/${iccid}/suspend`],
    ['DELETE', `/v1/esims/${iccid}`],
    ['POST', `/v1/esims/${iccid}/bundles`, { product_id: 'prod_us_1gb_7d' }],
    ['POST', `/v1/sandbox/esims/${iccid}/simulate`, { action: 'download' }],
    ['GET', `/v1/executions/${execution.json.id}`],
    ['GET', `/v1/events/${event.json.id}`],
    ['GET', `/v1/events/${event.json.id}/deliveries`],
    ['POST', `/v1/events/${event.json.id}/replay`],
    ['GET', `/v1/deliveries/${deliveryId}`],
    ['POST', `/v1/deliveries/${deliveryId}/retry`],
    ['GET', `/v1/webhook_endpoints/${endpoint.json.id}`],
    ['GET', `/v1/webhook_endpoints/${endpoint.json.id}/deliveries`],
    ['PATCH', `/v1/webhook_endpoints/${endpoint.json.id}`, { description: 'mine' }],
    ['POST', `/v1/webhook_endpoints/${endpoint.json.id}/enable`],
    ['POST', `/v1/webhook_endpoints/${endpoint.json.id}/rotate_secret`],
    ['DELETE', `/v1/webhook_endpoints/${endpoint.json.id}`],
  ];
  for (const [method, path, body] of places) {
    const reply = await call(service, method, path, { key: other.key, ...(body && { body }) });
    expect([method, path, reply.status, reply.json.error.code]).toEqual([
      method,
      path,
      404,
      'resource_missing',
    ]);
  }
});

test('if two processes get the same key at once, one runs the operation and the other reports that it is running', async () => {
  let runs = 0;
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const definition = operation({
    method: 'POST',
    path: '/v1/held',
    tag: 'Probes',
    summary: 'A write',
    description: 'A write',
    scope: 'write',
    audit: { action: 'esim.updated', target: 'esim' },
    body: Type.Object({}, { additionalProperties: false }),
    status: 200,
    response: Type.Object({ runs: Type.Integer() }),
    refusals: [],
  });
  const run = async () => {
    runs += 1;
    await gate;
    return { body: { runs } };
  };
  const api = apiWith({ operations: { held: definition }, handlers: { held: run } });
  const { databaseUrl } = service;
  const processes = await Promise.all([1, 2].map(() => startService({ databaseUrl, api })));
  const held = (url: string) =>
    call({ url, key: service.key }, 'POST', '/v1/held', { idempotencyKey: 'held' });
  try {
    const [one, other] = processes as [TestService, TestService];
    const first = held(one.url);
    await until(
      async () => runs,
      (count) => count === 1,
    );
    const second = await Promise.race([
      held(other.url),
      new Promise<null>((go) => setTimeout(go, 20_000, null)),
    ]);
    expect([second?.status, second?.json.error.code]).toEqual([409, 'idempotency_in_progress']);
    release();
    expect((await first).json).toEqual({ runs: 1 });
    expect((await held(other.url)).headers.get('Idempotent-Replayed')).toBe('true');
  } finally {
    release();
    await Promise.all(processes.map((one) => one.stop()));
  }
});

test('a key that has used up its rate limit does not slow another key of its account', async () => {
  const limited = await startService({ databaseUrl: service.databaseUrl, rateLimitPerSecond: 1 });
  try {
    const [hasty, calm] = await Promise.all([service.createKey(), service.createKey()]);
    const me = (key: string) => call({ url: limited.url, key }, 'GET', '/v1/me');
    const replies = await Promise.all(Array.from({ length: 40 }, () => me(hasty)));
    expect(replies.some(({ status }) => status === 429)).toBe(true);
    expect((await me(calm)).status).toBe(200);
  } finally {
    await limited.stop();
  }
});

test('a key in use is refused within 2.5 seconds after it is revoked', async () => {
  let nowMs = 0;
  const keys = createKeyDirectory(service.db, () => nowMs);
  const other = await startService({ databaseUrl: service.databaseUrl, keys });
  try {
    const key = await service.createKey();
    const me = async () => (await call({ url: other.url, key }, 'GET', '/v1/me')).status;
    expect(await me()).toBe(200);
    await service.db.query(
      { name: 'test_revoke', text: 'update api_keys set revoked_at = now() where hash = $1' },
      [hashApiKey(key)],
    );
    expect(await me()).toBe(200); // cached: no statement per request
    nowMs = 2_500;
    expect(await me()).toBe(401);
  } finally {
    await other.stop();
  }
});

test('a bundle that changed since it was read is not overwritten', async () => {
  const iccid = await createEsim('active');
  const holder = { account_id: service.accountUuid, iccid };
  const product = { id: 'prod_us_1gb_7d', data_bytes: 1000, validity_days: 7, countries: ['US'] };
  await storeBundle(
    service.db,
    { accountUuid: service.accountUuid, iccid, product, price: null },
    service.service,
  );
  const before = (await bundlesByEsim(service.db, [holder])).get(iccid) ?? [];
  await service.db.query(
    { name: 'test_cancel_bundle', text: `update bundles set status = 'canceled' where iccid = $1` },
    [iccid],
  );
  const after = before.map((bundle) => ({ ...bundle, status: 'active' as const, used_bytes: 7 }));
  await expect(writeBundles(service.db, before, after)).rejects.toThrow('a bundle changed');
  const [bundle] = (await bundlesByEsim(service.db, [holder])).get(iccid) ?? [];
  expect(bundle).toMatchObject({ status: 'canceled', used_bytes: 0 });
});

test('usage is not written over a status that changed since it was read', async () => {
  const iccid = await createEsim('active');
  const [esim] = await lockCarried(service.db, [iccid], null);
  if (!esim) throw new Error('no eSIM');
  await setStatus(iccid, 'suspended');
  const esims = [{ from: esim.status, to: { ...esim, uncovered_bytes: 7 } }];
  const written = writeUsage(service.db, { records: [], corrected: [], esims, bundles: [] });
  await expect(written).rejects.toThrow('an eSIM or a bundle changed');
  const { rows } = await service.db.pool.query('select status from esims where iccid = $1', [iccid]);
  expect(rows).toEqual([{ status: 'suspended' }]);
});

describe('work is announced at once, so that nobody waits for a poll', () => {
  let own: TestService;
  let operator: { url: string; key: string };
  let account: string;
  let announce: { mock: { calls: unknown[][] }; mockClear(): unknown };
  // Without a worker, which announces as well.
  beforeAll(async () => {
    own = await startService();
    operator = { url: own.url, key: await own.createKey({ scopes: ['operator', 'operator_write'] }) };
    account = own.accountUuid.replaceAll('-', '');
    announce = vi.spyOn(own.service.signals, 'announce');
  });
  afterAll(() => own.stop());

  /** What is announced meanwhile, with its account. */
  async function toldOf(work: () => Promise<unknown>): Promise<unknown[]> {
    announce.mockClear();
    await work();
    return announce.mock.calls.map((given) => given.map((one) => String(one).replaceAll('-', '')));
  }
  const post = async (path: string, body: object = {}, by: { url: string; key: string } = own) => {
    const { status, text, json } = await call(by, 'POST', path, { body });
    expect(status, text).toBeLessThan(300);
    return json;
  };

  test('of orders: those that are accepted, started again or continued', async () => {
    const product_id = 'prod_europe_5gb_30d';
    const iccid = await insertEsim(own);
    const [failed, unknown] = [await insertFailed(own, 'declined', null), await insertUnknown(own)];
    const group = `fg_${'1'.repeat(24)}`;
    await insertFailed(own, 'declined', group);
    for (const work of [
      () => post('/v1/batches', { product_id, quantity: 1 }),
      () => post(`/v1/esims/${iccid}/suspend`),
      () => post(`/v1/operator/executions/${failed}/retry`, {}, operator),
      () => post(`/v1/operator/executions/${unknown}/resolve`, { outcome: 'not_reserved' }, operator),
      () => post(`/v1/operator/failure_groups/${group}/retry`, {}, operator),
    ])
      expect(await toldOf(work), String(work)).toEqual([['executions']]);
    await own.db.pool.query(`update failure_group_retries set status = 'running'`);
    const goOn = () => continueGroupRetries(own.db, own.service, new AbortController().signal);
    expect(await toldOf(goOn)).toContainEqual(['executions']);
  });

  test('of events: those of what was canceled, used, seen, closed and erased', async () => {
    const iccid = await insertEsim(own);
    const product = { id: 'prod_us_1gb_7d', data_bytes: 1000, validity_days: 7, countries: ['US'] };
    const { accountUuid } = own;
    const uuid = await storeBundle(own.db, { accountUuid, iccid, product, price: null }, own.service);
    const waiting = (await provision(own)).json.id;
    const batch = await post('/v1/batches', { product_id: 'prod_europe_5gb_30d', quantity: 1 });
    const at = Math.floor(own.clock.nowMs() / 1000);
    const seen = { kind: 'profile', iccid, at: new Date(own.clock.nowMs()), state: 'downloaded' } as const;
    const simulate = (body: object) => post(`/v1/sandbox/esims/${iccid}/simulate`, body);
    const usage_records = [{ record_id: 'a', iccid, bytes: 1, at, country: 'US' }];
    for (const work of [
      () => post(`/v1/executions/${waiting}/cancel`),
      () => post(`/v1/batches/${batch.id}/cancel`),
      () => call(own, 'DELETE', `/v1/esims/${iccid}/bundles/${idOfUuid('bdl', uuid)}`),
      () => simulate({ action: 'install' }),
      () => createObservationHandler(own.service)(seen),
      () => post('/v1/usage_records', { records: usage_records }),
      () =>
        post(
          '/v1/operator/observations',
          { usage_records: [{ ...usage_records[0], record_id: 'b', country: 'FR' }] },
          operator,
        ),
      () =>
        post(
          '/v1/operator/observations',
          { profile: { iccid, at_ms: at * 1000, state: 'installed' } },
          operator,
        ),
    ])
      expect(await toldOf(work), String(work)).toEqual([['deliveries', account]]);

    const { accountUuid: closed } = await own.createAccount('Closed');
    const id = idOfUuid('acct', closed);
    await call(operator, 'DELETE', `/v1/operator/accounts/${id}?terminate_esims=true`);
    own.clock.advance(10_000);
    const ofClosed = ['deliveries', closed.replaceAll('-', '')];
    const told = await toldOf(() => continueClosings(own.db, own.service));
    expect(told.slice(0, 2)).toEqual([['executions'], ofClosed]);
    await post(`/v1/operator/accounts/${id}/erase`, {}, operator);
    expect(await toldOf(() => runErasures(own.db, own.service))).toContainEqual(ofClosed);
  });
});
