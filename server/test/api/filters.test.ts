import { encodeId } from '@simplane/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCatalog, readCatalog } from '../../src/accounts/products/import-catalog.ts';
import { call, provision } from '../support/client.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Reads a whole list, three items a page. */
async function walk(key: string, path: string, filters: [string, string][]) {
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on the JSON's content.
  const seen: any[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams([['limit', '3'], ...filters]);
    if (cursor !== undefined) query.set('starting_after', cursor);
    const { status, json } = await call({ url: service.url, key }, 'GET', `${path}?${query}`);
    expect([status, json.error?.message]).toEqual([200, undefined]);
    seen.push(...json.data);
    cursor = json.next_cursor;
  } while (cursor !== undefined);
  return seen;
}

const startSeconds = 1_800_000_000;

/** An id and the time it is made of. */
const moment = fc
  .record({ ms: fc.integer({ min: 0, max: 9_999 }), rest: fc.uint8Array({ minLength: 10, maxLength: 10 }) })
  .map(({ ms, rest }) => {
    const uuid = Buffer.concat([Buffer.alloc(6), rest]);
    uuid.writeUIntBE(startSeconds * 1_000 + ms, 0, 6);
    return { uuid, createdAt: new Date(startSeconds * 1_000 + ms) };
  });

const rowsOf = <T>(row: fc.Arbitrary<T & { uuid: Buffer }>) =>
  fc.uniqueArray(row, { maxLength: 30, size: 'max', selector: ({ uuid }) => uuid.toString('hex') });

/** At most two of these filters: with more of them, nearly every list is empty. */
const someOf = <T extends object>(all: fc.Arbitrary<T>, names: (keyof T)[]) =>
  fc
    .tuple(all, fc.subarray(names, { maxLength: 2 }))
    .map(([values, some]) => Object.fromEntries(some.map((name) => [name, values[name]])) as Partial<T>);

const second = fc.integer({ min: startSeconds - 1, max: startSeconds + 11 });
const created = someOf(fc.record({ gt: second, gte: second, lt: second, lte: second }), [
  ...(['gt', 'gte', 'lt', 'lte'] as const),
]);
type Created = { gt?: number; gte?: number; lt?: number; lte?: number };

function isInRange(at: Date, { gt = -1, gte = 0, lt = Infinity, lte = Infinity }: Created): boolean {
  const shown = Math.floor(at.getTime() / 1_000);
  return shown > gt && shown >= gte && shown < lt && shown <= lte;
}

const createdQuery = (range: Created) =>
  Object.entries(range).map(([name, value]): [string, string] => [`created[${name}]`, String(value)]);

const newestFirst = (a: { uuid: Buffer }, b: { uuid: Buffer }) => Buffer.compare(b.uuid, a.uuid);

