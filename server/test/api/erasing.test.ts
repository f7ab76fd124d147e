import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deployment } from '../../src/accounts/deployment.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { continueClosings } from '../../src/orders/closing/continue.ts';
import { runErasures } from '../../src/orders/erasures/run.ts';
import { purgeExpiredKeys } from '../../src/platform/idempotency/purge-expired.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { fillAccount, fillEsim, orderOf } from '../support/fill-account.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const day = 86_400_000;

let service: TestService;
let receiver: Receiver;
let operator: { url: string; key: string };
beforeAll(async () => {
  service = await startService({ requestLogLevel: 'all' });
  receiver = await startReceiver();
  receiver.answer((response, { body }) => response.end(body));
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator', 'operator_write'] }) };
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

type Tenant = Awaited<ReturnType<typeof openAccount>>;

async function openAccount(name = 'Tenant') {
  const { accountUuid, key } = await service.createAccount(name);
  return { ...service, accountUuid, key, id: idOfUuid(idPrefixes.account, accountUuid) };
}

const erase = (target: { url: string; key: string }, iccid: string) =>
  call(target, 'POST', `/v1/esims/${iccid}/erase`);
const run = () => runErasures(service.db, service.service);
const forTenant = ({ id }: Tenant, method: string, path: string) =>
  call(operator, method, path, { headers: { 'Service-Account': id } });

/** The tables with a row that contains the text, in any column. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await service.db.pool.query(
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await service.db.pool.query(
      `select 1 from ${name} as whole where strpos(whole::text, $1) > 0 limit 1`,
      [text],
    );
    if (rows.length > 0) found.push(name);
  }
  return found;
}

const query = (text: string, values: unknown[]) => service.db.pool.query(text, values);

const keptOf = (tables: string[]) => tables.filter((table) => table !== 'idempotency_keys');

/** Delivers what waits, and lets the request log write. */
async function settle(): Promise<void> {
  const sender = service.startSender();
  await sequenceEvents(service);
  await until(
    async () => (await service.db.pool.query('select from delivery_queue limit 1')).rows.length,
    (waiting) => waiting === 0,
  );
  await sender.stop(0);
  await service.service.requestLog.stop(5_000);
}

async function closeAndErase(tenant: Tenant) {
  await call(operator, 'DELETE', `/v1/operator/accounts/${tenant.id}?terminate_esims=true`);
  service.clock.advance(10_000);
  const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
  await until(
    async () => {
      await continueClosings(service.db, service.service);
      return (await call(operator, 'GET', `/v1/operator/accounts/${tenant.id}`)).json.closing.finished_at;
    },
    (finishedAt) => finishedAt !== null,
  );
  await worker.stop(0);
  return call(operator, 'POST', `/v1/operator/accounts/${tenant.id}/erase`);
}

describe('erasing an eSIM', () => {
  test('removes what its client said of it from every table, and of no other eSIM', async () => {
    const [tenant, other] = [await openAccount(), await openAccount()];
    await fillAccount(tenant, 'hookxq1', receiver);
    const erased = await fillEsim(tenant, 'erasexq1');
    const spared = await fillEsim(tenant, 'sparexq1');
    const foreign = await fillEsim(other, 'otherxq1');
    await settle();
    const before = {
      spared: keptOf(await tablesWith('sparexq1')),
      foreign: keptOf(await tablesWith('otherxq1')),
      eid: keptOf(await tablesWith(foreign.eid)),
      failed: await tablesWith('bat-hookxq1'),
    };
    expect(before.failed).toContain('events');
    expect(await tablesWith('erasexq1')).toEqual(
      expect.arrayContaining(['deliveries', 'esim_metadata', 'esims', 'events', 'executions', 'bundles']),
    );

    const { status, json, headers } = await erase(tenant, erased.iccid);
    expect([status, headers.get('location')]).toEqual([202, `/v1/esims/${erased.iccid}/erasure`]);
    expect(json).toEqual({
      ...{ id: expect.stringMatching(/^era_/), object: 'erasure', status: 'pending', finished_at: null },
      ...{ target: { type: 'esim', id: erased.iccid }, requested_at: expect.any(Number) },
    });
    await run();
    const { json: finished } = await call(tenant, 'GET', `/v1/esims/${erased.iccid}/erasure`);
    expect(finished).toEqual({ ...json, status: 'finished', finished_at: expect.any(Number) });
    expect((await erase(tenant, erased.iccid)).json).toEqual(finished);
    const repeated = await provision(tenant, 'order-erasexq1', orderOf('erasexq1', erased.eid));
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.json).toMatchObject({ id: erased.order, reference: null });
    service.clock.advance(day);
    await purgeExpiredKeys(service.db, service.clock);

    expect(await tablesWith('erasexq1')).toEqual([]);
    expect(await tablesWith(erased.eid)).toEqual([]);
    expect(await tablesWith('sparexq1')).toEqual(before.spared);
    expect(await tablesWith('bat-hookxq1')).toEqual(before.failed);
    expect(await tablesWith('otherxq1')).toEqual(before.foreign);
    expect(await tablesWith(foreign.eid)).toEqual(before.eid);
    const { json: esim } = await call(tenant, 'GET', `/v1/esims/${erased.iccid}`);
    expect(esim).toMatchObject({
      ...{ status: 'terminated', eid: null, reference: null, metadata: {}, description: null, country: null },
    });
    const { rows: entries } = await service.db.pool.query(
      `select action, ip from audit_log where account_id = $1
         and (target_id = $2 or action = 'install_link.viewed' and changes ->> 'iccid' = $2)`,
      [tenant.accountUuid, erased.iccid],
    );
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['install_link.viewed', 'esim.updated', 'esim.erasure_requested']),
    );
    expect(entries.filter(({ ip }) => ip !== null)).toEqual([]);
    const { rows: others } = await service.db.pool.query(
      `select ip from audit_log where account_id = $1 and target_id = $2 and ip is not null`,
      [tenant.accountUuid, spared.iccid],
    );
    expect(others.length).toBeGreaterThan(0);
    const { rows: views } = await service.db.pool.query(
      `select ip from audit_log where account_id = $1 and action = 'install_link.viewed' and changes ->> 'iccid' = $2`,
      [tenant.accountUuid, spared.iccid],
    );
    expect(views).toEqual(expect.arrayContaining([{ ip: expect.any(String) }]));
    const { rows: requests } = await service.db.pool.query(
      `select ip from request_log where account_id = $1 and strpos(path, $2) > 0 and ip is not null
         and id < (select id from erasures where iccid = $2) and operation <> 'eraseEsim'`,
      [tenant.accountUuid, erased.iccid],
    );
    expect(requests).toEqual([]);
    const { rows: sparedRequests } = await service.db.pool.query(
      `select 1 from request_log where account_id = $1 and strpos(path, $2) > 0 and ip is not null limit 1`,
      [tenant.accountUuid, spared.iccid],
    );
    expect(sparedRequests).toHaveLength(1);
    const { rows: usage } = await service.db.pool.query(
      'select iccid, country, bytes from usage_records where iccid = any($1) order by iccid',
      [[erased.iccid, spared.iccid]],
    );
    expect(usage).toEqual([
      { iccid: erased.iccid, country: null, bytes: 10 },
      { iccid: spared.iccid, country: 'DE', bytes: 10 },
    ]);
  });

  test('leaves its events in their place, with ids, types and times, and tells by one more', async () => {
    const tenant = await openAccount();
    const { iccid } = await fillEsim(tenant, 'feedxq1');
    await sequenceEvents(service);
    const read = async () => (await call(tenant, 'GET', '/v1/events/feed?after=start&limit=1000')).json.data;
    const before = await read();
    await erase(tenant, iccid);
    await run();
    await sequenceEvents(service);
    const after = await read();
    expect(after.at(-1)).toMatchObject({ type: 'esim.erased', data: { iccid } });
    const shape = ({ id, type, created, data }: (typeof before)[number]) => [id, type, created, data.iccid];
    expect(after.slice(0, -1).map(shape)).toEqual(before.map(shape));
    const provisioned = after.find(({ type }: { type: string }) => type === 'esim.provisioned');
    expect(provisioned.data).toEqual({
      ...{ iccid, execution_id: expect.any(String), product_id: 'prod_europe_5gb_30d' },
    });
    const { json: replayed } = await call(tenant, 'GET', `/v1/events/${provisioned.id}`);
    expect(replayed).toEqual(provisioned);
  });

  /** A terminated eSIM. */
  async function insertEnded(tenant: Tenant, description: string | null = null): Promise<string> {
    const iccid = await insertEsim(tenant);
    await query(`update esims set status = 'terminated', description = $2 where iccid = $1`, [
      iccid,
      description,
    ]);
    return iccid;
  }

  test('is done for each that was asked for, while another process is at the first of them', async () => {
    const [first, second] = [await openAccount(), await openAccount()];
    const iccids = [
      await insertEnded(first),
      await insertEnded(second, 'onexq2'),
      await insertEnded(second, 'twoxq2'),
    ];
    await erase(first, iccids[0] as string);
    for (const iccid of iccids.slice(1)) await erase(second, iccid);
    const other = await service.db.pool.connect();
    await other.query('begin');
    await other.query('select from erasures where account_id = $1 for update', [first.accountUuid]);
    const erasing = run();
    await Promise.race([erasing, untilLockIsAwaited(service)]);
    const left = [await tablesWith('onexq2'), await tablesWith('twoxq2')];
    await other.query('rollback');
    other.release();
    await erasing;
    expect(left).toEqual([[], []]);
  });

  test('includes the orders that failed before it, and not that of whoever had its ICCID before', async () => {
    const tenant = await openAccount();
    const iccid = await insertEnded(tenant);
    const orders: string[] = [];
    for (const marker of ['orderxq3', 'earlierxq3', 'formerxq3']) {
      const uuid = uuidOfId('exec', await insertFailed(tenant, 'declined', null)) as string;
      await query(`update executions set input = jsonb_build_object('reference', $2::text) where id = $1`, [
        uuid,
        marker,
      ]);
      orders.push(uuid);
    }
    await query('update esims set execution_id = $2 where iccid = $1', [iccid, orders[0]]);
    await query('update executions set iccid = $2 where id = any($1)', [[orders[0], orders[2]], iccid]);
    await query(
      `update executions set input = input || jsonb_build_object('retry_of', $2::uuid) where id = $1`,
      [orders[0], orders[1]],
    );
    await erase(tenant, iccid);
    await run();
    expect([await tablesWith('orderxq3'), await tablesWith('earlierxq3')]).toEqual([[], []]);
    expect(await tablesWith('formerxq3')).toEqual(['executions']);
  });

  test('includes what receivers answered: the operator’s too, and to what is to be sent again', async () => {
    const tenant = await openAccount();
    const iccid = await insertEnded(tenant);
    const { json } = await call(tenant, 'POST', '/v1/events/test', {
      body: { type: 'a.b', data: { iccid } },
    });
    const event = uuidOfId('evt', json.id);
    await query(
      `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, created_at, finished_at, response_excerpt)
       values ($1, $2, $2, $2, 'succeeded', 'event', now(), now(), 'answerxq4')`,
      [deployment.uuid, event],
    );
    await query(
      `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, attempt_count, created_at)
       values ($1, $2, $2, $2, 'event', 1, now())`,
      [tenant.accountUuid, event],
    );
    await query(
      `insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms, response_excerpt)
       values ($1, $2, 1, now(), 1, 'answerxq4')`,
      [tenant.accountUuid, event],
    );
    expect(await tablesWith('answerxq4')).toEqual(['deliveries', 'delivery_attempts']);
    await erase(tenant, iccid);
    await run();
    expect(await tablesWith('answerxq4')).toEqual([]);
    await query('delete from delivery_queue where account_id = $1', [tenant.accountUuid]);
  });

  test('waits for the order of an eSIM that was terminated while it was ordered, and includes it', async () => {
    const tenant = await openAccount();
    const iccid = await insertEnded(tenant);
    const order = await provision(tenant, undefined, {
      ...{ product_id: 'prod_europe_5gb_30d', reference: 'openxq5' },
    });
    const uuid = uuidOfId('exec', order.json.id);
    await query('update execution_queue set iccid = $2, is_terminated = true where id = $1', [uuid, iccid]);
    await query('update esims set execution_id = $2 where iccid = $1', [iccid, uuid]);
    await erase(tenant, iccid);
    await run();
    const status = async () => (await call(tenant, 'GET', `/v1/esims/${iccid}/erasure`)).json.status;
    expect(await status()).toBe('pending');
    // As a worker ends it once the network has taken the profile back.
    await query(
      `with ended as (delete from execution_queue where id = $1 returning *)
       insert into executions (account_id, id, type, status, product_id, iccid, input, error, attempts, created_at, finished_at)
       select account_id, id, type, 'failed', product_id, iccid, input, '{"code":"state_conflict","message":"m"}', 1, created_at, now()
       from ended`,
      [uuid],
    );
    await run();
    expect([await status(), keptOf(await tablesWith('openxq5'))]).toEqual(['finished', []]);
  });

  test('waits for a top-up that was open when the eSIM was terminated, and includes it', async () => {
    const tenant = await openAccount();
    const iccid = await insertEsim(tenant);
    const { status, json } = await call(tenant, 'POST', `/v1/esims/${iccid}/bundles`, {
      body: { product_id: 'prod_europe_5gb_30d', reference: 'topupxq7' },
    });
    expect(status).toBe(202);
    await query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
    await erase(tenant, iccid);
    await run();
    const erasure = async () => (await call(tenant, 'GET', `/v1/esims/${iccid}/erasure`)).json.status;
    expect(await erasure()).toBe('pending');
    const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
    const { error } = await until(
      async () => (await call(tenant, 'GET', `/v1/executions/${json.id}`)).json,
      (execution) => execution.status === 'failed',
    );
    await worker.stop(0);
    await run();
    expect([error.code, await erasure()]).toEqual(['state_conflict', 'finished']);
    expect(keptOf(await tablesWith('topupxq7'))).toEqual([]);
  });

  test('begins again if the release that began it had a step that this one does not know', async () => {
    const tenant = await openAccount();
    const { iccid, order, eid } = await fillEsim(tenant, 'stepxq1');
    await erase(tenant, iccid);
    await query(`update erasures set step = 'a table of old', after = '~' where iccid = $1`, [iccid]);
    await run();
    const repeated = await provision(tenant, 'order-stepxq1', orderOf('stepxq1', eid));
    expect(repeated.json).toMatchObject({ id: order, reference: null });
    expect(keptOf(await tablesWith('stepxq1'))).toEqual([]);
  });

  test('needs a terminated eSIM, and a key with the scope admin', async () => {
    const tenant = await openAccount();
    const iccid = await insertEsim(tenant);
    const refused = await erase(tenant, iccid);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'state_conflict']);
    expect(refused.json.error.message).toContain('Terminate it first');
    expect((await call(tenant, 'GET', `/v1/esims/${iccid}/erasure`)).status).toBe(404);
    const key = await service.createKey({ accountUuid: tenant.accountUuid, scopes: ['read', 'write'] });
    expect((await erase({ ...tenant, key }, iccid)).status).toBe(403);
    const other = await openAccount();
    expect((await erase(other, iccid)).status).toBe(404);
  });

  test('is possible for an operator with operator_write, and for a suspended account', async () => {
    const tenant = await openAccount();
    const iccids = [await insertEsim(tenant), await insertEsim(tenant)];
    await service.db.pool.query(`update esims set status = 'terminated' where iccid = any($1)`, [iccids]);
    expect((await forTenant(tenant, 'POST', `/v1/esims/${iccids[0]}/erase`)).status).toBe(202);
    await call(operator, 'PATCH', `/v1/operator/accounts/${tenant.id}`, { body: { status: 'suspended' } });
    expect((await erase(tenant, iccids[1] as string)).status).toBe(202);
  });

  test('keeps what arrives later from bringing it back', async () => {
    const tenant = await openAccount();
    const { iccid } = await fillEsim(tenant, 'latexq1');
    await erase(tenant, iccid);
    const patch = await call(tenant, 'PATCH', `/v1/esims/${iccid}`, { body: { description: 'again' } });
    expect([patch.status, patch.json.error.code]).toEqual([409, 'state_conflict']);
    await run();
    const at = Math.floor(service.clock.nowMs() / 1000) - 1;
    const late = { record_id: 'late', iccid, bytes: 5, at, country: 'IT' };
    await call(tenant, 'POST', '/v1/usage_records', { body: { records: [late] } });
    const { rows } = await service.db.pool.query(
      'select country from usage_records where iccid = $1 and country is not null',
      [iccid],
    );
    expect(rows).toEqual([]);
  });

  test('leaves the other eSIMs of the account, and the stored answers about them', async () => {
    const tenant = await openAccount();
    const [iccid, other] = [await insertEnded(tenant), await insertEsim(tenant)];
    const patch = (description: string, idempotencyKey: string) =>
      call(tenant, 'PATCH', `/v1/esims/${other}`, { body: { description }, idempotencyKey });
    const before = await patch('kept', 'patch-kept');
    await erase(tenant, iccid);
    await run();
    expect((await patch('kept', 'patch-kept')).text).toBe(before.text);
    const { status, json } = await patch('changed', 'patch-changed');
    expect([status, json.description]).toEqual([200, 'changed']);
  });

  test('ignores what the network reports of one whose termination it refused', async () => {
    const tenant = await openAccount();
    const iccid = await insertEsim(tenant);
    await service.db.pool.query('update esims set erased_at = now() where iccid = $1', [iccid]);
    await call(tenant, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, {
      body: { action: 'attach', country: 'FR' },
    });
    const { json } = await call(tenant, 'GET', `/v1/esims/${iccid}`);
    expect(json).toMatchObject({ status: 'provisioned', country: null });
  });
});

