import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { findRoom } from '../../src/orders/executions/limit-open.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let operator: { url: string; key: string };
let operatorKeyId: string;

beforeAll(async () => {
  service = await startService();
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
  operatorKeyId = (await call(operator, 'GET', '/v1/me')).json.api_key.id;
});
afterAll(() => service.stop());

async function openAccount(body: object = { name: 'Tenant' }) {
  const account = await call(operator, 'POST', '/v1/operator/accounts', { body });
  expect(account.status, account.text).toBe(201);
  const path = `/v1/operator/accounts/${account.json.id}`;
  const scopes = ['read', 'write', 'admin'];
  const key = await call(operator, 'POST', `${path}/api_keys`, { body: { name: 'First', scopes } });
  expect(key.status, key.text).toBe(201);
  return {
    account: account.json,
    path,
    keyId: key.json.id as string,
    url: service.url,
    key: key.json.key as string,
  };
}

const change = (path: string, body: object) => call(operator, 'PATCH', path, { body });

async function auditOf(id: string) {
  return service.db.query<{ action: string; actor_id: string; actor_type: string; changes: unknown }>(
    {
      name: 'test_audit_of_target',
      text: 'select action, actor_type, actor_id, changes from audit_log where target_id = $1 order by id',
    },
    [id],
  );
}

test('an operator creates an account with limits, finds it, and changes it', async () => {
  const { account, path } = await openAccount({ name: 'Acme', requests_per_second: 7 });
  const shown = {
    id: expect.stringMatching(/^acct_/),
    object: 'account',
    name: 'Acme',
    status: 'active',
    max_webhook_endpoints: null,
    max_open_executions: null,
    requests_per_second: 7,
    api_version: '2026-11-01',
    created: expect.any(Number),
    closed_at: null,
    closing: null,
  };
  expect(account).toEqual(shown);
  expect((await call(operator, 'GET', path)).json).toEqual(account);
  const { data } = (await call(operator, 'GET', '/v1/operator/accounts')).json;
  expect(data[0]).toEqual(account);
  const changed = await change(path, { name: 'Acme Ltd', requests_per_second: null, max_open_executions: 5 });
  expect([changed.status, changed.json]).toEqual([
    200,
    { ...shown, name: 'Acme Ltd', requests_per_second: null, max_open_executions: 5 },
  ]);
  const by = { actor_type: 'operator', actor_id: operatorKeyId };
  expect(await auditOf(account.id)).toEqual([
    { action: 'account.created', ...by, changes: expect.objectContaining({ name: 'Acme' }) },
    {
      action: 'account.updated',
      ...by,
      changes: {
        name: { from: 'Acme', to: 'Acme Ltd' },
        requests_per_second: { from: 7, to: null },
        max_open_executions: { from: null, to: 5 },
      },
    },
  ]);
});

test.each([
  [{ status: 'deleted' }, 'status'],
  [{ requests_per_second: 0 }, 'requests_per_second'],
  [{ max_open_executions: -1 }, 'max_open_executions'],
  [{ plan: 'gold' }, 'plan'],
])('an account cannot be changed to %j', async (body, param) => {
  const { path } = await openAccount();
  const reply = await change(path, body);
  expect([reply.status, reply.json.error.param]).toEqual([400, param]);
});

test('a change of an account waits for another, and leaves what that has changed', async () => {
  const { account, path } = await openAccount();
  const holder = await service.db.pool.connect();
  await holder.query('begin');
  await holder.query(`update accounts set status = 'suspended' where id = $1`, [
    uuidOfId('acct', account.id),
  ]);
  const renamed = change(path, { name: 'Renamed' });
  await untilLockIsAwaited(service);
  await holder.query('commit');
  holder.release();
  expect((await renamed).json).toMatchObject({ name: 'Renamed', status: 'suspended' });
  expect((await call(operator, 'GET', path)).json.status).toBe('suspended');
});

