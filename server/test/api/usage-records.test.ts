import type { EsimStatus } from '@simplane/contract';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeBundle } from '../../src/orders/bundles/run-top-up.ts';
import { lockCarried } from '../../src/orders/observations/sql.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const nowMs = Date.parse('2026-11-10T12:00:00Z');
const now = nowMs / 1000;
const daySeconds = 86_400;
/** A fixed clock: results must not depend on how long the test takes. */
const clock = { nowMs: () => nowMs };

let service: TestService;
beforeAll(async () => {
  service = await startService({ clock });
});
afterAll(() => service.stop());

type Record = { record_id: string; iccid: string; bytes: number; at: number; country?: string };
type Options = {
  status?: EsimStatus;
  sizes?: (number | null)[];
  countries?: string[];
  accountUuid?: string;
  on?: TestService;
};

let serial = 0;

async function createEsim(options: Options = {}): Promise<string> {
  const { status = 'provisioned', sizes = [1000], on = service, countries = ['DE', 'FR', 'IT'] } = options;
  const { accountUuid = on.accountUuid } = options;
  const iccid = `8999902${String(++serial).padStart(12, '0')}`;
  await on.db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, resumes_to, metadata, created_at)
             values ($1, $2, $3, $2, 'prod_test', $4, $5, '{}', $6)`,
    },
    [
      accountUuid,
      on.service.newUuid().toString('hex'),
      iccid,
      status,
      status === 'suspended' ? 'active' : null,
      new Date(nowMs - 40 * daySeconds * 1000),
    ],
  );
  for (const [index, data_bytes] of sizes.entries()) {
    const product = { id: `prod_${index + 1}`, data_bytes, validity_days: 30, countries };
    await storeBundle(on.db, { accountUuid, iccid, product, price: null }, on.service);
  }
  return iccid;
}

function report(records: unknown, options: { idempotencyKey?: string; key?: string; on?: TestService } = {}) {
  const { on = service, ...request } = options;
  return call(on, 'POST', '/v1/usage_records', { body: { records }, ...request });
}

/** Everything about an eSIM that usage can change, without its ids. */
async function stateOf(iccid: string, on: TestService = service) {
  const [esim] = await on.db.query<{ status: string; country: string | null }>(
    {
      name: 'test_esim',
      text: `select status, country, country_observed_at, uncovered_bytes, late_bytes, service - 'bundle_id' as service
             from esims where iccid = $1`,
    },
    [iccid],
  );
  const bundles = await on.db.query<{ used_bytes: number }>(
    {
      name: 'test_bundles',
      text: `select product_id, status, used_bytes, activated_at, expires_at, as_of from bundles where iccid = $1 order by id`,
    },
    [iccid],
  );
  const events = await on.db.query<{ type: string; data: object }>(
    {
      name: 'test_events',
      text: `select type, (body::jsonb -> 'data') - 'iccid' - 'bundle_id' as data from events
             where body::jsonb -> 'data' ->> 'iccid' = $1 and type <> 'esim.service_changed' order by id`,
    },
    [iccid],
  );
  return { esim, bundles, events };
}

describe('a batch', () => {
  test('counts each record once, in time order, and emits the events', async () => {
    const iccid = await createEsim({ sizes: [1000, 500] });
    const records = [
      { record_id: 'c', iccid, bytes: 300, at: now - 10, country: 'DE' },
      { record_id: 'a', iccid, bytes: 600, at: now - 30, country: 'FR' },
      { record_id: 'b', iccid, bytes: 300, at: now - 20 },
      { record_id: 'a', iccid, bytes: 600, at: now - 30, country: 'FR' },
    ];
    const reply = await report(records);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json).toEqual({
      object: 'usage_record_batch',
      accepted: 3,
      duplicates: 1,
      rejected: 0,
      rejections: [],
    });
    const { esim, bundles, events } = await stateOf(iccid);
    expect(esim).toMatchObject({ status: 'active', country: 'DE' });
    expect(bundles).toMatchObject([
      { status: 'depleted', used_bytes: 1000 },
      { status: 'active', used_bytes: 200 },
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      'esim.activated',
      'bundle.activated',
      'bundle.usage_threshold',
      'bundle.usage_threshold',
      'esim.country_changed',
      'bundle.usage_threshold',
      'bundle.depleted',
      'bundle.activated',
    ]);
    const again = await report(records);
    expect(again.json).toMatchObject({ accepted: 0, duplicates: 4 });
    expect(await stateOf(iccid)).toEqual({ esim, bundles, events });
  });

  test('counts a record up to five minutes ahead as of now, and is refused with one further ahead', async () => {
    const iccid = await createEsim();
    const record = { record_id: 'a', iccid, bytes: 5, at: now + 299, country: 'FR' };
    const refused = await report([record, { ...record, record_id: 'b', at: now + 302 }]);
    expect(refused.json.error).toMatchObject({ code: 'parameter_invalid', param: 'records[1].at' });
    await report([record]);
    const { esim, bundles } = await stateOf(iccid);
    expect(esim).toMatchObject({ country_observed_at: new Date(nowMs) });
    expect(bundles).toMatchObject([{ activated_at: new Date(nowMs), as_of: new Date(nowMs) }]);
  });

  test('is replayed under its Idempotency-Key, like every write', async () => {
    const iccid = await createEsim();
    const records = [{ record_id: 'a', iccid, bytes: 5, at: now }];
    const first = await report(records, { idempotencyKey: 'usage-1' });
    const second = await report(records, { idempotencyKey: 'usage-1' });
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    const other = await report([{ record_id: 'b', iccid, bytes: 5, at: now }], { idempotencyKey: 'usage-1' });
    expect(other.json.error.code).toBe('idempotency_key_reused');
  });

  test('rejects only the records of eSIMs that cannot be charged, with reason and index', async () => {
    const [good, early, gone, failed] = [
      await createEsim(),
      await createEsim({ status: 'provisioning', sizes: [] }),
      await createEsim({ status: 'terminated' }),
      await createEsim({ status: 'failed' }),
    ];
    const unknown = '8999903000000000001';
    const reply = await report(
      [unknown, good, early, gone, failed].map((iccid) => ({ record_id: 'x', iccid, bytes: 1, at: now })),
    );
    expect(reply.json).toEqual({
      object: 'usage_record_batch',
      accepted: 1,
      duplicates: 0,
      rejected: 4,
      rejections: [
        { index: 0, record_id: 'x', iccid: unknown, reason: 'esim_unknown' },
        { index: 2, record_id: 'x', iccid: early, reason: 'esim_not_ready' },
        { index: 3, record_id: 'x', iccid: gone, reason: 'esim_ended' },
        { index: 4, record_id: 'x', iccid: failed, reason: 'esim_ended' },
      ],
    });
    // A record that came too early counts when it is reported again.
    await service.db.query(
      { name: 'test_ready', text: `update esims set status = 'provisioned' where iccid = $1` },
      [early],
    );
    expect((await report([{ record_id: 'x', iccid: early, bytes: 1, at: now }])).json.accepted).toBe(1);
  });

  test('lists at most a hundred rejections', async () => {
    const records = Array.from({ length: 250 }, (_, index) => ({
      record_id: 'x',
      iccid: `8999904${String(index).padStart(12, '0')}`,
      bytes: 1,
      at: now,
    }));
    const { json } = await report(records);
    expect([json.accepted, json.rejected, json.rejections.length]).toEqual([0, 250, 100]);
  });

  test('is refused as a whole if one record is malformed, and the error names its index and field', async () => {
    const iccid = await createEsim();
    const good = (index: number) => ({ record_id: `r${index}`, iccid, bytes: 1, at: now });
    for (const [wrong, param, code] of [
      [{ bytes: -1 }, 'records[17].bytes', 'parameter_invalid'],
      [{ bytes: '1' }, 'records[17].bytes', 'parameter_invalid'],
      [{ at: now * 1000 }, 'records[17].at', 'parameter_invalid'], // milliseconds, a common mistake
      [{ iccid: 'x' }, 'records[17].iccid', 'parameter_invalid'],
      [{ country: 'fr' }, 'records[17].country', 'parameter_invalid'],
      [{ record_id: '' }, 'records[17].record_id', 'parameter_invalid'],
      [{ record_id: undefined }, 'records[17].record_id', 'parameter_missing'],
      [{ colour: 'red' }, 'records[17].colour', 'parameter_unknown'],
    ] as const) {
      const records = Array.from({ length: 20 }, (_, index) =>
        index === 17 ? { ...good(index), ...wrong } : good(index),
      );
      const { status, json } = await report(records);
      expect([status, json.error.code, json.error.param]).toEqual([400, code, param]);
    }
    expect((await report([])).json.error).toMatchObject({ code: 'parameter_invalid', param: 'records' });
    expect((await stateOf(iccid)).events).toEqual([]);
  });

  test('may have 10,000 records and 4 MB; other operations keep their limit', async () => {
    const iccids = await Promise.all(Array.from({ length: 20 }, () => createEsim({ sizes: [null] })));
    const records = Array.from({ length: 10_000 }, (_, index) => ({
      record_id: `${'r'.repeat(94)}${String(index).padStart(6, '0')}`,
      iccid: iccids[index % 20],
      bytes: index,
      at: now - index,
    }));
    const { status, text, json } = await report(records);
    expect(status, text).toBe(200);
    expect(json.accepted).toBe(10_000);
    const used = await Promise.all(
      iccids.map(async (iccid) => (await stateOf(iccid)).bundles[0]?.used_bytes),
    );
    expect(used.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)).toBe((9_999 * 10_000) / 2);

    const tooMany = await report([...records, records[0]]);
    expect(tooMany.json.error).toMatchObject({ code: 'parameter_invalid', param: 'records' });
    expect(tooMany.json.error.message).toBe('records must have at most 10000 items; got a list of 10001.');
    const tooLarge = await call(service, 'POST', '/v1/usage_records', {
      raw: ' '.repeat(4 * 1024 * 1024 + 1),
    });
    expect([tooLarge.status, tooLarge.json.error.message]).toEqual([
      413,
      'The body is larger than 4 MB. Send a smaller one.',
    ]);
    const other = await call(service, 'POST', '/v1/esims', { raw: ' '.repeat(256 * 1024 + 1) });
    expect([other.status, other.json.error.message]).toEqual([
      413,
      'The body is larger than 256 kB. Send a smaller one.',
    ]);
  });

  test('needs the network scope', async () => {
    const key = await service.createKey({ scopes: ['read', 'write', 'admin'] });
    const { status, json } = await report(
      [{ record_id: 'x', iccid: '8999903000000000001', bytes: 1, at: now }],
      {
        key,
      },
    );
    expect([status, json.error.code]).toEqual([403, 'scope_missing']);
  });
});

describe('an eSIM of another account', () => {
  test('is unknown in a sandbox, where anyone may have a key with the network scope', async () => {
    const other = await service.createAccount('Other');
    const iccid = await createEsim({ accountUuid: other.accountUuid });
    const { json } = await report([{ record_id: 'x', iccid, bytes: 1, at: now }]);
    expect(json).toMatchObject({ accepted: 0, rejections: [{ reason: 'esim_unknown' }] });
    expect((await stateOf(iccid)).events).toEqual([]);
  });

  test('is counted in live mode, where one network serves all accounts, and its own account gets the events', async () => {
    const live = await startService({ clock, mode: 'live', databaseUrl: service.databaseUrl });
    try {
      const other = await live.createAccount('Other');
      const iccid = await createEsim({ accountUuid: other.accountUuid, on: live });
      const { json } = await report([{ record_id: 'x', iccid, bytes: 1, at: now }], { on: live });
      expect(json).toMatchObject({ accepted: 1, rejected: 0 });
      const mine = await call(live, 'GET', '/v1/events');
      const theirs = await call(live, 'GET', '/v1/events', { key: other.key });
      expect(mine.json.data).toEqual([]);
      expect(theirs.json.data.map(({ type }: { type: string }) => type)).toEqual([
        'bundle.activated',
        'esim.activated',
      ]);
    } finally {
      await live.stop();
    }
  });
});

describe('batches', () => {
  const usage = fc.record({
    id: fc.nat(11),
    esim: fc.nat(1),
    bytes: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 900 }), fc.constant(1_000_000_000_000_000)),
    daysAgo: fc.oneof(fc.nat(35), fc.constant(0)),
    country: fc.constantFrom(undefined, undefined, 'FR', 'DE', 'US'),
  });
  const esim = fc.record({
    status: fc.constantFrom<EsimStatus>('provisioned', 'provisioned', 'active', 'suspended'),
    sizes: fc.array(fc.option(fc.integer({ min: 1, max: 1000 }), { freq: 6 }), { maxLength: 4 }),
  });

  test('leave the same eSIMs, bundles and events as their records one by one in time order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(esim, esim),
        fc.array(fc.array(usage, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
        async (esims, batches) => {
          const [batched, oracle] = [
            await Promise.all(esims.map((options) => createEsim(options))),
            await Promise.all(esims.map((options) => createEsim(options))),
          ];
          // A repeated id always means the same record.
          const known = new Map<string, Omit<Record, 'iccid'>>();
          const recordOf = ({ id, esim: index, bytes, daysAgo, country }: (typeof batches)[0][0]) => {
            const key = `${index}-${id}`;
            const record = {
              record_id: key,
              bytes,
              at: now - daysAgo * daySeconds,
              ...(country && { country }),
            };
            if (!known.has(key)) known.set(key, record);
            return { index, record: known.get(key) as Omit<Record, 'iccid'> };
          };
          const counted = new Set<string>();
          for (const batch of batches) {
            const records = batch.map(recordOf);
            const reply = await report(
              records.map(({ index, record }) => ({ ...record, iccid: batched[index] as string })),
            );
            expect(reply.status, reply.text).toBe(200);
            const before = counted.size;
            for (const { index, record } of records.toSorted((a, b) => a.record.at - b.record.at)) {
              if (counted.has(record.record_id)) continue;
              counted.add(record.record_id);
              expect((await report([{ ...record, iccid: oracle[index] }])).json.accepted).toBe(1);
            }
            expect(reply.json).toMatchObject({
              accepted: counted.size - before,
              duplicates: batch.length - (counted.size - before),
            });
          }
          for (const index of [0, 1]) {
            expect(await stateOf(batched[index] as string)).toEqual(await stateOf(oracle[index] as string));
          }
        },
      ),
      { numRuns: 35, interruptAfterTimeLimit: 240_000, markInterruptAsFailure: true },
    );
  });

  test('lock their eSIMs in the order of the ICCIDs, whatever plan PostgreSQL chooses', async () => {
    const iccids = [await createEsim({ sizes: [1_000] }), await createEsim({ sizes: [1_000] })].sort();
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    try {
      await client.query('begin; set local enable_indexscan = off; set local enable_bitmapscan = off');
      const db: Queryable = {
        query: async ({ text }, values = []) => (await client.query(text, values as unknown[])).rows,
      };
      for (const last of iccids) {
        // No row version of an open transaction is removed, so each update stores the row further on.
        const stored = async () => {
          await client.query('update esims set description = null where iccid = $1', [last]);
          const text = 'select iccid from esims where iccid = any($1) order by ctid desc';
          return (await client.query(text, [iccids])).rows[0].iccid;
        };
        await until(stored, (iccid) => iccid === last);
        const locked = await lockCarried(db, iccids, null);
        expect(locked.map(({ iccid }) => iccid)).toEqual(iccids);
      }
    } finally {
      await client.end();
    }
  });

  test('that overlap, from several processes in any order, never deadlock, lose a byte or count one twice', async () => {
    const others = await Promise.all(
      [1, 2].map(() =>
        startService({ clock, databaseUrl: service.databaseUrl, keyring: service.service.keyring }),
      ),
    );
    try {
      const iccids = await Promise.all(Array.from({ length: 40 }, () => createEsim({ sizes: [1_000_000] })));
      const records = iccids.flatMap((iccid, esim) =>
        Array.from({ length: 10 }, (_, index) => ({
          record_id: `r${index}`,
          iccid,
          bytes: esim + 1,
          at: now - index,
        })),
      );
      const rotated = (by: number) => [...records.slice(by), ...records.slice(0, by)];
      const orders = Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0 ? rotated(index * 30) : rotated(index * 30).toReversed(),
      );
      const replies = await Promise.all(
        orders.map((order, index) => {
          const { url } = [service, ...others][index % 3] as TestService;
          return call({ url, key: service.key }, 'POST', '/v1/usage_records', { body: { records: order } });
        }),
      );
      expect(replies.map(({ status }) => status)).toEqual(orders.map(() => 200));
      expect(replies.reduce((sum, { json }) => sum + json.accepted, 0)).toBe(records.length);
      for (const [esim, iccid] of iccids.entries()) {
        expect((await stateOf(iccid)).bundles).toMatchObject([{ used_bytes: (esim + 1) * 10 }]);
      }
    } finally {
      await Promise.all(others.map((other) => other.stop()));
    }
  });
});

test('an amount in the database that JavaScript would round is an error, and not another amount', async () => {
  const read = (text: string) =>
    service.db.query<{ n: number }>({ name: `test_amount_${text}`, text: `select ${text}::bigint as n` });
  expect(await read('9007199254740991')).toEqual([{ n: Number.MAX_SAFE_INTEGER }]);
  await expect(read('9007199254740993')).rejects.toThrow('does not fit');
});
