import type { EsimStatus } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expireBundles } from '../../src/orders/bundles/expire.ts';
import { settleTopUp, storeBundle } from '../../src/orders/bundles/run-top-up.ts';
import { cancelBundles } from '../../src/orders/bundles/write.ts';
import { lockOwnEsim } from '../../src/orders/esims/lock.ts';
import { observe } from '../../src/orders/observations/observe.ts';
import { takeUsage } from '../../src/orders/observations/take-usage.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { createUuidV7 } from '../../src/platform/ids/uuid-v7.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const dayMs = 86_400_000;
const product = { id: 'prod_test', data_bytes: 1000, validity_days: 30, countries: ['DE', 'FR'] };
const price = { amount: 900, currency: 'eur' };
let serial = 0;

/** An eSIM with this many queued bundles. */
async function createEsim(status: EsimStatus = 'provisioned', bundles = 0) {
  const iccid = `8999902${String(++serial).padStart(12, '0')}`;
  await service.db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
             values ($1, $2, $3, $2, 'prod_test', $4, '{}', now())`,
    },
    [service.accountUuid, service.service.newUuid().toString('hex'), iccid, status],
  );
  for (let i = 0; i < bundles; i++) {
    await storeBundle(
      service.db,
      { accountUuid: service.accountUuid, iccid, product, price },
      service.service,
    );
  }
  return iccid;
}

async function changeStatus(iccid: string, status: EsimStatus): Promise<void> {
  await service.db.query({ name: 'test_set_status', text: 'update esims set status = $2 where iccid = $1' }, [
    iccid,
    status,
  ]);
}

function simulate(iccid: string, body: object) {
  return call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body });
}

async function bundlesOf(iccid: string) {
  const { json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
  return json.data.toReversed();
}

async function statusesOf(iccid: string): Promise<string[]> {
  return (await bundlesOf(iccid)).map(({ status }: { status: string }) => status);
}

async function eventsOf(iccid: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const rows = await service.db.query<{ body: string }>(
    {
      name: 'test_events_of',
      text: `select body from events where account_id = $1 and body::jsonb -> 'data' ->> 'iccid' = $2 order by id`,
    },
    [service.accountUuid, iccid],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

async function typesOf(iccid: string): Promise<string[]> {
  return (await eventsOf(iccid)).map(({ type }) => type);
}

describe('the list of bundles', () => {
  test('is newest first, in pages without gaps or overlaps', async () => {
    const iccid = await createEsim('provisioned', 5);
    await createEsim('provisioned', 2);
    const seen: { id: string; object: string; iccid: string }[] = [];
    let cursor = '';
    for (;;) {
      const { status, json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles?limit=2${cursor}`);
      expect(status).toBe(200);
      seen.push(...json.data);
      if (!json.has_more) break;
      cursor = `&starting_after=${json.next_cursor}`;
    }
    const ids = seen.map(({ id }) => id);
    expect(ids.length).toBe(5);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(seen[0]).toEqual({
      id: expect.stringMatching(/^bdl_/),
      object: 'bundle',
      iccid,
      product_id: 'prod_test',
      reference: null,
      status: 'queued',
      countries: ['DE', 'FR'],
      price,
      data_bytes: 1000,
      used_bytes: 0,
      after_depletion: { action: 'bar', kbps: null },
      thresholds: [50, 80, 100],
      activated_at: null,
      expires_at: null,
      as_of: null,
    });
  });

  test('refuses the cursor of another eSIM, and hides eSIMs of other accounts', async () => {
    const [one, other] = [await createEsim('provisioned', 2), await createEsim('provisioned', 2)];
    const { json } = await call(service, 'GET', `/v1/esims/${one}/bundles?limit=1`);
    const elsewhere = await call(
      service,
      'GET',
      `/v1/esims/${other}/bundles?starting_after=${json.next_cursor}`,
    );
    expect([elsewhere.status, elsewhere.json.error.code]).toEqual([400, 'cursor_invalid']);
    const stranger = await service.createAccount('Stranger');
    for (const [iccid, key] of [
      [one, stranger.key],
      ['8900000000000000000', service.key],
    ] as const) {
      const { status, json: refusal } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`, { key });
      expect([status, refusal.error.code]).toEqual([404, 'resource_missing']);
    }
  });
});

describe('usage', () => {
  test('reported 50 times at once under 10 record ids counts 10 times', async () => {
    const iccid = await createEsim('provisioned', 1);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        simulate(iccid, { action: 'use_data', bytes: 60 + (i % 10), record_id: `r${i % 10}` }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect((await bundlesOf(iccid))[0]).toMatchObject({ status: 'active', used_bytes: 645 });
    expect(await typesOf(iccid)).toEqual(['esim.activated', 'bundle.activated', 'bundle.usage_threshold']);
  });

  test('reported concurrently spills over bundle by bundle, and no event is emitted twice', async () => {
    const iccid = await createEsim('provisioned', 3);
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        simulate(iccid, { action: 'use_data', bytes: 90, record_id: `r${i}` }),
      ),
    );
    const bundles = await bundlesOf(iccid);
    expect(bundles.map((b: { used_bytes: number }) => b.used_bytes)).toEqual([1000, 1000, 1000]);
    const { json: esim } = await call(service, 'GET', `/v1/esims/${iccid}`);
    expect(esim.uncovered_bytes).toBe(600);
    const emitted = (await eventsOf(iccid)).map(({ type, data }) =>
      [type, data['bundle_id'], data['threshold_percent']].join(' '),
    );
    expect(new Set(emitted).size).toBe(emitted.length);
    expect(emitted.length).toBe(1 + 3 * (1 + 3 + 1) + 1 + 1);
  });

  test('never exceeds the largest safe integer', async () => {
    const iccid = await createEsim('active', 1);
    for (let i = 0; i < 11; i++) {
      expect((await simulate(iccid, { action: 'use_data', bytes: 1_000_000_000_000_000 })).status).toBe(200);
    }
    const { json } = await call(service, 'GET', `/v1/esims/${iccid}`);
    expect(json.uncovered_bytes).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('leaves no trace when its transaction fails', async () => {
    const iccid = await createEsim('provisioned', 1);
    const records = [{ iccid, at: Math.floor(Date.now() / 1000), record_id: 'r', bytes: 900 }];
    const options = { ofAccount: null };
    const broken = service.db.transaction(async (tx) => {
      await takeUsage(tx, records, options, service.service);
      throw new Error('on purpose');
    });
    await expect(broken).rejects.toThrow('on purpose');
    expect(await typesOf(iccid)).toEqual([]);
    expect((await bundlesOf(iccid))[0]).toMatchObject({ status: 'queued', used_bytes: 0 });
    await service.db.transaction((tx) => takeUsage(tx, records, options, service.service));
    expect((await bundlesOf(iccid))[0].used_bytes).toBe(900);
  });

  test('after a bundle’s expiry goes to the next one, even before the expiry job runs', async () => {
    const iccid = await createEsim('provisioned', 2);
    await simulate(iccid, { action: 'attach', country: 'FR' });
    service.clock.advance(30 * dayMs);
    await simulate(iccid, { action: 'use_data', bytes: 7 });
    const bundles = await bundlesOf(iccid);
    expect(bundles.map((b: { status: string; used_bytes: number }) => [b.status, b.used_bytes])).toEqual([
      ['expired', 0],
      ['active', 7],
    ]);
    expect((await typesOf(iccid)).slice(2)).toEqual(['bundle.expired', 'bundle.activated']);
  });
});

test('an attach after a bundle’s expiry activates the next one, even before the expiry job runs', async () => {
  const iccid = await createEsim('provisioned', 2);
  await simulate(iccid, { action: 'attach', country: 'FR' });
  service.clock.advance(30 * dayMs);
  await simulate(iccid, { action: 'attach', country: 'FR' });
  expect(await statusesOf(iccid)).toEqual(['expired', 'active']);
});

describe('expiry', () => {
  async function countExpired(): Promise<number> {
    const [row] = await service.db.query<{ count: number }>({
      name: 'test_count_expired',
      text: `select count(*) from events where type = 'bundle.expired'`,
    });
    return row?.count ?? 0;
  }

  test('by several processes at once emits one event per bundle and activates each next bundle', async () => {
    const iccids: string[] = [];
    for (let i = 0; i < 230; i++) iccids.push(await createEsim('provisioned', 2));
    const at = new Date(service.clock.nowMs());
    for (const iccid of iccids) {
      const attach = { iccid, at, kind: 'attach', country: 'FR' } as const;
      await service.db.transaction((tx) => observe(tx, attach, service.service));
    }
    service.clock.advance(30 * dayMs);
    const expiredBefore = await countExpired();
    const others = Array.from({ length: 3 }, () => ({
      db: openDatabase({ connectionString: service.databaseUrl, poolSize: 2, onError: () => {} }),
      deps: { ...service.service, newUuid: createUuidV7(service.clock) },
    }));
    const counts = await Promise.all(others.map(({ db, deps }) => expireBundles(db, deps)));
    // A process that finds only eSIMs locked by others stops; the next run takes the rest.
    const rest = await expireBundles(service.db, service.service);
    expect([...counts, rest].reduce((a, b) => a + b) + expiredBefore).toBe(await countExpired());
    await Promise.all(others.map(({ db }) => db.end()));
    for (const iccid of iccids) {
      expect((await typesOf(iccid)).slice(2)).toEqual(['bundle.expired', 'bundle.activated']);
    }
    expect(await statusesOf(iccids[0] as string)).toEqual(['expired', 'active']);
  });

  test('passes over an eSIM that a request has locked, and takes it the next time', async () => {
    const [held, free] = [await createEsim('provisioned', 1), await createEsim('provisioned', 1)];
    for (const iccid of [held, free]) await simulate(iccid, { action: 'attach', country: 'FR' });
    service.clock.advance(30 * dayMs);
    await service.db.transaction(async (tx) => {
      const text = 'select from esims where account_id = $1 and iccid = $2 for update';
      await tx.query({ name: 'test_hold_esim', text }, [service.accountUuid, held]);
      await expireBundles(service.db, service.service);
      expect([await statusesOf(held), await statusesOf(free)]).toEqual([['active'], ['expired']]);
    });
    await expireBundles(service.db, service.service);
    expect(await statusesOf(held)).toEqual(['expired']);
  });

  test('during usage and attaches of the same eSIMs never deadlocks or loses a record', async () => {
    const iccids = await Promise.all(Array.from({ length: 8 }, () => createEsim('provisioned', 3)));
    await Promise.all(iccids.map((iccid) => simulate(iccid, { action: 'attach', country: 'FR' })));
    service.clock.advance(30 * dayMs);
    // So few that even on a busy machine none waits for a connection until it is refused.
    const replies = await Promise.all(
      iccids.flatMap((iccid) => [
        simulate(iccid, { action: 'use_data', bytes: 10, record_id: 'r1' }),
        expireBundles(service.db, service.service).then(() => ({ status: 200 })),
        simulate(iccid, { action: 'use_data', bytes: 10, record_id: 'r2' }),
        simulate(iccid, { action: 'attach', country: 'DE' }),
      ]),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    for (const iccid of iccids) {
      expect((await bundlesOf(iccid)).map((b: { used_bytes: number }) => b.used_bytes)).toEqual([0, 20, 0]);
      expect((await typesOf(iccid)).filter((type) => type === 'bundle.expired').length).toBe(1);
    }
  });

  test('goes on until no bundle is due, at the latest when the process stops', async () => {
    await expireBundles(service.db, service.service);
    const iccids: string[] = [];
    for (let i = 0; i < 101; i++) iccids.push(await createEsim('provisioned', 1));
    const nowMs = service.clock.nowMs();
    await service.db.query(
      {
        name: 'test_expire_at',
        text: `update bundles set status = 'active', expires_at = $2 where iccid = any($1)`,
      },
      [iccids, new Date(nowMs)],
    );
    const announced: unknown[] = [];
    const signals = {
      announce: (topic: string, subject?: string) =>
        void announced.push([topic, subject?.replaceAll('-', '')]),
    };
    const deps = { ...service.service, signals, clock: { nowMs: () => nowMs } };
    expect(await expireBundles(service.db, deps, AbortSignal.abort())).toBe(0);
    expect(announced).toEqual([]);
    expect(await expireBundles(service.db, deps)).toBe(101);
    // Each batch, so that its events are sent before the next one.
    expect(announced).toEqual(Array(2).fill(['deliveries', service.accountUuid.replaceAll('-', '')]));
  });

  test('on a suspended eSIM ends the active bundle but activates no other; queued bundles never expire', async () => {
    const iccid = await createEsim('provisioned', 2);
    await simulate(iccid, { action: 'attach', country: 'FR' });
    await changeStatus(iccid, 'suspended');
    service.clock.advance(3_000 * dayMs);
    await expireBundles(service.db, service.service);
    expect(await statusesOf(iccid)).toEqual(['expired', 'queued']);
  });

  test('in the sandbox, of a suspended eSIM, activates no other either', async () => {
    const iccid = await createEsim('provisioned', 2);
    await simulate(iccid, { action: 'attach', country: 'FR' });
    await changeStatus(iccid, 'suspended');
    expect((await simulate(iccid, { action: 'expire_bundle' })).status).toBe(200);
    expect(await statusesOf(iccid)).toEqual(['expired', 'queued']);
  });
});

const executionId = 'exec_01m7egwbaqe6tahmdn0gd86s76';

describe('a top-up', () => {
  async function topUp(iccid: string, status: EsimStatus, thresholds?: number[]) {
    await service.db.transaction(async (tx) => {
      const esim = { ...(await lockOwnEsim(tx, service.accountUuid, iccid)), status };
      await settleTopUp(tx, { esim, product, price, thresholds }, { ...service.service, executionId });
    });
  }

  test('is active at once on an active eSIM without an active bundle, and otherwise queued', async () => {
    const iccid = await createEsim('active');
    await topUp(iccid, 'active', [90, 10, 90]);
    await topUp(iccid, 'active');
    expect(await statusesOf(iccid)).toEqual(['active', 'queued']);
    expect((await bundlesOf(iccid))[0].thresholds).toEqual([10, 90]);
    expect(await typesOf(iccid)).toEqual(['bundle.added', 'bundle.activated', 'bundle.added']);
  });

  test.each(['provisioned', 'suspended'] as const)('is queued on a %s eSIM', async (status) => {
    const iccid = await createEsim(status);
    await topUp(iccid, status);
    expect(await statusesOf(iccid)).toEqual(['queued']);
    expect(await typesOf(iccid)).toEqual(['bundle.added']);
  });
});

test('canceling ends the active and queued bundles with one event each, and no others', async () => {
  const iccid = await createEsim('provisioned', 3);
  await simulate(iccid, { action: 'use_data', bytes: 1500 });
  const esim = { account_id: service.accountUuid, iccid };
  const before = (await eventsOf(iccid)).length;
  await service.db.transaction((tx) => cancelBundles(tx, esim, { ...service.service, executionId }));
  await service.db.transaction((tx) => cancelBundles(tx, esim, { ...service.service, executionId }));
  const [, second, third] = await bundlesOf(iccid);
  expect(await statusesOf(iccid)).toEqual(['depleted', 'canceled', 'canceled']);
  expect((await eventsOf(iccid)).slice(before).map(({ type, data }) => ({ type, data }))).toEqual(
    [second, third].map(({ id }) => ({
      type: 'bundle.canceled',
      data: { iccid, bundle_id: id, product_id: 'prod_test', execution_id: executionId },
    })),
  );
});