describe('erasing an account', () => {
  test('removes all that its clients said from every table a day later, and nothing of another account', async () => {
    const [tenant, other] = [await openAccount('Tenant goneaq1'), await openAccount('Tenant stayaq1')];
    for (const [one, marker] of [
      [tenant, 'goneaq1'],
      [other, 'stayaq1'],
    ] as const) {
      await fillAccount(one, marker, receiver, one === tenant ? '203.0.113.77/32' : '203.0.113.78/32');
      await fillEsim(one, marker);
    }
    await settle();
    const before = await tablesWith('stayaq1');
    const { status, json } = await closeAndErase(tenant);
    expect([status, json.target]).toEqual([202, { type: 'account', id: tenant.id }]);
    await run();
    const { json: finished } = await call(operator, 'GET', `/v1/operator/accounts/${tenant.id}/erasure`);
    expect(finished).toMatchObject({ id: json.id, status: 'finished' });
    service.clock.advance(day);
    await purgeExpiredKeys(service.db, service.clock);
    expect([await tablesWith('goneaq1'), await tablesWith('203.0.113.77')]).toEqual([[], []]);
    expect(await tablesWith('stayaq1')).toEqual(expect.arrayContaining(keptOf(before)));
    const { rows } = await service.db.pool.query(
      `select count(*)::integer as all, count(ip)::integer as with_ip,
         count(*) filter (where actor_type = 'api_key' and actor_name is not null)::integer as named
       from audit_log where account_id = $1`,
      [tenant.accountUuid],
    );
    expect(rows).toEqual([{ all: expect.any(Number), with_ip: 0, named: 0 }]);
    expect(rows[0].all).toBeGreaterThan(10);
    expect((await forTenant(tenant, 'GET', '/v1/esims')).json.data).toHaveLength(2);
    expect((await forTenant(tenant, 'GET', '/v1/audit_log')).status).toBe(200);
    expect((await forTenant(tenant, 'GET', '/v1/executions')).status).toBe(200);
  });

  test('needs an account that was closed with its eSIMs, and waits until the closing is finished', async () => {
    const tenant = await openAccount();
    const path = `/v1/operator/accounts/${tenant.id}`;
    const refusals = [await call(operator, 'POST', `${path}/erase`)];
    await call(operator, 'DELETE', path);
    refusals.push(await call(operator, 'POST', `${path}/erase`));
    for (const { status, json } of refusals) {
      expect([status, json.error.code]).toEqual([409, 'state_conflict']);
      expect(json.error.message).toContain('terminate_esims=true');
    }
    expect((await call(operator, 'GET', `${path}/erasure`)).status).toBe(404);
    await call(operator, 'DELETE', `${path}?terminate_esims=true`);
    const asked = [];
    for (let n = 0; n < 2; n++) asked.push(await call(operator, 'POST', `${path}/erase`));
    expect(asked.map(({ status, json }) => [status, json.id])).toEqual([
      [202, asked[0]?.json.id],
      [202, asked[0]?.json.id],
    ]);
    const { json: log } = await forTenant(tenant, 'GET', '/v1/audit_log?action=account.erasure_requested');
    expect(log.data).toHaveLength(1);
    await run();
    expect((await call(operator, 'GET', `${path}/erasure`)).json.status).toBe('pending');
    expect((await call(operator, 'POST', '/v1/operator/accounts/acct_1/erase')).status).toBe(404);
  });
});

