import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import { ensureSandboxKey } from '../../src/accounts/ensure-sandbox-key.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { continueClosings } from '../../src/orders/closing/continue.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed, insertWaiting } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let operator: { url: string; key: string };
beforeAll(async () => {
  service = await startService();
  operator = {
    url: service.url,
    key: await service.createKey({ scopes: ['operator', 'operator_write'] }),
  };
});
afterAll(() => service.stop());

type Tenant = Awaited<ReturnType<typeof openAccount>>;

async function openAccount() {
  const { accountUuid, key } = await service.createAccount('Tenant');
  return { ...service, accountUuid, key, id: idOfUuid(idPrefixes.account, accountUuid) };
}

const close = ({ id }: Tenant, query = '') => call(operator, 'DELETE', `/v1/operator/accounts/${id}${query}`);
const get = async ({ id }: Tenant) => (await call(operator, 'GET', `/v1/operator/accounts/${id}`)).json;
const goOn = (stopping?: AbortSignal) => continueClosings(service.db, service.service, stopping);
const forTenant = ({ id }: Tenant, method: string, path: string, body?: object) =>
  call(operator, method, path, { headers: { 'Service-Account': id }, ...(body && { body }) });

/** A key that every process has heard of, however short ago. */
const lookUpAgain = () => service.clock.advance(10_000);

async function countOpen({ accountUuid }: Tenant): Promise<number> {
  const { rows } = await service.db.pool.query(
    'select count(*)::integer as count from execution_queue where account_id = $1',
    [accountUuid],
  );
  return rows[0].count;
}

test('an account that two close at the same moment is closed once, and both are told so', async () => {
  const tenant = await openAccount();
  const lock = 'select from accounts where id = $1 for no key update';
  const { both } = await service.db.transaction(async (tx) => {
    await tx.query({ name: 'test_hold_account_row', text: lock }, [tenant.accountUuid]);
    const both = Promise.all([close(tenant), close(tenant)]);
    await Promise.race([both, untilLockIsAwaited(service, 2)]);
    return { both };
  });
  expect((await both).map(({ status, json }) => [status, json.status])).toEqual(
    Array(2).fill([expect.any(Number), 'closed']),
  );
  const entries = `select from audit_log where account_id = $1 and action = 'account.closed'`;
  expect((await service.db.pool.query(entries, [tenant.accountUuid])).rowCount).toBe(1);
});