describe('eSIMs', () => {
  const eids = ['89882119900000000000000000001654', '89049032004008882600009231000001'];
  const keys = ['a]b[c', 'ключ', '7'];
  const values = ["'; drop table esims; --", 'x=y&z'];
  const statuses = ['provisioning', 'provisioned', 'terminated'] as const;
  const products = ['prod_us_1gb_7d', 'prod_europe_5gb_30d'];
  const pairs = (max: number) =>
    fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...values), {
      maxKeys: max,
      noNullPrototype: true,
    });

  const esim = fc
    .tuple(
      moment,
      fc.record({
        status: fc.constantFrom(...statuses),
        productId: fc.constantFrom(...products),
        eid: fc.constantFrom(null, ...eids),
        metadata: pairs(3),
      }),
    )
    .map(([at, rest]) => ({ ...at, ...rest }));
  type Row = Omit<typeof esim extends fc.Arbitrary<infer T> ? T : never, 'uuid'> & { uuid: Buffer };

  const filter = someOf(
    fc.record({
      status: fc.constantFrom(...statuses),
      productId: fc.constantFrom(...products),
      eid: fc.constantFrom(...eids),
      metadata: pairs(2),
      created,
    }),
    ['status', 'productId', 'eid', 'metadata', 'created'],
  );

  let iccids = 0;

  /** Those being provisioned are in the queue, where a report of the network may have changed the EID. */
  async function insert(accountUuid: string, rows: Row[]): Promise<Map<Row, string>> {
    const named = new Map<Row, string>();
    for (const row of rows) {
      const iccid = `8999${String(iccids++).padStart(14, '0')}`;
      named.set(row, iccid);
      const { uuid, status, productId, eid, metadata, createdAt } = row;
      const id = uuid.toString('hex');
      if (status === 'provisioning') {
        await service.db.pool.query(
          `insert into execution_queue (account_id, id, type, product_id, iccid, input, observed, attempts, fence, created_at)
           values ($1, $2, 'esim.provision', $3, $4, $5, $6, 1, 1, $7)`,
          [accountUuid, id, productId, iccid, { metadata, eid: eids[0] }, { eid: eid ?? '' }, createdAt],
        );
        continue;
      }
      await service.db.pool.query(
        `insert into esims (account_id, id, iccid, execution_id, product_id, status, eid, metadata, created_at)
         values ($1, $2, $3, $2, $4, $5, $6, $7, $8)`,
        [accountUuid, id, iccid, productId, status, eid, metadata, createdAt],
      );
    }
    return named;
  }

  test('are found by any combination of filters, stored and being provisioned, each once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf(esim), filter, async (rows, wanted) => {
        const { accountUuid, key } = await service.createAccount('Filters');
        const named = await insert(accountUuid, rows);
        const query: [string, string][] = [
          ...(wanted.status ? [['status', wanted.status] as [string, string]] : []),
          ...(wanted.productId ? [['product_id', wanted.productId] as [string, string]] : []),
          ...(wanted.eid ? [['eid', wanted.eid] as [string, string]] : []),
          ...Object.entries(wanted.metadata ?? {}).map(([name, value]): [string, string] => [
            `metadata[${name}]`,
            value,
          ]),
          ...createdQuery(wanted.created ?? {}),
        ];
        const expected = rows.filter(
          (row) =>
            (wanted.status === undefined || row.status === wanted.status) &&
            (wanted.productId === undefined || row.productId === wanted.productId) &&
            (wanted.eid === undefined || row.eid === wanted.eid) &&
            Object.entries(wanted.metadata ?? {}).every(([name, value]) => row.metadata[name] === value) &&
            isInRange(row.createdAt, wanted.created ?? {}),
        );
        const seen = await walk(key, '/v1/esims', query);
        expect(seen.map(({ iccid }) => iccid)).toEqual(
          expected.sort(newestFirst).map((row) => named.get(row)),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('are found by what an update has made of their metadata', async () => {
    const { accountUuid, key } = await service.createAccount('Updated');
    const uuid = service.service.newUuid();
    const row = { uuid, createdAt: new Date(), status: 'provisioned', productId: 'p', eid: null } as const;
    const named = await insert(accountUuid, [{ ...row, metadata: { order_id: 'A-1', team: 'red' } }]);
    const [iccid] = [...named.values()];
    const found = async (...pairs: [string, string][]) =>
      (
        await walk(
          key,
          '/v1/esims',
          pairs.map(([name, value]) => [`metadata[${name}]`, value]),
        )
      ).length;
    expect(await found(['order_id', 'A-1'], ['team', 'red'])).toBe(1);
    await call({ url: service.url, key }, 'PATCH', `/v1/esims/${iccid}`, {
      body: { metadata: { order_id: 'A-2', team: null } },
    });
    expect([
      await found(['order_id', 'A-1']),
      await found(['team', 'red']),
      await found(['order_id', 'A-2']),
    ]).toEqual([0, 0, 1]);
  });

  test('are listed once, also while a change waits, or the order of one that was terminated meanwhile', async () => {
    const { accountUuid, key } = await service.createAccount('Changing');
    const row = { createdAt: new Date(), productId: 'p', eid: null };
    const named = await insert(accountUuid, [
      { ...row, uuid: service.service.newUuid(), status: 'provisioned', metadata: {} },
      { ...row, uuid: service.service.newUuid(), status: 'terminated', metadata: {} },
    ]);
    const [changing, ended] = [...named.values()];
    for (const [type, iccid, isTerminated] of [
      ['esim.suspend', changing, false],
      ['esim.provision', ended, true],
    ]) {
      await service.db.pool.query(
        `insert into execution_queue (account_id, id, type, product_id, iccid, input, attempts, fence, is_terminated, created_at)
         values ($1, $2, $3, 'p', $4, '{}', 1, 1, $5, now())`,
        [accountUuid, service.service.newUuid().toString('hex'), type, iccid, isTerminated],
      );
    }
    const seen = await walk(key, '/v1/esims', []);
    expect(seen.map(({ iccid, status }) => [iccid, status])).toEqual([
      [ended, 'terminated'],
      [changing, 'provisioned'],
    ]);
  });

  test('are found by the time that they show, although their ids are some milliseconds older', async () => {
    const { accountUuid, key } = await service.createAccount('Turn');
    const uuid = Buffer.alloc(16, 7);
    uuid.writeUIntBE(startSeconds * 1_000 - 3, 0, 6);
    const row = { uuid, createdAt: new Date(startSeconds * 1_000), productId: 'p', eid: null };
    await insert(accountUuid, [{ ...row, status: 'provisioned', metadata: {} }]);
    const found = async (name: string) =>
      (await walk(key, '/v1/esims', [[`created[${name}]`, String(startSeconds)]])).length;
    expect([await found('gte'), await found('lt')]).toEqual([1, 0]);
  });

  test('of another account are not found by their metadata', async () => {
    const [owner, other] = [await service.createAccount('Owner'), await service.createAccount('Other')];
    const row = { createdAt: new Date(), status: 'provisioned', productId: 'p', eid: null } as const;
    await insert(owner.accountUuid, [
      { ...row, uuid: service.service.newUuid(), metadata: { order_id: 'own' } },
    ]);
    expect(await walk(owner.key, '/v1/esims', [['metadata[order_id]', 'own']])).toHaveLength(1);
    expect(await walk(other.key, '/v1/esims', [['metadata[order_id]', 'own']])).toEqual([]);
  });
});

