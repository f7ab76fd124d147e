import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxSearched } from '../../src/platform/lists/too-broad.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const rows = maxSearched + 1_000;
const endpoint = '01920000-0000-7000-8000-000000000001';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A row a second, the first one the oldest. */
async function fill(accountUuid: string, text: string, count = rows): Promise<void> {
  const source = `(select n, now() - (${count} - n) * interval '1 second' as at from generate_series(1, ${count}) n) made`;
  await service.db.pool.query(`${text} from ${source}`.replaceAll('$account', `'${accountUuid}'`));
}

const fillEvents = (accountUuid: string, type: string, count?: number) =>
  fill(
    accountUuid,
    `insert into events (account_id, id, type, created_at, body)
     select $account, uuid_v7(at), ${type}, at, json_build_object('id', n::text, 'type', ${type}, 'object', 'event', 'created', 1, 'data', '{}'::json)`,
    count,
  );

async function openAccount() {
  const { key, accountUuid } = await service.createAccount('Broad');
  // A busy machine may need longer than a search is given: that says nothing about how broad it is.
  const list = (path: string) =>
    until(
      () => call({ url: service.url, key }, 'GET', path),
      ({ json }) => !json.error?.message.startsWith('The search took more than'),
    );
  /** The numbers of all events of a list. */
  async function walk(query: string): Promise<number[]> {
    const seen: number[] = [];
    let cursor = '';
    do {
      const { status, json } = await list(`/v1/events?limit=100&${query}${cursor}`);
      expect([status, json.error?.message]).toEqual([200, undefined]);
      seen.push(...json.data.map(({ id }: { id: string }) => Number(id)));
      cursor = json.has_more ? `&starting_after=${json.next_cursor}` : '';
    } while (cursor !== '');
    return seen;
  }
  return { accountUuid, list, walk };
}

const numbers = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n);

const tooBroad = { error: { type: 'invalid_request_error', code: 'query_too_broad' } };

describe('a filter of events by type', () => {
  test('finds each event once if its families contain each other', async () => {
    const { accountUuid, walk } = await openAccount();
    await fillEvents(accountUuid, `'a.b.c' || n % 3`, 30);
    expect(await walk('type=a.*,a.b.*,a.b.c1,a.b.c1')).toEqual(numbers(30, 1));
  });

  test('takes families of 1,000 types, and refuses more', async () => {
    const { accountUuid, list, walk } = await openAccount();
    await fillEvents(accountUuid, `'a.b' || n % 1001`, 2_002);
    expect(await list('/v1/events?type=a.*')).toMatchObject({
      status: 400,
      json: { error: { ...tooBroad.error, param: 'type' } },
    });
    await service.db.pool.query(`delete from events where account_id = $1 and type = 'a.b0'`, [accountUuid]);
    expect(await walk('type=a.*,none')).toEqual(numbers(2_002, 1).filter((n) => n % 1001 !== 0));
  });
});

describe('a filter of events by failed deliveries', () => {
  const failed = `
    insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at)
    select account_id, uuid_v7(created_at), id, '${endpoint}', 'failed', 'event', 1, created_at
    from events where account_id = $1`;

  test('finds all of them, and with other filters searches a bounded number', async () => {
    const { accountUuid, list, walk } = await openAccount();
    await fillEvents(accountUuid, `case when n <= 3 then 'a.rare' else 'a.common' end`);
    await service.db.pool.query(failed, [accountUuid]);
    await service.db.pool.query(failed, [accountUuid]); // a second failure of each
    expect((await list('/v1/events?delivery=failed')).json.data).toHaveLength(10);
    expect(await list('/v1/events?delivery=failed&type=a.rare')).toMatchObject({
      status: 400,
      json: tooBroad,
    });
    const longAgo = Math.floor(Date.now() / 1_000) - rows + 500;
    const inTime = `delivery=failed&created[lt]=${longAgo}`;
    expect(await walk(`${inTime}&type=a.rare`)).toEqual([3, 2, 1]);
    const old = await walk(inTime);
    expect(old).toEqual(numbers(old.length, 1));
    expect(old.length).toBeGreaterThan(400);
  });
});