describe('closing an account', () => {
  test('ends its keys, sessions, endpoints and install links at once, and those of no other account', async () => {
    const [tenant, other] = [await openAccount(), await openAccount()];
    const links: string[] = [];
    const endpoints: string[] = [];
    for (const one of [tenant, other]) {
      const iccid = await insertEsim(one);
      const link = await call(one, 'POST', `/v1/esims/${iccid}/install_links`, { body: {} });
      links.push(link.json.url);
      const endpoint = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
      endpoints.push((await call(one, 'POST', '/v1/webhook_endpoints', { body: endpoint })).json.id);
      await call(one, 'POST', '/dashboard/api/session', {
        key: null,
        body: { api_key: one.key },
        headers: { Origin: one.url },
      });
      await service.db.pool.query(
        `insert into dashboard_links (hash, key_id, expires_at)
         select sha256(id::text::bytea), id, now() + interval '1 hour' from api_keys where account_id = $1`,
        [one.accountUuid],
      );
    }
    const waysIn = async (keyOf: Tenant) => {
      const { rows } = await service.db.pool.query(
        `select
           (select count(*) from dashboard_sessions where key_id = k.id)::integer as sessions,
           (select count(*) from dashboard_links where key_id = k.id)::integer as links
         from api_keys k
         where account_id = $1
         order by id
         limit 1`,
        [keyOf.accountUuid],
      );
      return rows[0];
    };
    const [both, none] = [
      { sessions: 1, links: 1 },
      { sessions: 0, links: 0 },
    ];
    expect([await waysIn(tenant), await waysIn(other)]).toEqual([both, both]);
    await service.createKey({ accountUuid: tenant.accountUuid, scopes: ['install'] });
    const revokedBefore = `api_keys where account_id = $1 and scopes = '{install}'`;
    const setRevoked = `update api_keys set revoked_at = '2020-01-01' where id = (select id from ${revokedBefore})`;
    await service.db.pool.query(setRevoked, [tenant.accountUuid]);

    const { status, json } = await close(tenant);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ...{ id: tenant.id, object: 'account', status: 'closed', closed_at: expect.any(Number) },
      closing: { terminate_esims: false, terminations: 0, finished_at: null },
    });
    expect(json).toEqual(await get(tenant));
    const stored = await service.db.pool.query(
      'select floor(extract(epoch from closed_at))::integer as seconds from accounts where id = $1',
      [tenant.accountUuid],
    );
    expect(stored.rows).toEqual([{ seconds: json.closed_at }]);
    expect((await get(other)).status).toBe('active');
    expect([await waysIn(tenant), await waysIn(other)]).toEqual([none, both]);
    const pages = await Promise.all(links.map(async (url) => (await fetch(url)).status));
    expect(pages).toEqual([404, 200]);
    const disabled = { status: 'disabled', disabled_reason: 'The account was closed.' };
    expect((await forTenant(tenant, 'GET', `/v1/webhook_endpoints/${endpoints[0]}`)).json).toMatchObject(
      disabled,
    );
    expect((await call(other, 'GET', `/v1/webhook_endpoints/${endpoints[1]}`)).json.status).toBe('enabled');
    const refused = await until(
      () => call(tenant, 'GET', '/v1/me'),
      (reply) => reply.status !== 200,
    );
    expect([refused.status, refused.json.error.code]).toEqual([401, 'api_key_invalid']);
    const { rows } = await service.db.pool.query(
      'select count(*)::integer as count from api_keys where account_id = $1 and revoked_at is null',
      [tenant.accountUuid],
    );
    expect(rows[0].count).toBe(0);
    const kept = await service.db.pool.query(
      `select revoked_at = '2020-01-01' as is_kept from ${revokedBefore}`,
      [tenant.accountUuid],
    );
    expect(kept.rows).toEqual([{ is_kept: true }]);
    expect((await call(other, 'GET', '/v1/me')).status).toBe(200);
  });

  test('twice answers with the closed account, and leaves one audit entry', async () => {
    const tenant = await openAccount();
    const { json: first } = await close(tenant);
    service.clock.advance(5_000);
    expect((await close(tenant)).json).toEqual(first);
    const { json } = await forTenant(tenant, 'GET', '/v1/audit_log?action=account.closed');
    expect(json.data).toMatchObject([
      { action: 'account.closed', target: { id: tenant.id }, changes: { terminate_esims: false } },
    ]);
    expect((await call(operator, 'DELETE', '/v1/operator/accounts/acct_1')).status).toBe(404);
  });

  test('refuses what the query does not know, and other accounts’ keys', async () => {
    const tenant = await openAccount();
    expect((await close(tenant, '?terminate_esims=maybe')).json.error.param).toBe('terminate_esims');
    const { status } = await call(tenant, 'DELETE', `/v1/operator/accounts/${tenant.id}`);
    expect(status).toBe(403);
    expect((await get(tenant)).status).toBe('active');
  });

  test('leaves it readable for operators, who can neither change it nor write for it', async () => {
    const tenant = await openAccount();
    const iccid = await insertEsim(tenant);
    const failed = await insertFailed(tenant, 'declined', null);
    await close(tenant);
    expect((await forTenant(tenant, 'GET', `/v1/esims/${iccid}`)).status).toBe(200);
    const order = await forTenant(tenant, 'POST', '/v1/esims', { product_id: 'prod_europe_5gb_30d' });
    expect([order.status, order.json.error.code]).toEqual([403, 'account_suspended']);
    const path = `/v1/operator/accounts/${tenant.id}`;
    const refusals = [
      await call(operator, 'PATCH', path, { body: { status: 'active' } }),
      await call(operator, 'POST', `${path}/api_keys`, { body: { scopes: ['read'] } }),
      await call(operator, 'POST', `/v1/operator/executions/${failed}/retry`),
    ];
    for (const { status, json } of refusals) {
      expect([status, json.error.code]).toEqual([409, 'state_conflict']);
      expect(json.error.message).toContain('The account is closed.');
    }
    expect((await get(tenant)).status).toBe('closed');
  });

  test('refuses a key that someone stored while it was being closed', async () => {
    const tenant = await openAccount();
    await close(tenant);
    const key = await service.createKey({ accountUuid: tenant.accountUuid });
    expect((await call(tenant, 'GET', '/v1/me', { key })).status).toBe(401);
  });
});