test('an account that does not exist is not found', async () => {
  for (const id of ['acct_00000000000000000000000000', 'acct_1']) {
    const path = `/v1/operator/accounts/${id}`;
    for (const [method, at, body] of [
      ['GET', path, undefined],
      ['PATCH', path, {}],
      ['GET', `${path}/api_keys`, undefined],
      ['POST', `${path}/api_keys`, { scopes: ['read'] }],
      ['DELETE', `${path}/api_keys/key_00000000000000000000000000`, undefined],
    ] as const) {
      const reply = await call(operator, method, at, { ...(body && { body }) });
      expect([method, at, reply.status]).toEqual([method, at, 404]);
    }
  }
});

test('an operator creates, lists and revokes an account’s keys, and the account does not see which operator', async () => {
  const { path, keyId, ...tenant } = await openAccount();
  const [seen] = (await call(tenant, 'GET', '/v1/api_keys')).json.data;
  expect(seen).toMatchObject({ id: keyId, created_by: { type: 'operator', id: null, name: null } });
  const [listed] = (await call(operator, 'GET', `${path}/api_keys`)).json.data;
  expect(listed.created_by).toEqual({ type: 'operator', id: operatorKeyId, name: 'Test' });
  const revoked = await call(operator, 'DELETE', `${path}/api_keys/${keyId}`);
  expect([revoked.status, revoked.json]).toEqual([200, { id: keyId, object: 'api_key', deleted: true }]);
  expect((await auditOf(keyId)).map(({ action, actor_id }) => [action, actor_id])).toEqual([
    ['api_key.created', operatorKeyId],
    ['api_key.revoked', operatorKeyId],
  ]);
  const other = await openAccount();
  const elsewhere = await call(operator, 'DELETE', `${path}/api_keys/${other.keyId}`);
  expect([elsewhere.status, elsewhere.json.error.param]).toEqual([404, 'key_id']);
  for (const [wrong, param] of [
    [{ expires_at: 1 }, 'expires_at'],
    [{ allowed_cidrs: ['203.0.113.7/33'] }, 'allowed_cidrs[0]'],
  ] as const) {
    const body = { scopes: ['read'], ...wrong };
    const refused = await call(operator, 'POST', `${path}/api_keys`, { body });
    expect([refused.status, refused.json.error.param]).toEqual([400, param]);
  }
});

test('a suspended account can read but not write, until it is active again', async () => {
  const { path, ...tenant } = await openAccount();
  const order = async () => {
    const reply = await call(tenant, 'POST', '/v1/esims', { body: { product_id: 'prod_europe_5gb_30d' } });
    return reply.json.error?.code ?? reply.status;
  };
  await change(path, { status: 'suspended' });
  expect(await until(order, (code) => code !== 202)).toBe('account_suspended');
  expect((await call(tenant, 'GET', '/v1/executions')).status).toBe(200);
  await change(path, { status: 'active' });
  await until(order, (code) => code === 202);
});