describe('the erasing of much', () => {
  // More than a batch of 500.
  const many = 'generate_series(1, 501) n';
  const insertUsage = `insert into usage_records (account_id, iccid, record_id, bytes, observed_at, country)
    select $1, $2, n::text, 1, now(), 'DE' from ${many}`;
  const countriesOf = async (iccid: string) =>
    (await query('select from usage_records where iccid = $1 and country is not null', [iccid])).rowCount;

  test('of an eSIM reaches all that each table has of it', async () => {
    const tenant = await openAccount();
    const iccid = await insertEsim(tenant);
    await query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
    const fill: [table: string, columns: string, row: string][] = [
      [
        'install_links',
        'account_id, id, iccid, hash, language, return_url, created_at, expires_at',
        `$1, uuid_v7(now()), $2, sha256(n::text::bytea), 'en', 'deepxq', now(), now()`,
      ],
      [
        'rejected_usage',
        'account_id, id, iccid, record_id, bytes, observed_at, reason, rejected_at',
        `$1, uuid_v7(now()), $2, 'deepxq' || n, 1, now(), 'too_old', now()`,
      ],
      [
        'idempotency_keys',
        'account_id, key, fingerprint, status, body, created_at, expires_at',
        `$1, 'key-' || n, '', 200, json_build_object('iccid', $2::text, 'description', 'deepxq'), now(), now()`,
      ],
      [
        'audit_log',
        'account_id, id, actor_type, action, target_type, target_id, changes, created_at',
        `$1, uuid_v7(now()), 'api_key', 'esim.updated', 'esim', $2, '{"description": "deepxq"}', now()`,
      ],
      [
        'request_log',
        'account_id, id, api_key_id, duration_ms, status, method, path, operation, error_message',
        `$1, uuid_v7(now()), $1, 1, 400, 'GET', '/v1/esims/' || $2, 'getEsim', 'deepxq'`,
      ],
    ];
    const values = [tenant.accountUuid, iccid];
    for (const [table, columns, row] of fill)
      await query(`insert into ${table} (${columns}) select ${row} from ${many}`, values);
    await query(insertUsage, values);
    expect((await erase(tenant, iccid)).status).toBe(202);
    await run();
    expect(await tablesWith('deepxq')).toEqual([]);
    expect(await countriesOf(iccid)).toBe(0);
    expect((await call(operator, 'GET', `/v1/operator/accounts/${tenant.id}/erasure`)).status).toBe(404);
  });

  test('of an account reaches all usage of its eSIMs', async () => {
    const tenant = await openAccount();
    const iccid = await insertEsim(tenant);
    await query(insertUsage, [tenant.accountUuid, iccid]);
    await closeAndErase(tenant);
    await run();
    expect(await countriesOf(iccid)).toBe(0);
  });

  test('goes on where a process was killed, takes turns between accounts, and may run in two processes', async () => {
    await run();
    const [large, small] = [await openAccount(), await openAccount()];
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7(now()), 'webhook_endpoint.recovered', now(),
         '{"id":"evt_","type":"webhook_endpoint.recovered","object":"event","created":1,"data":{"url":"muchxq"}}'
       from generate_series(1, 1000)`,
      [large.accountUuid],
    );
    await closeAndErase(large);
    const iccid = await insertEsim(small);
    await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
    await erase(small, iccid);
    const killed = runErasures(
      {
        ...service.db,
        transaction: (work) =>
          service.db.transaction(async (tx) => {
            const result = await work(tx);
            if ((await tx.query(finishedOf, [small.accountUuid])).length > 0) throw new Error('killed');
            return result;
          }),
      },
      service.service,
    );
    await expect(killed).rejects.toThrow('killed');
    const statusOf = async (path: string) => (await call(operator, 'GET', path)).json.status;
    // They took turns: the small one came to its end while the large one had more to do.
    expect((await call(small, 'GET', `/v1/esims/${iccid}/erasure`)).json.status).toBe('pending');
    const path = `/v1/operator/accounts/${large.id}/erasure`;
    expect(await statusOf(path)).toBe('pending');
    await Promise.all([run(), run()]);
    await run();
    expect(await statusOf(path)).toBe('finished');
    expect(await tablesWith('muchxq')).toEqual([]);
  });
});

/** Whether the account's erasure is finished. */
const finishedOf = {
  name: 'test_finished_erasure',
  text: 'select 1 from erasures where account_id = $1 and finished_at is not null',
};