describe('a filter of events by pending deliveries', () => {
  const queue = (columns: string, values: string) => `
    insert into ${columns}
    select account_id, uuid_v7(created_at), id, '${endpoint}', 'event', created_at ${values}
    from (select * from events where account_id = $1 order by id limit $2) e`;
  const queued = queue('delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)', '');
  const blocked = queue(
    'blocked_deliveries (account_id, id, event_id, endpoint_id, origin, created_at, order_key)',
    `, ''`,
  );

  test('finds the few that wait, behind any number of events, in either queue', async () => {
    const { accountUuid, list, walk } = await openAccount();
    await fillEvents(accountUuid, `case when n <= 3 then 'a.rare' else 'a.common' end`);
    expect((await list('/v1/events?delivery=pending')).json.data).toEqual([]);
    await service.db.pool.query(queued, [accountUuid, 4]);
    await service.db.pool.query(blocked, [accountUuid, 5]);
    expect(await walk('delivery=pending')).toEqual([5, 4, 3, 2, 1]);
    expect(await walk('delivery=pending&type=a.rare')).toEqual([3, 2, 1]);
    expect(await walk('delivery=pending&type=a.*,b.*')).toEqual([5, 4, 3, 2, 1]);
    await service.db.pool.query(blocked, [accountUuid, 300]);
    expect(await walk('delivery=pending')).toEqual(numbers(300, 1));
    const queuedNewest = queued.replace('order by id limit', 'order by id desc limit');
    await service.db.pool.query(queuedNewest, [accountUuid, 2]);
    expect(await walk('delivery=pending')).toEqual([...numbers(rows, rows - 1), ...numbers(300, 1)]);
    expect(await walk('delivery=pending&type=a.rare')).toEqual([3, 2, 1]);
    const other = await service.createAccount('Other');
    const reply = await call({ url: service.url, key: other.key }, 'GET', '/v1/events?delivery=pending');
    expect(reply.json.data).toEqual([]);
  });

  test('of a backlog shows the newest, to the last page, and with other filters searches a bounded number', async () => {
    const { accountUuid, list, walk } = await openAccount();
    await fillEvents(accountUuid, `case when n <= 3 then 'a.rare' else 'a.common' end`, rows + 500);
    await service.db.pool.query(queued, [accountUuid, rows]);
    const { json } = await list('/v1/events?delivery=pending');
    expect(json.data.map(({ id }: { id: number }) => Number(id))).toEqual(numbers(rows, rows - 9));
    expect(await list('/v1/events?delivery=pending&type=a.rare')).toMatchObject({
      status: 400,
      json: tooBroad,
    });
    const longAgo = Math.floor(Date.now() / 1_000) - rows;
    expect(await walk(`delivery=pending&type=a.rare&created[lt]=${longAgo}`)).toEqual([3, 2, 1]);
    const old = await walk(`delivery=pending&created[lt]=${longAgo}`);
    expect(old).toEqual(numbers(old.length, 1));
  });
});

describe('a filter of eSIMs', () => {
  const insert = (values: string) => `
    insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
    select $account, uuid_v7(at), left($account, 8) || '-' || right($account, 6) || n, gen_random_uuid(), ${values}, at`;

  test('by two common values that none has both searches a bounded number, and by time all', async () => {
    const { accountUuid, list } = await openAccount();
    const half = `case when n % 2 = 0 then`;
    await fill(
      accountUuid,
      insert(
        `${half} 'p' else 'q' end, ${half} 'active' else 'suspended' end, (${half} '{"a":"x"}' else '{"b":"y"}' end)::jsonb`,
      ),
      2 * rows,
    );
    const since = `created[gte]=${Math.floor(Date.now() / 1_000) - 5_000}`;
    for (const filters of [
      'metadata[a]=x&metadata[b]=y',
      'metadata[a]=x&status=suspended',
      'product_id=p&status=suspended',
    ]) {
      expect(await list(`/v1/esims?${filters}`), filters).toMatchObject({ status: 400, json: tooBroad });
      const narrower = await list(`/v1/esims?${filters}&${since}`);
      expect([narrower.status, narrower.json.data], filters).toEqual([200, []]);
    }
    const common = await list('/v1/esims?metadata[a]=x&status=active&product_id=p');
    expect(common.json.data).toHaveLength(10);
  });

  test('by a common and a rarer value finds all that have both, whichever is rarer', async () => {
    const { accountUuid, list } = await openAccount();
    // Each rarer value is beyond the first count, and the eSIMs that have both are the oldest.
    await fill(
      accountUuid,
      insert(`case when n <= 2000 then 'rarer' else 'p' end, case when n between 1999 and 4000 then 'suspended' else 'active' end,
        (case when n <= 3 or n > ${rows - 2_000} then '{"a":"x","b":"y"}' else '{"a":"x"}' end)::jsonb`),
    );
    for (const [filters, count] of [
      ['metadata[a]=x&product_id=rarer&metadata[b]=y', 3],
      ['status=active&metadata[b]=y&product_id=rarer', 3],
      ['metadata[a]=x&status=suspended&product_id=rarer', 2],
    ] as const) {
      const { json } = await list(`/v1/esims?${filters}`);
      expect(json.data, filters).toHaveLength(count);
    }
  });

  test('that stopped before its page was full does not fill it from the queue', async () => {
    const { accountUuid, list } = await openAccount();
    const half = `case when n % 2 = 0 then`;
    await fill(
      accountUuid,
      insert(`'p', 'active', (${half} '{"a":"x"}' else '{"b":"y"}' end)::jsonb`),
      2 * rows,
    );
    await fill(
      accountUuid,
      `insert into execution_queue (account_id, id, type, product_id, iccid, input, attempts, fence, created_at)
       select $account, uuid_v7(at - interval '1 year'), 'esim.provision', 'p', left($account, 8) || 'q' || right($account, 6) || n,
         '{"metadata":{"a":"x","b":"y"}}', 1, 1, at - interval '1 year'`,
      20,
    );
    expect(await list('/v1/esims?metadata[a]=x&metadata[b]=y')).toMatchObject({
      status: 400,
      json: tooBroad,
    });
  });
});