describe('executions', () => {
  const statuses = ['queued', 'running', 'succeeded', 'failed'] as const;
  const kinds = ['esim.provision', 'esim.suspend', 'bundle.add'];
  const execution = fc
    .tuple(moment, fc.constantFrom(...kinds), fc.constantFrom(...statuses))
    .map(([at, type, status]) => ({ ...at, type, status }));

  test('are found by one or several types and by time, with and without a status, each once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        rowsOf(execution),
        fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 4 }),
        fc.option(fc.constantFrom(...statuses), { nil: undefined }),
        created,
        async (rows, types, status, range) => {
          const { accountUuid, key } = await service.createAccount('Types');
          for (const row of rows) {
            const isOpen = row.status === 'queued' || row.status === 'running';
            const n = Number(row.status === 'running');
            await service.db.pool.query(
              isOpen
                ? `insert into execution_queue (account_id, id, type, input, created_at, attempts, fence)
                   values ($1, $2, $3, '{}', $4, $5, $5)`
                : `insert into executions (account_id, id, type, input, created_at, status)
                   values ($1, $2, $3, '{}', $4, $5)`,
              [accountUuid, row.uuid.toString('hex'), row.type, row.createdAt, isOpen ? n : row.status],
            );
          }
          const expected = rows.filter(
            (row) =>
              types.includes(row.type) &&
              (status === undefined || row.status === status) &&
              isInRange(row.createdAt, range),
          );
          const query: [string, string][] = [['type', types.join(',')], ...createdQuery(range)];
          if (status) query.push(['status', status]);
          const seen = await walk(key, '/v1/executions', query);
          expect(seen.map(({ id }) => id)).toEqual(
            expected.sort(newestFirst).map(({ uuid }) => encodeId('exec', uuid)),
          );
        },
      ),
      { numRuns: 40 },
    );
  });
});

test('executions with an error code have failed, so with another status there are none', async () => {
  const { key } = await service.createAccount('Codes');
  await provision({ url: service.url, key });
  const found = (query: string) => call({ url: service.url, key }, 'GET', `/v1/executions?${query}`);
  expect((await found('status=queued')).json.data).toHaveLength(1);
  for (const status of ['queued', 'succeeded', 'failed'])
    expect((await found(`status=${status}&error_code=declined`)).json.data).toEqual([]);
});