test('a sandbox whose account was closed gives its next key to an open one', async () => {
  const key = generateApiKey('sandbox');
  const own = await startService();
  onTestFinished(() => own.stop());
  await own.db.pool.query('update accounts set closed_at = now()');
  await ensureSandboxKey(own.db, own.service, key);
  const { status, json } = await call(own, 'GET', '/v1/me', { key });
  expect([status, json.account.name]).toEqual([200, 'Sandbox']);
});

describe('the orders of a closed account', () => {
  test('are canceled if they have not reached the network, and end as they would if they have', async () => {
    const tenant = await openAccount();
    const sent = await insertWaiting(tenant);
    await service.db.pool.query(
      'update execution_queue set fence = 1, leased_until = null where account_id = $1',
      [tenant.accountUuid],
    );
    const unsent = [(await provision(tenant)).json.id, (await provision(tenant)).json.id];
    const other = await provision(service);
    await close(tenant);
    await goOn();
    for (const id of unsent) {
      const { json } = await forTenant(tenant, 'GET', `/v1/executions/${id}`);
      expect(json).toMatchObject({
        status: 'failed',
        error: { code: 'canceled', message: expect.stringContaining('closed the account') },
      });
    }
    expect(await countOpen(tenant)).toBe(1);
    expect((await call(service, 'GET', `/v1/executions/${other.json.id}`)).json.status).toBe('queued');
    lookUpAgain();
    await goOn();
    expect((await get(tenant)).closing.finished_at).toBe(null);
    await service.db.pool.query('delete from execution_queue where account_id = $1', [tenant.accountUuid]);
    await goOn();
    expect((await get(tenant)).closing.finished_at).toEqual(expect.any(Number));
    expect((await forTenant(tenant, 'GET', `/v1/executions/${sent}`)).status).toBe(404);
  });

  test('are canceled although a worker is just claiming one of them, which is left to it', async () => {
    const tenant = await openAccount();
    const ids = [(await provision(tenant)).json.id, (await provision(tenant)).json.id];
    await close(tenant);
    const worker = await service.db.pool.connect();
    await worker.query('begin');
    await worker.query('select from execution_queue where id = $1 for update', [uuidOfId('exec', ids[0])]);
    const going = goOn();
    await Promise.race([going, untilLockIsAwaited(service)]);
    const statuses = ids.map(
      async (id) => (await forTenant(tenant, 'GET', `/v1/executions/${id}`)).json.status,
    );
    const seen = await Promise.all(statuses);
    await worker.query('rollback');
    worker.release();
    await going;
    expect(seen).toEqual(['queued', 'failed']);
  });

  test('are canceled a hundred at a time, so that no transaction holds the locks of many', async () => {
    const tenant = await openAccount();
    await service.db.pool.query(
      `insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at)
       select $1, uuid_v7(now()), 'esim.provision', 'prod_europe_5gb_30d', '{}', now(), now() from generate_series(1, 101)`,
      [tenant.accountUuid],
    );
    await close(tenant);
    const stopping = new AbortController();
    await continueClosings(
      {
        ...service.db,
        async transaction(work) {
          const result = await service.db.transaction(work);
          if ((await countOpen(tenant)) < 101) stopping.abort();
          return result;
        },
      },
      service.service,
      stopping.signal,
    );
    expect(await countOpen(tenant)).toBe(1);
    await goOn();
    expect(await countOpen(tenant)).toBe(0);
  });

  test('may still come for some seconds, from processes that have not heard of it', async () => {
    const tenant = await openAccount();
    await close(tenant);
    await goOn();
    expect((await get(tenant)).closing.finished_at).toBe(null);
    await insertWaiting(tenant);
    lookUpAgain();
    await goOn();
    expect(await countOpen(tenant)).toBe(0);
    expect((await get(tenant)).closing.finished_at).toEqual(expect.any(Number));
  });
});

test('the last order is awaited for ten seconds, and a process that stops begins nothing', async () => {
  const tenant = await openAccount();
  await close(tenant);
  const text = 'select closed_at from accounts where id = $1';
  const { rows } = await service.db.pool.query(text, [tenant.accountUuid]);
  const finishedAfter = async (ms: number, stopping?: AbortSignal) => {
    const clock = { nowMs: () => rows[0].closed_at.getTime() + ms };
    await continueClosings(service.db, { ...service.service, clock }, stopping);
    return (await get(tenant)).closing.finished_at;
  };
  expect(await finishedAfter(9_999)).toBeNull();
  expect(await finishedAfter(10_000, AbortSignal.abort())).toBeNull();
  expect(await finishedAfter(10_000)).toEqual(expect.any(Number));
});