describe('the limits of an account', () => {
  const product = { product_id: 'prod_europe_5gb_30d' };
  const limitReached = [429, 'execution_limit_reached'];
  const codeOf = ({ status, json }: Reply) => [status, json.error?.code ?? null];

  test('max_webhook_endpoints stands in for the deployment’s limit', async () => {
    const tenant = await openAccount({ name: 'Endpoints', max_webhook_endpoints: 1 });
    const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
    const create = () => call(tenant, 'POST', '/v1/webhook_endpoints', { body });
    expect((await create()).status).toBe(201);
    const refused = await create();
    expect(codeOf(refused)).toEqual([409, 'endpoint_limit_reached']);
    expect(refused.json.error.message).toContain('limit of 1 webhook');
  });

  test('max_open_executions holds for any number of orders at once, on every process', async () => {
    const second = await startService({ databaseUrl: service.databaseUrl });
    const { path, ...tenant } = await openAccount({ name: 'Orders', max_open_executions: 5 });
    const orders = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        provision({ ...tenant, url: n % 2 === 0 ? service.url : second.url }, `order-${n}`),
      ),
    );
    await second.stop();
    const accepted = orders.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(5);
    const refused = orders.filter(({ status }) => status !== 202);
    for (const one of refused) {
      expect(codeOf(one)).toEqual(limitReached);
      expect(one.headers.get('retry-after')).toBe('1');
    }
    expect((await call(tenant, 'GET', '/v1/executions?limit=100')).json.data).toHaveLength(5);
    // A retry of an accepted order is answered; a refused one is not stored, and works when there is room.
    const n = orders.findIndex(({ status }) => status === 202);
    const replayed = await provision(tenant, `order-${n}`);
    expect([replayed.status, replayed.json.id]).toEqual([202, orders[n]?.json.id]);
    await change(path, { max_open_executions: 6 });
    const m = orders.findIndex(({ status }) => status === 429);
    await until(
      async () => (await provision(tenant, `order-${m}`)).status,
      (status) => status === 202,
    );
    expect(codeOf(await provision(tenant))).toEqual(limitReached);
  });

  test('an order waits while another process counts the open ones of its account and adds to them', async () => {
    const tenant = await openAccount({ name: 'Counting', max_open_executions: 1 });
    const accountUuid = uuidOfId('acct', tenant.account.id) as string;
    let order: ReturnType<typeof provision> | undefined;
    await service.db.transaction(async (tx) => {
      expect(await findRoom(tx, accountUuid, 1)).toBe(1);
      order = provision(tenant);
      await untilLockIsAwaited(service);
    });
    expect((await order)?.status).toBe(202);
  });

  test('max_open_executions holds for changes and top-ups', async () => {
    const { path, ...tenant } = await openAccount({ name: 'Changes' });
    const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
    const { id } = (await provision(tenant)).json;
    const { iccid } = await until(
      async () => (await call(tenant, 'GET', `/v1/executions/${id}`)).json,
      ({ status }) => status === 'succeeded',
    );
    await worker.stop(0);
    await change(path, { max_open_executions: 1 });
    // A key that no process has cached yet.
    const { key } = (
      await call(operator, 'POST', `${path}/api_keys`, { body: { scopes: ['read', 'write'] } })
    ).json;
    const limited = { ...tenant, key };
    expect((await call(limited, 'POST', `/v1/esims/${iccid}/bundles`, { body: product })).status).toBe(202);
    for (const [method, at, body] of [
      ['POST', `/v1/esims/${iccid}/bundles`, product],
      ['POST', `/v1/esims/${iccid}/suspend`, undefined],
      ['DELETE', `/v1/esims/${iccid}`, undefined],
    ] as const) {
      expect(codeOf(await call(limited, method, at, { ...(body && { body }) }))).toEqual(limitReached);
    }
  });

  test('requests_per_second holds for all keys of an account together', async () => {
    const { path, ...tenant } = await openAccount({ name: 'Requests', requests_per_second: 1 });
    const { key } = (await call(operator, 'POST', `${path}/api_keys`, { body: { scopes: ['read'] } })).json;
    const startedMs = performance.now();
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        call(tenant, 'GET', '/v1/products', { key: n % 2 === 0 ? tenant.key : key }),
      ),
    );
    const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
    const refused = replies.filter(({ status }) => status !== 200);
    // The burst, and one for each second that it took.
    expect(30 - refused.length).toBeLessThanOrEqual(2 + seconds);
    expect(refused.length).toBeLessThan(30);
    for (const one of refused) expect(codeOf(one)).toEqual([429, 'rate_limited']);
    for (const { headers } of replies) expect(headers.get('ratelimit-policy')).toBe('"account";q=2;w=2');
    expect((await call(service, 'GET', '/v1/products')).headers.get('ratelimit-policy')).toBeNull();
  });
});