test('executions with an error code are found by type as well', async () => {
  const { accountUuid, key } = await service.createAccount('Codes of types');
  const declined = await insertFailed({ ...service, accountUuid }, 'declined', null);
  const found = async (types: string) =>
    (
      await walk(key, '/v1/executions', [
        ['type', types],
        ['error_code', 'declined'],
      ])
    ).map(({ id }) => id);
  expect(await found('esim.provision,bundle.add')).toEqual([declined]);
  expect(await found('bundle.add,esim.suspend')).toEqual([]);
});

describe('events', () => {
  const names = [
    'esim.provisioned',
    'esim.provisioned.v2',
    'esim.active',
    'esims.x',
    'esim',
    'bundle.expired',
  ];
  const event = fc.tuple(moment, fc.constantFrom(...names)).map(([at, type]) => ({ ...at, type }));
  const wantedTypes = fc.array(fc.constantFrom(...names, 'esim.*', 'bundle.*', 'none.*', 'none'), {
    minLength: 1,
    maxLength: 4,
  });

  test('are found by one or several types and families, and by time, each once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf(event), wantedTypes, created, async (rows, types, range) => {
        const { accountUuid, key } = await service.createAccount('Events');
        for (const { uuid, type, createdAt } of rows) {
          const id = encodeId('evt', uuid);
          await service.db.pool.query(
            'insert into events (account_id, id, type, created_at, body) values ($1, $2, $3, $4, $5)',
            [
              accountUuid,
              uuid.toString('hex'),
              type,
              createdAt,
              JSON.stringify({
                id,
                type,
                object: 'event',
                created: Math.floor(createdAt.getTime() / 1_000),
                data: {},
              }),
            ],
          );
        }
        const matches = (type: string) =>
          types.some((one) => (one.endsWith('.*') ? type.startsWith(one.slice(0, -1)) : type === one));
        const expected = rows.filter((row) => matches(row.type) && isInRange(row.createdAt, range));
        const seen = await walk(key, '/v1/events', [['type', types.join(',')], ...createdQuery(range)]);
        expect(seen.map(({ id }) => id)).toEqual(
          expected.sort(newestFirst).map(({ uuid }) => encodeId('evt', uuid)),
        );
      }),
      { numRuns: 40 },
    );
  });

  test('are found by time alone', async () => {
    const { key } = await service.createAccount('Time');
    const target = { url: service.url, key };
    const send = (type: string) => call(target, 'POST', '/v1/events/test', { body: { type, data: {} } });
    await send('a.early');
    service.clock.advance(10_000);
    const at = String(Math.floor(service.clock.nowMs() / 1_000));
    await send('a.late');
    const typesOf = async (name: string) =>
      (await walk(key, '/v1/events', [[`created[${name}]`, at]])).map(({ type }) => type);
    expect([await typesOf('gte'), await typesOf('lt')]).toEqual([['a.late'], ['a.early']]);
  });

  test('keep their place in the list when the same types are given in another order', async () => {
    const { key } = await service.createAccount('Order');
    const target = { url: service.url, key };
    for (const type of ['a.b', 'a.c', 'a.d']) {
      await call(target, 'POST', '/v1/events/test', { body: { type, data: {} } });
    }
    const { json: first } = await call(target, 'GET', '/v1/events?limit=1&type=a.b,a.d');
    const { json: rest } = await call(
      target,
      'GET',
      `/v1/events?type=a.d,a.b&starting_after=${first.next_cursor}`,
    );
    expect([...first.data, ...rest.data].map(({ type }) => type)).toEqual(['a.d', 'a.b']);
  });
});

