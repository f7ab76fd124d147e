import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../src/accounts/context.ts';
import { listEventRows } from '../../src/notify/events/sql/events.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { maxPageBytes, smallPageBytes } from '../../src/platform/lists/read-page.ts';
import { listTimeline } from '../../src/views/lookups/timeline.ts';
import { call, type Reply } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { type Connection, head, openConnection } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const megabyte = 1024 * 1024;
const iccid = '8999912345678901234';

let service: TestService;
let honest: { url: string; key: string };
beforeAll(async () => {
  service = await startService({ drainTimeoutMs: 120_000 });
  honest = { url: service.url, ...(await service.createAccount('Honest')) };
  await insertLargeEvents(60);
  await insertRows();
  await call(honest, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
});
afterAll(() => service.stop());

/** Events with 200 kB each, which is 12 MB. */
async function insertLargeEvents(count: number): Promise<void> {
  await service.db.pool.query(
    `insert into events (account_id, id, type, created_at, body)
     select $1, ('01a00000-0000-7000-8000-' || lpad((2 * n)::text, 12, '0'))::uuid, 'a.big', now(),
       format('{"id":"evt_%s","object":"event","type":"a.big","api_version":"2026-11-01","created":1,'
         '"data":{"iccid":"%s","text":"%s"}}', n, $3::text, repeat('€', 66000))
     from generate_series(1, $2::integer) n`,
    [service.accountUuid, count, iccid],
  );
}

const largeEventIds = Array.from({ length: 60 }, (_, index) => `evt_${60 - index}`);
const executionUuid = '01a00000-0000-7000-8000-000000000061';
const executionId = idOfUuid(idPrefixes.execution, executionUuid);

/** An eSIM with an execution in the middle of its events, and 110 more with 60 kB each. */
async function insertRows(): Promise<void> {
  const own = await insertEsim(service);
  await service.db.pool.query('update esims set iccid = $2 where iccid = $1', [own, iccid]);
  await service.db.pool.query(
    `insert into executions (account_id, id, iccid, type, status, input, created_at)
     values ($1, $2, $3, 'bundle.add', 'succeeded', '{}', now())`,
    [service.accountUuid, executionUuid, iccid],
  );
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, '\u0001'.repeat(500)]));
  await service.db.pool.query(
    `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
     select $1, ('01a00000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, 'i' || n, gen_random_uuid(), 'p',
       'provisioned', $2, now()
     from generate_series(1, 110) n`,
    [service.accountUuid, JSON.stringify(metadata)],
  );
}

/** Follows a list to its end; returns the ids of all items. */
async function readAll(path: string): Promise<{ ids: string[]; pages: Reply[] }> {
  const pages: Reply[] = [];
  let more = '';
  do {
    // A busy machine may need longer than a search is given.
    const page = await until(
      () => call(service, 'GET', `${path}limit=100${more}`),
      ({ status }) => status === 200,
    );
    pages.push(page);
    more = page.json.has_more ? `&starting_after=${page.json.next_cursor}` : '';
  } while (more !== '');
  const ids = pages.flatMap(({ json }) =>
    json.data.map((item: { id?: string; iccid: string }) => item.id ?? item.iccid),
  );
  return { ids, pages };
}

describe('a page of large items', () => {
  test.each(['/v1/events?', '/v1/events?type=a.big&', '/v1/events?type=a.*&', `/v1/events?iccid=${iccid}&`])(
    'of %s has at most 4 MB, and the list loses nothing',
    async (path) => {
      const { ids, pages } = await readAll(path);
      expect(ids).toEqual(largeEventIds);
      for (const { text } of pages) expect(Buffer.byteLength(text)).toBeLessThan(4 * megabyte + 1_000);
      expect(pages.length).toBe(3);
    },
  );

  test('of a timeline has at most 4 MB, and the timeline loses nothing', async () => {
    const { ids, pages } = await readAll(`/v1/esims/${iccid}/timeline?`);
    expect(ids).toEqual([...largeEventIds.slice(0, 30), executionId, ...largeEventIds.slice(30)]);
    for (const { text } of pages) expect(Buffer.byteLength(text)).toBeLessThan(4 * megabyte + 20_000);
  });

  test('of other lists has at most 4 MB, too', async () => {
    const { ids, pages } = await readAll('/v1/esims?');
    expect(new Set(ids).size).toBe(111);
    expect(pages[0]?.json.data.length).toBeLessThan(100);
    for (const { text } of pages) expect(Buffer.byteLength(text)).toBeLessThan(4 * megabyte + 1_000);
  });

  test('is not read from the database beyond what fits, but has at least one item', async () => {
    const read = (maxBytes: number) =>
      listEventRows(
        service.db,
        service.accountUuid,
        { types: undefined, created: undefined, delivery: undefined },
        { beforeUuid: null, count: 101, maxBytes },
      );
    const some = await read(megabyte);
    expect([some.rows.length, some.isCut]).toEqual([5, true]);
    const one = await read(1);
    expect([one.rows.length, one.isCut]).toEqual([1, true]);
    const all = await read(20 * megabyte);
    expect([all.rows.length, all.isCut]).toEqual([60, false]);
  });
});

