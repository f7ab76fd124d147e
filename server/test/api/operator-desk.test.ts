import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;
type Account = { id: string; name: string; key: string; order: Json };

let service: TestService;
let reading: string;
let writing: string;
let accounts: Account[];
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  reading = await service.createKey({ scopes: ['operator'] });
  writing = await service.createKey({ scopes: ['operator', 'operator_write'] });
  accounts = [await newAccount('North'), await newAccount('South')];
});
afterAll(() => service.stop());

async function newAccount(name: string): Promise<Account> {
  const { key, accountUuid } = await service.createAccount(name);
  const body = { product_id: 'prod_europe_5gb_30d', reference: `${name}-1` };
  const { json } = await call({ url: service.url, key }, 'POST', '/v1/esims', { body });
  const order = await until(
    async () => (await call({ url: service.url, key }, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  return { id: idOfUuid('acct', accountUuid), name, key, order };
}

const north = () => accounts[0] as Account;

async function find(q: string, rest = ''): Promise<Json[]> {
  const path = `/v1/operator/search?q=${encodeURIComponent(q)}${rest}`;
  const { status, json } = await call(service, 'GET', path, { key: reading });
  expect([status, json.error?.message]).toEqual([200, undefined]);
  return json.data;
}

const asAccount = (id: string) => ({ headers: { 'Service-Account': id } });

describe('the operator’s search', () => {
  test('finds an eSIM of any account by its ICCID or its end, and an order by its reference, and says whose it is', async () => {
    for (const { id, name, order } of accounts) {
      const owner = { account_id: id, account_name: name, mode: 'sandbox' };
      const esim = { ...owner, type: 'esim', id: order.iccid, path: `/v1/esims/${order.iccid}` };
      for (const q of [order.iccid, order.iccid.slice(-6)]) expect(await find(q), q).toMatchObject([esim]);
      expect(await find(`${name}-1`)).toMatchObject([esim, { ...owner, type: 'execution', id: order.id }]);
    }
    const [first] = await find(north().order.iccid);
    const shown = await call(service, 'GET', first.path, { key: reading, ...asAccount(first.account_id) });
    expect(shown.json.iccid).toBe(north().order.iccid);
  });

  test('finds no more than its limit, however many kinds of objects have the text', async () => {
    const product = 'prod_us_1gb_7d';
    const body = { product_id: product, reference: product };
    expect((await provision({ url: service.url, key: north().key }, undefined, body)).status).toBe(202);
    expect((await find(product)).length).toBeGreaterThan(1);
    expect(await find(product, '&limit=1')).toHaveLength(1);
  });

  test('finds every kind of id', async () => {
    const target = { url: service.url, key: north().key };
    const endpoint = await call(target, 'POST', '/v1/webhook_endpoints', {
      body: { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] },
    });
    const [event] = (await call(target, 'GET', '/v1/events?limit=1')).json.data;
    const replayed = await call(target, 'POST', `/v1/events/${event.id}/replay`, { body: {} });
    const recovery = await call(target, 'POST', `/v1/webhook_endpoints/${endpoint.json.id}/recover`, {
      body: {},
    });
    const [bundle] = (await call(target, 'GET', `/v1/esims/${north().order.iccid}/bundles`)).json.data;
    const { api_key: key } = (await call(target, 'GET', '/v1/me')).json;
    const [entry] = (await call(target, 'GET', `/v1/audit_log?target=${endpoint.json.id}`)).json.data;
    const [delivery] = replayed.json.deliveries;
    const ids = [endpoint.json.id, event.id, delivery.id, recovery.json.id, bundle.id, key.id, entry.id];
    for (const id of [...ids, north().order.id, north().id]) {
      expect(await find(id), id).toMatchObject([{ id, account_id: north().id }]);
    }
    expect(await find('prod_europe_5gb_30d')).toMatchObject([{ type: 'product', account_id: null }]);
    expect(await find('evt_00000000000000000000000000')).toEqual([]);
    expect(await find('nothing')).toEqual([]);
  });

  test('finds an eSIM once while a change of it waits, and no order that was terminated', async () => {
    const { iccid } = north().order;
    const terminated = '8999900000000000017';
    const { rows } = await service.db.pool.query(
      `insert into execution_queue (account_id, id, iccid, type, is_terminated, input, created_at, due_at)
       select a.id, uuid_v7(now()), one.iccid, one.type, one.type = 'esim.provision', '{}', now(), now() + interval '1 hour'
       from accounts a
       cross join (values ($1, 'esim.suspend'), ($2, 'esim.provision')) one (iccid, type)
       where a.name = 'North'
       returning id`,
      [iccid, terminated],
    );
    try {
      expect(await find(iccid)).toMatchObject([{ type: 'esim', id: iccid }]);
      expect(await find(terminated)).toEqual([]);
    } finally {
      await service.db.pool.query('delete from execution_queue where id = any($1)', [
        rows.map(({ id }) => id),
      ]);
    }
  });

  test('finds the eSIMs of all accounts with the same end, as many as the limit says', async () => {
    const end = north().order.iccid.slice(-4);
    await service.db.pool.query(
      `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
       select a.id, uuid_v7(now()), '89' || lpad(row_number() over ()::text, 12, '7') || $1, gen_random_uuid(), 'p', 'active', '{}', now()
       from accounts a`,
      [end],
    );
    const found = await find(end, '&limit=100');
    expect(new Set(found.map(({ account_id }) => account_id)).size).toBeGreaterThan(2);
    expect(await find(end, '&limit=2')).toHaveLength(2);
  });

  test('finds the newest of all accounts first, by reference and by the end of the ICCID', async () => {
    const names = accounts.map(({ name }) => name);
    for (const [n, newest] of names.entries()) {
      const [reference, end] = [`newest-${n}`, `64${n}93`];
      await service.db.pool.query(
        `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, reference, created_at)
         select a.id, uuid_v7(at), '895' || lpad(row_number() over ()::text, 10, '3') || $1, gen_random_uuid(), 'p', 'active', '{}', $2, at
         from accounts a
         cross join lateral (select now() - case when a.name = $3 then interval '0' else interval '1 day' end as at) made
         where a.name = any($4)`,
        [end, reference, newest, names],
      );
      for (const q of [reference, end]) {
        expect(await find(q), q).toHaveLength(2);
        expect(await find(q, '&limit=1'), q).toMatchObject([{ account_name: newest }]);
      }
    }
  });

  test('is the operator’s alone', async () => {
    const { status, json } = await call(service, 'GET', '/v1/operator/search?q=North-1');
    expect([status, json.error.code]).toEqual([403, 'scope_missing']);
  });
});

describe('an operator’s key with operator_write', () => {
  const body = { product_id: 'prod_europe_5gb_30d', reference: 'by-operator' };

  test('writes for the account it names, and the audit logs tell who did it', async () => {
    const { id, key } = north();
    const ordered = await call(service, 'POST', '/v1/esims', { key: writing, body, ...asAccount(id) });
    expect(ordered.status).toBe(202);
    const own = await call({ url: service.url, key }, 'GET', `/v1/executions/${ordered.json.id}`);
    expect(own.json.reference).toBe('by-operator');
    const hook = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
    const made = await call(service, 'POST', '/v1/webhook_endpoints', {
      key: writing,
      body: hook,
      ...asAccount(id),
    });
    expect(made.status).toBe(201);
    for (const target of [ordered.json.id, made.json.id]) {
      const all = await call(service, 'GET', `/v1/operator/audit_log?target=${target}`, { key: reading });
      const [entry] = all.json.data;
      expect([entry.account_id, entry.actor.type]).toEqual([id, 'operator']);
      expect(entry.actor.name).toEqual(expect.any(String));
      const [shown] = (await call({ url: service.url, key }, 'GET', `/v1/audit_log?target=${target}`)).json
        .data;
      expect(shown.actor).toEqual({ type: 'operator', id: null, name: 'Operator' });
    }
    const others = await call(
      { url: service.url, key: (accounts[1] as Account).key },
      'GET',
      '/v1/esims?reference=by-operator',
    );
    expect(others.json.data).toEqual([]);
  });

  test('needs the account, and a key without the scope only reads', async () => {
    const without = await call(service, 'POST', '/v1/esims', { key: writing, body });
    expect([without.status, without.json.error.param]).toEqual([403, 'Service-Account']);
    const readOnly = await call(service, 'POST', '/v1/esims', {
      key: reading,
      body,
      ...asAccount(north().id),
    });
    expect([readOnly.status, readOnly.json.error.code]).toEqual([403, 'scope_missing']);
    expect(readOnly.json.error.message).toContain('operator_write');
  });

  test('gets no key of the account, and does not write for a suspended one', async () => {
    const { id } = accounts[1] as Account;
    const wanted = { name: 'mine', scopes: ['write'] };
    const key = await call(service, 'POST', '/v1/api_keys', { key: writing, body: wanted, ...asAccount(id) });
    expect(key.status).toBe(403);
    await call(service, 'PATCH', `/v1/operator/accounts/${id}`, {
      key: writing,
      body: { status: 'suspended' },
    });
    const refused = await call(service, 'POST', '/v1/esims', { key: writing, body, ...asAccount(id) });
    expect([refused.status, refused.json.error.code]).toEqual([403, 'account_suspended']);
  });

  test('has no scope of an account, and no account’s key has it', async () => {
    for (const scopes of [
      ['operator_write'],
      ['operator', 'operator_write', 'read'],
      ['operator', 'read'],
    ] as const) {
      await expect(service.createKey({ scopes: [...scopes] })).rejects.toThrow('api_keys_of_operators');
    }
  });
});