describe('products', () => {
  async function importProduct(fields: object) {
    const product = {
      ...{
        name: 'P',
        data_bytes: 1,
        validity_days: 1,
        price: { amount: 1, currency: 'eur' },
        speeds: ['5G'],
      },
      ...fields,
    };
    const read = readCatalog(JSON.stringify([product]));
    if ('problems' in read) throw new Error(JSON.stringify(read.problems));
    await importCatalog(service.db, service.service, read.products);
  }
  const idsIn = async (country: string) =>
    (await walk(service.key, '/v1/products', [['country', country]])).map(({ id }) => id);

  test('are found by country, and the seeded catalog too', async () => {
    const all = await walk(service.key, '/v1/products', []);
    for (const country of ['FR', 'US', 'AQ']) {
      const expected = all.filter(({ countries }) => countries.includes(country)).map(({ id }) => id);
      expect(await idsIn(country)).toEqual(expected);
    }
    expect((await idsIn('FR')).length).toBeGreaterThan(1);
  });

  test('are found by what the last import said: countries, listed, active', async () => {
    await importProduct({ id: 'moving', countries: ['AQ', 'BV'] });
    expect([await idsIn('AQ'), await idsIn('BV'), await idsIn('HM')]).toEqual([['moving'], ['moving'], []]);
    await importProduct({ id: 'moving', countries: ['BV', 'HM'] });
    expect([await idsIn('AQ'), await idsIn('BV'), await idsIn('HM')]).toEqual([[], ['moving'], ['moving']]);
    await importProduct({ id: 'moving', countries: ['BV', 'HM'], active: false });
    expect(await idsIn('HM')).toEqual([]);
    await importProduct({ id: 'moving', countries: ['HM'], active: true, listed: false });
    expect(await idsIn('HM')).toEqual([]);
    await importProduct({ id: 'moving', countries: ['HM'] });
    expect(await idsIn('HM')).toEqual(['moving']);
  });
});

describe('a filter that is wrong', () => {
  test.each([
    ['/v1/executions?type=esim.provison', 'type', /must be one of esim\.provision, .*got "esim\.provison"/],
    ['/v1/executions?type=esim.provision,', 'type', /must be one of .*got ""/],
    ['/v1/executions?type=', 'type', /must be one of/],
    ['/v1/events?type=esim.*,Bad', 'type', /must match .*got "Bad"/],
    [
      `/v1/events?type=${Array.from({ length: 51 }, (_, n) => `a${n}`).join(',')}`,
      'type',
      /at most 50 items/,
    ],
    ['/v1/events?created[lte]=yesterday', 'created[lte]', /must be an integer/],
    ['/v1/esims?created[gt]=-1', 'created[gt]', /at least 0/],
    ['/v1/esims?eid=12', 'eid', /32 characters/],
    ['/v1/esims?metadata=x', 'metadata', /metadata\[key\]=value/],
    ['/v1/esims?metadata=x&metadata[a]=b', 'metadata', /metadata\[key\]=value/],
    ['/v1/esims?metadata[]=x', 'metadata[]', /1 to 40 characters/],
    ['/v1/esims?metadata[a]=x&metadata[a]=y', 'metadata[a]', /must be a string; got a list of 2/],
    [`/v1/esims?metadata[a]=${'x'.repeat(501)}`, 'metadata[a]', /at most 500 characters/],
    ['/v1/esims?metadata[%00]=x', 'metadata[\u0000]', /U\+0000/],
    ['/v1/esims?metadata[a]=%00', 'metadata[a]', /U\+0000/],
    [
      `/v1/esims?${[1, 2, 3, 4, 5, 6].map((n) => `metadata[${n}]=x`).join('&')}`,
      'metadata',
      /at most 5 entries/,
    ],
    ['/v1/products?country=fr', 'country', /ISO 3166/],
    ['/v1/products?country=UK', 'country', /ISO 3166/],
  ])('%s is refused', async (path, param, message) => {
    const { status, json } = await call(service, 'GET', path);
    expect([status, json.error?.code, json.error?.param]).toEqual([400, 'parameter_invalid', param]);
    expect(json.error.message).toMatch(message);
  });

  test.each([
    ['/v1/esims?metadata[a=x', /metadata\[key\]/],
    ['/v1/esims?created[eq]=1', /created\[gt\], created\[gte\]/],
    ['/v1/api_keys?created[gt]=1', /takes limit, starting_after/],
    ['/v1/products?metadata[a]=x', /takes limit, starting_after, country/],
  ])('%s is refused as unknown, with the filters that exist', async (path, message) => {
    const { status, json } = await call(service, 'GET', path);
    expect([status, json.error?.code]).toEqual([400, 'parameter_unknown']);
    expect(json.error.message).toMatch(message);
  });
});
