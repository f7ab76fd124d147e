import { type EsimStatus, type EventTypeName, eventTypes } from '@simplane/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Observation } from '../../src/network/port.ts';
import { expireBundles } from '../../src/orders/bundles/expire.ts';
import { storeBundle } from '../../src/orders/bundles/run-top-up.ts';
import { findEsim } from '../../src/orders/esims/sql/esims.ts';
import { observe } from '../../src/orders/observations/observe.ts';
import { takeUsage } from '../../src/orders/observations/take-usage.ts';
import { call } from '../support/client.ts';
import { downloadFailure } from '../support/profile-failure.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const dayMs = 86_400_000;
let serial = 0;

/** An eSIM in the state that provisioning leaves, with queued bundles of these sizes. */
async function createEsim(status: EsimStatus = 'provisioned', sizes: (number | null)[] = []) {
  const iccid = `8999901${String(++serial).padStart(12, '0')}`;
  await service.db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, profile_state,
               profile_observed_at, metadata, created_at, provisioned_at)
             values ($1, $2, $3, $2, 'prod_test', $4, 'released', $5, '{}', $6, $5)`,
    },
    [
      service.accountUuid,
      service.service.newUuid().toString('hex'),
      iccid,
      status,
      new Date(service.clock.nowMs()),
      new Date(service.clock.nowMs() - 40 * 86_400_000),
    ],
  );
  for (const [index, data_bytes] of sizes.entries()) {
    const product = {
      id: `prod_${index + 1}`,
      data_bytes,
      validity_days: 30,
      countries: ['DE', 'FR', 'IT', 'US'],
    };
    await storeBundle(
      service.db,
      { accountUuid: service.accountUuid, iccid, product, price: null },
      service.service,
    );
  }
  return iccid;
}

function simulate(iccid: string, body: object, options: { idempotencyKey?: string; key?: string } = {}) {
  return call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body, ...options });
}

async function bundlesOf(iccid: string) {
  const { json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
  return json.data.toReversed();
}

/** Reports usage now and returns the updated eSIM. */
async function reportUsage(iccid: string, bytes: number) {
  const records = [{ iccid, record_id: 'r', bytes, at: Math.floor(service.clock.nowMs() / 1000) }];
  const options = { ofAccount: null };
  await service.db.transaction((tx) => takeUsage(tx, records, options, service.service));
  return findEsim(service.db, service.accountUuid, iccid);
}

type LoggedEvent = { type: EventTypeName; data: Record<string, unknown> };

/** The events of an eSIM, oldest first. */
async function eventsOf(iccid: string): Promise<LoggedEvent[]> {
  const rows = await service.db.query<{ body: string }>(
    {
      name: 'test_events_of',
      text: `select body from events where account_id = $1 and body::jsonb -> 'data' ->> 'iccid' = $2 order by id`,
    },
    [service.accountUuid, iccid],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

async function typesOf(iccid: string) {
  return (await eventsOf(iccid)).map(({ type }) => type);
}

describe('the life of an eSIM', () => {
  test('emits its events in order, from download to the end of the second bundle, with exactly the contract’s data', async () => {
    const iccid = await createEsim('provisioned', [1000, 500]);
    let from = 0;
    const added = async () => {
      const all = await eventsOf(iccid);
      const fresh = all.slice(from);
      from = all.length;
      return fresh;
    };
    const bytesIn = async () =>
      (await bundlesOf(iccid)).map((b: { status: string; used_bytes: number }) => [b.status, b.used_bytes]);

    for (const [action, state] of [
      ['download', 'downloaded'],
      ['install', 'installed'],
      ['enable', 'enabled'],
    ]) {
      const { status, json } = await simulate(iccid, { action });
      expect(status).toBe(200);
      expect(json).toMatchObject({ object: 'esim', iccid, status: 'provisioned', profile: { state } });
      expect(await added()).toMatchObject([
        { type: `esim.${state}`, data: { iccid, product_id: 'prod_test' } },
      ]);
    }

    const attached = await simulate(iccid, { action: 'attach', country: 'FR' });
    expect(attached.json.status).toBe('active');
    const [first, second] = await bundlesOf(iccid);
    expect(first).toMatchObject({ status: 'active', product_id: 'prod_1', as_of: null });
    expect(first.expires_at - first.activated_at).toBe((30 * dayMs) / 1000);
    expect(second).toMatchObject({ status: 'queued', activated_at: null, expires_at: null });
    const ids = { iccid, bundle_id: first.id, product_id: 'prod_1' };
    expect((await added()).map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'esim.activated', data: { iccid, product_id: 'prod_test' } },
      { type: 'bundle.activated', data: { ...ids, expires_at: first.expires_at } },
    ]);

    await simulate(iccid, { action: 'use_data', bytes: 850, record_id: 'a' });
    expect((await added()).map(({ type, data }) => ({ type, data }))).toEqual(
      [50, 80].map((threshold_percent) => ({
        type: 'bundle.usage_threshold',
        data: { ...ids, threshold_percent, used_bytes: 850, data_bytes: 1000 },
      })),
    );
    expect(await bytesIn()).toEqual([
      ['active', 850],
      ['queued', 0],
    ]);

    await simulate(iccid, { action: 'use_data', bytes: 250, record_id: 'b' });
    expect((await added()).map(({ type, data }) => [type, data['bundle_id'], data['used_bytes']])).toEqual([
      ['bundle.usage_threshold', first.id, 1000],
      ['bundle.depleted', first.id, 1000],
      ['bundle.activated', second.id, undefined],
    ]);
    expect(await bytesIn()).toEqual([
      ['depleted', 1000],
      ['active', 100],
    ]);

    await simulate(iccid, { action: 'attach', country: 'DE' });
    expect((await added()).map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: 'esim.country_changed',
        data: { iccid, product_id: 'prod_test', country: 'DE', previous_country: 'FR' },
      },
    ]);

    service.clock.advance(30 * dayMs + 1000);
    expect(await expireBundles(service.db, service.service)).toBeGreaterThanOrEqual(1);
    expect((await added()).map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: 'bundle.expired',
        data: { iccid, bundle_id: second.id, product_id: 'prod_2', used_bytes: 100, data_bytes: 500 },
      },
      {
        type: 'esim.service_changed',
        data: {
          ...{ iccid, product_id: 'prod_test', state: 'barred', reason: 'expired', kbps: null },
          version: expect.any(Number),
        },
      },
    ]);
    expect(await bytesIn()).toEqual([
      ['depleted', 1000],
      ['expired', 100],
    ]);

    for (const [action, state] of [
      ['disable', 'disabled'],
      ['delete', 'deleted'],
    ]) {
      const { json } = await simulate(iccid, { action });
      expect(json).toMatchObject({ status: 'active', profile: { state } });
    }

    for (const { type, data } of await eventsOf(iccid)) {
      // No order caused these, so they have no execution_id.
      const fields = eventTypes[type].data.filter((field) => field !== 'execution_id');
      expect(Object.keys(data).sort(), type).toEqual([...fields].sort());
    }
    const { json: log } = await call(service, 'GET', '/v1/events?type=esim.country_changed&limit=1');
    expect(log.data[0]).toMatchObject({ object: 'event', type: 'esim.country_changed' });
  });

  test('begins with usage if the attach was never reported', async () => {
    const iccid = await createEsim('provisioned', [1000]);
    const { json } = await simulate(iccid, { action: 'use_data', bytes: 10 });
    expect(json.status).toBe('active');
    expect(await typesOf(iccid)).toEqual(['esim.activated', 'bundle.activated']);
    expect((await bundlesOf(iccid))[0]).toMatchObject({ status: 'active', used_bytes: 10 });
  });

  test('begins with the first attach in a country that its bundle covers', async () => {
    const iccid = await createEsim('provisioned', [1000]);
    for (const [country, status] of [
      ['JP', 'queued'],
      ['FR', 'active'],
    ]) {
      await simulate(iccid, { action: 'attach', country });
      expect((await bundlesOf(iccid))[0].status).toBe(status);
    }
  });

  test('continues with the next bundle when the sandbox expires the active one', async () => {
    const iccid = await createEsim('provisioned', [1000, null]);
    expect((await simulate(iccid, { action: 'expire_bundle' })).json.error.code).toBe('state_conflict');
    await simulate(iccid, { action: 'attach', country: 'FR' });
    expect((await simulate(iccid, { action: 'expire_bundle' })).status).toBe(200);
    const [first, second] = await bundlesOf(iccid);
    expect([first.status, second.status]).toEqual(['expired', 'active']);
    expect(first.expires_at).toBeLessThanOrEqual(Math.floor(service.clock.nowMs() / 1000));
    expect((await typesOf(iccid)).slice(-2)).toEqual(['bundle.expired', 'bundle.activated']);
    expect(second).toMatchObject({ data_bytes: null, thresholds: [] });
  });
});

describe('observations', () => {
  // Without failures: whether one counts depends on what is known when it arrives.
  const states = ['downloaded', 'installed', 'enabled', 'disabled', 'deleted'] as const;
  const second = fc.integer({ min: 0, max: 5 }).map((n) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)));
  type Reported =
    | { kind: 'profile'; at: Date; state: (typeof states)[number] }
    | { kind: 'attach'; at: Date; country: string };
  const reported: fc.Arbitrary<Reported> = fc.oneof(
    fc.record({
      kind: fc.constant('profile' as const),
      at: second,
      state: fc.constantFrom(...states),
    }),
    fc.record({
      kind: fc.constant('attach' as const),
      at: second,
      country: fc.constantFrom('FR', 'DE', 'IT'),
    }),
  );

  test('that are late, repeated or out of order end in the same state as sorted ones, and profiles never change the status', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(reported, { maxLength: 12 }),
        fc.constantFrom<EsimStatus>('provisioned', 'active', 'suspended'),
        async (all, status) => {
          const iccid = await createEsim(status);
          for (const one of all.flatMap((item) => [item, item])) {
            await service.db.transaction((tx) =>
              observe(tx, { ...one, iccid } as Observation, service.service),
            );
          }
          const [row] = await service.db.query<{
            status: string;
            profile_state: string;
            profile_observed_at: Date;
            country: string | null;
          }>(
            {
              name: 'test_esim_state',
              text: 'select status, profile_state, profile_observed_at, country from esims where iccid = $1',
            },
            [iccid],
          );
          const profiles = all
            .filter((one) => one.kind === 'profile')
            .sort((a, b) => Number(a.at) - Number(b.at) || states.indexOf(a.state) - states.indexOf(b.state));
          const last = profiles.at(-1);
          expect(row?.profile_state).toBe(last?.state ?? 'released');
          if (last) expect(row?.profile_observed_at).toEqual(last.at);
          const attaches = all.filter((one) => one.kind === 'attach');
          // Of several at the same time the first to arrive wins; a stable sort by descending time puts it first.
          const newest = attaches.toSorted((a, b) => Number(b.at) - Number(a.at))[0];
          expect(row?.country).toBe(newest?.country ?? null);
          expect(row?.status).toBe(status === 'provisioned' && attaches.length > 0 ? 'active' : status);
          const types = await typesOf(iccid);
          expect(types.filter((type) => type === 'esim.activated').length).toBe(
            status === 'provisioned' && attaches.length > 0 ? 1 : 0,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test('store the EID when it is reported, and keep it when it is not', async () => {
    const iccid = await createEsim();
    const eid = '89049032123451234512345678901235';
    const report = (observation: Observation) =>
      service.db.transaction((tx) => observe(tx, observation, service.service));
    await report({ iccid, at: new Date(1000), kind: 'profile', state: 'downloaded', eid });
    await report({
      ...{ iccid, at: new Date(2000), kind: 'profile', state: 'error' },
      failure: { ...downloadFailure, step: 'install' },
    });
    const { json } = await call(service, 'GET', `/v1/esims/${iccid}`);
    expect(json).toMatchObject({ eid, profile: { state: 'error', updated_at: 2 } });
    expect(await typesOf(iccid)).toEqual(['esim.downloaded', 'esim.install_failed']);
  });

  test('of a suspended eSIM change neither its status nor its bundles, but usage counts', async () => {
    const iccid = await createEsim('suspended', [1000, 1000]);
    const report = (observation: Observation) =>
      service.db.transaction((tx) => observe(tx, observation, service.service));
    await report({ iccid, at: new Date(1000), kind: 'attach', country: 'FR' });
    expect((await bundlesOf(iccid)).map((b: { status: string }) => b.status)).toEqual(['queued', 'queued']);
    expect(await typesOf(iccid)).toEqual([]);
    const after = await reportUsage(iccid, 10);
    expect(after?.status).toBe('suspended');
    expect((await bundlesOf(iccid))[0]).toMatchObject({ status: 'active', used_bytes: 10 });
  });

  test('of an ended or unknown eSIM change nothing', async () => {
    for (const status of ['terminated', 'failed'] as const) {
      const iccid = await createEsim(status, [1000]);
      const seen = [
        { kind: 'attach', country: 'FR' },
        { kind: 'profile', state: 'deleted' },
      ] as const;
      for (const one of seen) {
        const observation = { ...one, iccid, at: new Date(service.clock.nowMs()) };
        const after = await service.db.transaction((tx) => observe(tx, observation, service.service));
        expect(after).toMatchObject({ status, country: null, profile_state: 'released' });
      }
      expect(await reportUsage(iccid, 5)).toMatchObject({ status, country: null, profile_state: 'released' });
      expect(await typesOf(iccid)).toEqual([]);
      expect((await bundlesOf(iccid))[0]).toMatchObject({ status: 'queued', used_bytes: 0 });
    }
    const unknown: Observation = {
      iccid: '8900000000000000000',
      at: new Date(),
      kind: 'attach',
      country: 'FR',
    };
    expect(await service.db.transaction((tx) => observe(tx, unknown, service.service))).toBe('unknown');
  });
});

describe('a simulation', () => {
  test('retried with its key happens once', async () => {
    const iccid = await createEsim('active', [1000]);
    const body = { action: 'use_data', bytes: 100 };
    const first = await simulate(iccid, body, { idempotencyKey: 'use-once' });
    const again = await simulate(iccid, body, { idempotencyKey: 'use-once' });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await bundlesOf(iccid))[0].used_bytes).toBe(100);
  });

  test('with a time in seconds is ordered by that time', async () => {
    const iccid = await createEsim('provisioned', [1000]);
    const now = Math.floor(service.clock.nowMs() / 1000);
    await simulate(iccid, { action: 'enable', at: now });
    const late = await simulate(iccid, { action: 'install', at: now - 60 });
    expect(late.json.profile).toEqual({ state: 'enabled', updated_at: now });
    await simulate(iccid, { action: 'attach', country: 'FR', at: now - 5 });
    await simulate(iccid, { action: 'attach', country: 'DE', at: now - 60 });
    expect((await bundlesOf(iccid))[0].activated_at).toBe(now - 5);
    expect(await typesOf(iccid)).toEqual(['esim.enabled', 'esim.activated', 'bundle.activated']);
  });

  test('accepts any time in the past, and of usage the last 35 days', async () => {
    const iccid = await createEsim('provisioned', [1000]);
    const at = Math.floor((service.clock.nowMs() - 34 * dayMs) / 1000);
    expect((await simulate(iccid, { action: 'enable', at: 0 })).status).toBe(200);
    await simulate(iccid, { action: 'use_data', bytes: 5, at });
    const [bundle] = await bundlesOf(iccid);
    expect(bundle).toMatchObject({ activated_at: at, expires_at: at + (30 * dayMs) / 1000, as_of: at });
    for (const action of [{ action: 'use_data', bytes: 5 }, { action: 'deplete_bundle' }]) {
      const { status, json } = await simulate(iccid, { ...action, at: at - (2 * dayMs) / 1000 });
      expect([status, json.error?.param]).toEqual([400, 'at']);
    }
  });

  test.each([
    { action: 'enable' },
    { action: 'attach', country: 'FR' },
    { action: 'use_data', bytes: 5 },
    { action: 'expire_bundle' },
  ])('of %j up to five minutes ahead counts as now; further ahead it is refused', async (body) => {
    const iccid = await createEsim('active', [1000, 1000]);
    const nowSeconds = () => Math.floor(service.clock.nowMs() / 1000);
    await simulate(iccid, { action: 'attach', country: 'DE', at: nowSeconds() - 60 });
    const refused = await simulate(iccid, { ...body, at: nowSeconds() + 400 });
    expect(refused.json.error).toMatchObject({ code: 'parameter_invalid', param: 'at' });
    const { json } = await simulate(iccid, { ...body, at: nowSeconds() + 200 });
    const times = [json.profile, ...(await bundlesOf(iccid))].flatMap((one) => [
      one.updated_at ?? 0,
      one.activated_at ?? 0,
      one.as_of ?? 0,
    ]);
    expect(Math.max(...times)).toBeLessThanOrEqual(nowSeconds());
  });

  test.each([
    [{ action: 'attach' }, 'parameter_missing', 'country'],
    [{ action: 'use_data' }, 'parameter_missing', 'bytes'],
    [{ action: 'attach', country: 'FR', bytes: 1 }, 'parameter_unknown', 'bytes'],
    [{ action: 'attach', country: 'FR', record_id: 'r' }, 'parameter_unknown', 'record_id'],
    [{ action: 'enable', country: 'FR' }, 'parameter_unknown', 'country'],
    [{ action: 'expire_bundle', bytes: 1 }, 'parameter_unknown', 'bytes'],
    [{ action: 'deplete_bundle', bytes: 1 }, 'parameter_unknown', 'bytes'],
    [{ action: 'deplete_bundle', record_id: 'r' }, 'parameter_unknown', 'record_id'],
    [{ action: 'attach', country: 'fr' }, 'parameter_invalid', 'country'],
    [{ action: 'attach', country: 'UK' }, 'parameter_invalid', 'country'],
    [{ action: 'attach', country: 'ZZ' }, 'parameter_invalid', 'country'],
    [{ action: 'use_data', bytes: 0 }, 'parameter_invalid', 'bytes'],
    [{ action: 'explode' }, 'parameter_invalid', 'action'],
    [{}, 'parameter_missing', 'action'],
  ])('with %j is refused as %s, naming %s', async (body, code, param) => {
    const iccid = await createEsim('active', [1000]);
    const { status, json } = await simulate(iccid, body, { idempotencyKey: `refused-${iccid}` });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code, param });
    expect(await typesOf(iccid)).toEqual([]);
    // A refused request does not use up its key.
    const right = await simulate(iccid, { action: 'enable' }, { idempotencyKey: `refused-${iccid}` });
    expect(right.status).toBe(200);
  });

  test.each([
    ['provisioning', 'download', 'esim_not_ready'],
    ['failed', 'download', 'esim_not_ready'],
    ['terminated', 'delete', 'state_conflict'],
    ['terminated', 'expire_bundle', 'state_conflict'],
    ['suspended', 'attach', 'state_conflict'],
    ['suspended', 'use_data', 'state_conflict'],
    ['suspended', 'deplete_bundle', 'state_conflict'],
    ['suspended', 'expire_bundle', 'state_conflict'],
    ['active', 'expire_bundle', 'state_conflict'],
  ] as const)('of a %s eSIM is refused for %s as %s', async (status, action, code) => {
    const iccid = await createEsim(status);
    const extra = { attach: { country: 'FR' }, use_data: { bytes: 1 } }[action as string] ?? {};
    const { status: http, json } = await simulate(iccid, { action, ...extra });
    expect(http).toBe(409);
    expect(json.error.code).toBe(code);
    if (code === 'state_conflict') expect(json.error.message).toContain(status);
  });

  test('of a profile change on a suspended eSIM works and leaves it suspended', async () => {
    const iccid = await createEsim('suspended');
    const { json } = await simulate(iccid, { action: 'enable' });
    expect(json).toMatchObject({ status: 'suspended', profile: { state: 'enabled' } });
  });

  test('finds neither another account’s eSIM nor an unknown one', async () => {
    const other = await service.createAccount('Other');
    const iccid = await createEsim('active', [1000]);
    for (const [target, key] of [
      [iccid, other.key],
      ['8900000000000000000', service.key],
      ['nonsense', service.key],
    ] as const) {
      const { status, json } = await simulate(target, { action: 'enable' }, { key });
      expect([status, json.error.code, json.error.param]).toEqual([404, 'resource_missing', 'iccid']);
    }
    expect(await typesOf(iccid)).toEqual([]);
  });

  test('needs a key with the network scope, and a sandbox', async () => {
    const iccid = await createEsim('active');
    const key = await service.createKey({ scopes: ['read', 'write'] });
    expect((await simulate(iccid, { action: 'enable' }, { key })).json.error.code).toBe('scope_missing');
    const live = await startService({ mode: 'live' });
    const refused = await call(live, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, {
      body: { action: 'enable' },
    });
    expect([refused.status, refused.json.error.code]).toEqual([403, 'sandbox_only']);
    await live.stop();
  });
});