test('an account that another process is closing does not hold up the next', async () => {
  const [first, second] = [await openAccount(), await openAccount()];
  for (const tenant of [first, second]) await close(tenant);
  lookUpAgain();
  const other = await service.db.pool.connect();
  await other.query('begin');
  await other.query('select from account_closings where account_id = $1 for update', [first.accountUuid]);
  const going = goOn();
  await Promise.race([going, untilLockIsAwaited(service)]);
  const finished = [first, second].map(async (tenant) => (await get(tenant)).closing.finished_at);
  const seen = await Promise.all(finished);
  await other.query('rollback');
  other.release();
  await going;
  expect(seen).toEqual([null, expect.any(Number)]);
});

describe('the eSIMs of a closed account', () => {
  test('are terminated if asked, at most a hundred at once, and by a process that goes on after another was killed', async () => {
    const [tenant, other] = [await openAccount(), await openAccount()];
    const iccids: string[] = [];
    for (let n = 0; n < 130; n++) iccids.push(await insertEsim(tenant));
    const spared = await insertEsim(other);
    await close(tenant, '?terminate_esims=true');
    lookUpAgain();
    const stopping = new AbortController();
    const killed = continueClosings(
      {
        ...service.db,
        transaction: (work) =>
          service.db.transaction(async (tx) => {
            const result = await work(tx);
            if ((await tx.query(lastBatch, [tenant.accountUuid])).length > 0) throw new Error('killed');
            return result;
          }),
      },
      service.service,
    );
    await expect(killed).rejects.toThrow('killed');
    expect(await countOpen(tenant)).toBe(0);
    await goOn(stopping.signal);
    expect(await countOpen(tenant)).toBe(100);
    await goOn();
    expect(await countOpen(tenant)).toBe(100);
    expect((await get(tenant)).closing).toEqual({
      terminate_esims: true,
      terminations: 100,
      finished_at: null,
    });
    const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
    const { closing } = await until(
      async () => {
        await goOn();
        return get(tenant);
      },
      (account) => account.closing.finished_at !== null,
    );
    await worker.stop(0);
    expect(closing.terminations).toBe(130);
    const { rows } = await service.db.pool.query(
      `select status, count(*)::integer as count from esims where iccid = any($1) group by status`,
      [[...iccids, spared]],
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { status: 'terminated', count: 130 },
        { status: 'provisioned', count: 1 },
      ]),
    );
  });

  test('stay as they are if not, until it is closed again with it', async () => {
    const tenant = await openAccount();
    const [iccid, ended] = [await insertEsim(tenant), await insertEsim(tenant)];
    await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [ended]);
    await close(tenant);
    lookUpAgain();
    await goOn();
    const { finished_at: finishedAt } = (await get(tenant)).closing;
    const { rows } = await service.db.pool.query(
      'select floor(extract(epoch from finished_at))::integer as seconds from account_closings where account_id = $1',
      [tenant.accountUuid],
    );
    expect(rows).toEqual([{ seconds: finishedAt }]);
    lookUpAgain();
    await goOn();
    expect((await get(tenant)).closing.finished_at).toBe(finishedAt);
    expect((await forTenant(tenant, 'GET', `/v1/esims/${iccid}`)).json.status).toBe('provisioned');
    expect((await close(tenant, '?terminate_esims=true')).json.closing).toEqual({
      terminate_esims: true,
      terminations: 0,
      finished_at: null,
    });
    await goOn();
    expect(await countOpen(tenant)).toBe(1);
    // While the termination is open, the closing is neither finished nor told again.
    await close(tenant, '?terminate_esims=true');
    await goOn();
    expect((await get(tenant)).closing).toMatchObject({ terminations: 1, finished_at: null });
    const { json } = await forTenant(tenant, 'GET', '/v1/audit_log?action=account.closed');
    expect(json.data.map(({ changes }: { changes: object }) => changes)).toEqual([
      { terminate_esims: true },
      { terminate_esims: false },
    ]);
  });
});

/** Whether the transaction has ordered terminations. */
const lastBatch = {
  name: 'test_terminations',
  text: 'select 1 from account_closings where account_id = $1 and terminations > 0',
};
