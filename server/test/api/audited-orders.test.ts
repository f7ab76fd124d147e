import { encodeId, idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptExecution } from '../../src/orders/executions/accept.ts';
import { createClaim } from '../../src/platform/idempotency/claim.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { lowestUuidAt, unixMsOf } from '../../src/platform/ids/uuid-range.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';

const product = 'prod_europe_5gb_30d';

let service: TestService;
let operatorKey: string;
beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
  await service.db.pool.query(`alter table idempotency_keys add check (key <> 'rolled-back')`);
});
afterAll(() => service.stop());

type Given = {
  by?: string;
  ip?: string;
  via?: 'api' | 'dashboard';
  productId?: string;
  limit?: number;
  accountUuid?: string;
};
type Entry = { actor: { id: string }; action: string; target: { id: string }; changes?: object; ip: string };
type Ordered = { execution_id: string; request_id: string };

/** Accepts an order directly: those of one event loop turn share a statement. Returns the execution's id; null if refused. */
async function accept(key: string, given: Given = {}): Promise<Ordered | null> {
  const { by = 'key_a', ip = '203.0.113.1', productId = product, limit = null } = given;
  const { via = 'api', accountUuid = service.accountUuid } = given;
  const accountId = idOfUuid(idPrefixes.account, accountUuid);
  const request = { accountId, key, method: 'POST', path: '/v1/esims', query: '', canonicalBody: '{}' };
  const requestId = encodeId(idPrefixes.request, service.service.newUuid());
  const ctx = {
    ...service.service,
    account: { uuid: accountUuid, limits: { openExecutions: limit } },
    apiKey: { id: by, name: by, scopes: ['write'] },
    ...{ requestId, ip, via },
  } as unknown as Parameters<typeof acceptExecution>[0];
  const asked = {
    claim: createClaim(request, service.clock.nowMs()),
    render: ({ body }: { body: object }) => ({ status: 202, location: null, body: JSON.stringify(body) }),
  };
  const outcome = await acceptExecution(ctx, { type: 'esim.provision', productId, input: () => ({}) }, asked);
  if (outcome.kind !== 'answered' || outcome.replayed) return null;
  return { execution_id: JSON.parse(outcome.answer.body).id, request_id: requestId };
}

async function list(query: string, key = service.key): Promise<Entry[]> {
  const path = key === operatorKey ? '/v1/operator/audit_log' : '/v1/audit_log';
  const reply = await call(service, 'GET', `${path}?${query}`, { key });
  expect(reply.status).toBe(200);
  return reply.json.data;
}

/** The entries about orders that `work` leaves. */
async function entriesOf(work: () => Promise<unknown>): Promise<Entry[]> {
  const count = (await list('action=esim.ordered&limit=100')).length;
  await work();
  const entries = await list('action=esim.ordered&limit=100');
  return entries.slice(0, entries.length - count).reverse();
}

const told = ({ target, changes }: Entry) =>
  changes ? (changes as { orders: Ordered[] }).orders.map((one) => one.execution_id) : [target.id];