describe('an account whose clients do not read', () => {
  test('waits with its lists until they have read, while others are served', async () => {
    const path = '/v1/events?limit=100';
    const ask = head('GET', path, { Authorization: `Bearer ${service.key}` });
    const stalled: Connection[] = [];
    try {
      for (let i = 0; i < 20; i++) {
        const connection = await openConnection(service.url);
        connection.socket.pause();
        // The kernel takes the first answers.
        connection.socket.write(ask.repeat(8));
        stalled.push(connection);
      }
      await expect.poll(async () => (await call(service, 'GET', path)).status).toBe(429);
      // Most of these would be small.
      const event = `/v1/events/${idOfUuid(idPrefixes.event, '01a00000-0000-7000-8000-000000000002')}`;
      const refused = [path, '/v1/events?limit=1', '/v1/executions?limit=1', '/v1/products', event].map(
        (one) => call(service, 'GET', one),
      );
      for (let i = 0; i < 50; i++) {
        expect((await call(honest, 'GET', path)).status).toBe(200);
        expect((await call(honest, 'GET', '/v1/events/feed?after=start')).status).toBe(200);
      }
      expect((await call(service, 'GET', '/v1/me')).status).toBe(200);
      for (const { json } of await Promise.all(refused))
        expect(json.error).toMatchObject({ code: 'rate_limited' });
      const { values } = await service.service.metrics.connectionsCut.get();
      expect(values).toEqual([]);
    } finally {
      for (const { socket } of stalled) socket.destroy();
    }
    expect((await call(service, 'GET', path)).status).toBe(200);
  });
});

test('an account has two large pages read at a time, and the next waits until there is room for it', async () => {
  const { db } = service.service;
  const { query } = db;
  const read = { small: 0, large: 0 };
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const held: typeof query = async (statement, values) => {
    const isLarge = values?.at(-1) === maxPageBytes;
    if (isLarge) {
      read.large += 1;
      await opened;
    }
    const rows = await query<never>(statement, values);
    if (values?.at(-1) === smallPageBytes) read.small += 1;
    return rows;
  };
  db.query = held;
  try {
    const pages = Array.from({ length: 3 }, () => call(service, 'GET', '/v1/events?limit=100'));
    await expect.poll(() => read).toEqual({ small: 3, large: 2 });
    await call(honest, 'GET', '/v1/me'); // the third has gone on until then
    expect(read.large).toBe(2);
    open();
    for (const { status } of await Promise.all(pages)) expect(status).toBe(200);
    expect(read.large).toBe(3);
  } finally {
    open();
    db.query = query;
  }
});

test('a large page of a timeline is read when there is room for it', async () => {
  const steps: unknown[] = [];
  const query: typeof service.db.query = (statement, values) => {
    const last = values?.at(-1);
    if (last === smallPageBytes || last === maxPageBytes) steps.push(last);
    return service.db.query(statement, values);
  };
  const ctx = {
    db: { ...service.db, query },
    account: { uuid: service.accountUuid },
    waitForRoom: async () => void steps.push('room'),
  } as unknown as Context;
  await listTimeline(ctx, { params: { iccid }, query: { limit: 100 }, body: {} });
  expect(steps).toEqual([smallPageBytes, 'room', maxPageBytes]);
});