describe('orders that are accepted together', () => {
  test('share an entry for each key, address and way, which tells of those that were accepted', async () => {
    await accept('stored');
    let orders: (Ordered | null)[] = [];
    const entries = await entriesOf(async () => {
      orders = await Promise.all([
        accept('a-1'),
        accept('b-1', { by: 'key_b' }),
        accept('stored'),
        accept('a-2'),
        accept('missing', { productId: 'prod_none' }),
        accept('a-elsewhere', { ip: '203.0.113.2' }),
        accept('a-page', { via: 'dashboard' }),
        accept('a-3'),
      ]);
    });
    const [a1, b1, , a2, , elsewhere, page, a3] = orders as Ordered[];
    expect(orders[2]).toBeNull();
    expect(orders[4]).toBeNull();
    expect(entries).toMatchObject([
      {
        ...{ actor: { id: 'key_a' }, ip: '203.0.113.1', request_id: a1?.request_id, via: 'api' },
        target: { type: 'execution', id: a1?.execution_id },
        changes: { orders: [a1, a2, a3].map((one) => ({ execution_id: one?.execution_id })) },
      },
      { actor: { id: 'key_b' }, target: { id: b1?.execution_id }, request_id: b1?.request_id },
      { actor: { id: 'key_a' }, target: { id: elsewhere?.execution_id }, ip: '203.0.113.2' },
      { actor: { id: 'key_a' }, target: { id: page?.execution_id }, via: 'dashboard' },
    ]);
    for (const entry of entries.slice(1)) expect(entry).not.toHaveProperty('changes');
  });

  test('are told to each account, also if one key orders for two', async () => {
    const other = await service.createAccount('Other');
    let orders: (Ordered | null)[] = [];
    const entries = await entriesOf(async () => {
      orders = await Promise.all([
        accept('mine-1'),
        accept('theirs', { accountUuid: other.accountUuid }),
        accept('mine-2'),
      ]);
    });
    const ids = orders.map((one) => one?.execution_id);
    expect(entries.map(told)).toEqual([[ids[0], ids[2]]]);
    expect((await list('action=esim.ordered', other.key)).map(told)).toEqual([[ids[1]]]);
  });

  test('are told one by one if the database refuses one of them, and that one not at all', async () => {
    let orders: PromiseSettledResult<Ordered | null>[] = [];
    const entries = await entriesOf(async () => {
      orders = await Promise.allSettled([accept('kept-1'), accept('rolled-back'), accept('kept-2')]);
    });
    expect(orders.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const accepted = orders.flatMap((one) => (one.status === 'fulfilled' ? [one.value?.execution_id] : []));
    expect(entries.map(told)).toEqual(accepted.map((id) => [id]));
  });

  test('are told only as far as the account’s limit of open orders allows', async () => {
    const count = 'select count(*)::int as open from execution_queue where account_id = $1';
    const { rows } = await service.db.pool.query(count, [service.accountUuid]);
    const limit = rows[0].open + 2;
    let orders: (Ordered | null)[] = [];
    const entries = await entriesOf(async () => {
      orders = await Promise.all(['l-1', 'l-2', 'l-3'].map((key) => accept(key, { limit })));
    });
    expect(entries.flatMap(told)).toEqual(orders.slice(0, 2).map((one) => one?.execution_id));
    expect(orders[2]).toBeNull();
  });

  test('are accepted by the account’s newest limit', async () => {
    const count = 'select count(*)::int as open from execution_queue where account_id = $1';
    const { rows } = await service.db.pool.query(count, [service.accountUuid]);
    const before = rows[0].open;
    const orders = await Promise.all([
      accept('before-the-change', { limit: before }),
      accept('after-the-change', { limit: before + 1 }),
    ]);
    expect(orders.map((one) => one !== null)).toEqual([true, false]);
  });

  test('leave the place of one that is only repeated or refused to the next', async () => {
    await accept('repeated');
    const count = 'select count(*)::int as open from execution_queue where account_id = $1';
    const { rows } = await service.db.pool.query(count, [service.accountUuid]);
    const limit = rows[0].open + 1;
    const orders = await Promise.all([
      accept('repeated', { limit }),
      accept('unknown', { limit, productId: 'prod_none' }),
      accept('first-new', { limit }),
      accept('second-new', { limit }),
    ]);
    expect(orders.map((one) => one !== null)).toEqual([false, false, true, false]);
  });

  test('each find their entry by execution and by ICCID, and nothing about each other', async () => {
    const orders = (await Promise.all(['f-1', 'f-2', 'f-3'].map((key) => accept(key)))) as Ordered[];
    const ids = orders.map((one) => one.execution_id);
    const other = await service.createAccount('Other');
    const accountId = idOfUuid(idPrefixes.account, service.accountUuid);
    for (const id of ids) {
      const iccid = await insertEsim(service);
      const text = 'update esims set execution_id = $1 where iccid = $2';
      await service.db.pool.query(text, [uuidOfId(idPrefixes.execution, id), iccid]);
      await call(service, 'PATCH', `/v1/esims/${iccid}`, { body: { description: 'x' } });
      for (const [query, key] of [
        ['', service.key],
        ['', operatorKey],
        [`&account_id=${accountId}`, operatorKey],
      ] as const) {
        expect((await list(`target=${id}${query}`, key)).map(told)).toEqual([ids]);
        const ofEsim = await list(`target=${iccid}${query}`, key);
        expect(ofEsim.map(({ action }) => action)).toEqual(['esim.updated', 'esim.ordered']);
        expect(told(ofEsim[1] as Entry)).toEqual(ids);
      }
      expect(await list(`target=${id}&action=execution.canceled`)).toEqual([]);
      expect(await list(`target=${id}`, other.key)).toEqual([]);
      expect(await list(`target=${iccid}`, other.key)).toEqual([]);
    }
    await call(service, 'POST', `/v1/executions/${ids[0]}/cancel`, { body: {} });
    const actions = async (id?: string) => (await list(`target=${id}`)).map(({ action }) => action);
    expect(await actions(ids[0])).toEqual(['execution.canceled', 'esim.ordered']);
    expect(await actions(ids[1])).toEqual(['esim.ordered']);
  });
});

test('an order by itself finds its entry by ICCID while it waits, page by page', async () => {
  const { id } = (await provision(service, 'waiting')).json;
  const iccid = '8999901999999999993';
  const text = 'update execution_queue set iccid = $1 where id = $2';
  await service.db.pool.query(text, [iccid, uuidOfId(idPrefixes.execution, id)]);
  await service.db.pool.query(
    `insert into audit_log (account_id, id, actor_type, action, target_type, target_id, created_at)
     values ($1, gen_random_uuid(), 'api_key', 'esim.updated', 'esim', $2, now())`,
    [service.accountUuid, iccid],
  );
  const first = await call(service, 'GET', `/v1/audit_log?target=${iccid}&limit=1`);
  const path = `/v1/audit_log?target=${iccid}&limit=1&starting_after=${first.json.next_cursor}`;
  const second = await call(service, 'GET', path);
  const pages = [...first.json.data, ...second.json.data] as Entry[];
  expect(pages.map((entry) => entry.action).sort()).toEqual(['esim.ordered', 'esim.updated']);
  expect([first.json.has_more, second.json.has_more]).toEqual([true, false]);
});

describe('the search for the entry of an order', () => {
  const orderAt = async () => {
    const uuid = (await service.db.pool.query('select uuid_of($1) as uuid', [service.clock.nowMs()])).rows[0]
      .uuid;
    return { uuid, id: idOfUuid(idPrefixes.execution, uuid), ms: unixMsOf(uuid) };
  };
  const insert = (uuidSql: string, orders: string, count = 1) =>
    service.db.pool.query(
      `insert into audit_log (account_id, id, actor_type, action, target_type, target_id, orders, created_at)
       select '${service.accountUuid}', ${uuidSql}, 'api_key', 'esim.ordered', 'execution', gen_random_uuid()::text, ${orders}, now()
       from generate_series(1, ${count}) n`,
    );
  beforeAll(() =>
    service.db.pool.query(
      `create function uuid_of(ms bigint) returns uuid language sql as
       $$select (lpad(to_hex(ms), 12, '0') || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid$$`,
    ),
  );

  test('passes over later entries, and finds one up to a minute before the order', async () => {
    const { uuid, id, ms } = await orderAt();
    await insert(`'${lowestUuidAt(ms - 59_000)}'`, `array['${uuid}', gen_random_uuid()]`);
    await insert(`uuid_of(${ms + 1_000} + n)`, 'null', 6_000);
    expect(await list(`target=${id}`)).toHaveLength(1);
  });

  test('ends a minute before the order', async () => {
    service.clock.advance(600_000);
    const { uuid, id, ms } = await orderAt();
    await insert(`'${lowestUuidAt(ms - 61_000)}'`, `array['${uuid}', gen_random_uuid()]`);
    expect(await list(`target=${id}`)).toEqual([]);
  });

  test('ends after 5,000 entries', async () => {
    service.clock.advance(600_000);
    const { uuid, id, ms } = await orderAt();
    await insert(`'${lowestUuidAt(ms - 50_000)}'`, `array['${uuid}', gen_random_uuid()]`);
    await insert(`uuid_of(${ms - 40_000} + n)`, 'null', 5_000);
    expect(await list(`target=${id}`)).toEqual([]);
  });
});
