import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hexHashOf } from '../../src/accounts/api-key-text.ts';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { createKeyDirectory, type KnownKey } from '../../src/accounts/key-directory.ts';
import { replaceKey } from '../../src/accounts/roll-key.ts';
import {
  type ApiKeyRow,
  findKeysByHash,
  insertKey,
  listKeyRows,
  lockKey,
} from '../../src/accounts/sql/keys.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { call, type Reply } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse } from '../support/sse.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
/** Another process on the same database. */
let second: TestService;

beforeAll(async () => {
  service = await startService();
  // Behind a proxy on the same machine.
  second = await startService({ databaseUrl: service.databaseUrl, trustedProxies: ['127.0.0.0/8'] });
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

type Owner = { url: string; key: string; accountUuid: string };

/** An account of its own, with one admin that has all scopes. */
async function newAccount(name: string): Promise<Owner> {
  return { url: service.url, ...(await service.createAccount(name)) };
}

async function createKey(by: Owner, body: object = { scopes: ['read'] }) {
  const reply = await call(by, 'POST', '/v1/api_keys', { body });
  expect(reply.status, reply.text).toBe(201);
  return reply.json as { id: string; key: string };
}

async function ownId(by: Owner): Promise<string> {
  return (await call(by, 'GET', '/v1/me')).json.api_key.id;
}

async function auditOf({ accountUuid }: Owner) {
  return service.db.query<{ action: string; actor_id: string | null; target_id: string; changes: unknown }>(
    {
      name: 'test_audit',
      text: 'select action, actor_id, target_id, changes from audit_log where account_id = $1 order by id',
    },
    [accountUuid],
  );
}

function refusalOf({ status, json }: Reply) {
  return { status, code: json.error?.code };
}

const statusWith = async (process: TestService, key: string) =>
  refusalOf(await call(process, 'GET', '/v1/products', { key }));

describe('a key', () => {
  test('is created with its settings, shown once, and works', async () => {
    const owner = await newAccount('Creates');
    const expiresAt = Math.floor(service.clock.nowMs() / 1000) + 3600;
    const body = {
      name: 'Shop',
      scopes: ['read', 'install'],
      expires_at: expiresAt,
      allowed_cidrs: ['127.0.0.0/8'],
    };
    const { key, ...shown } = (await createKey(owner, body)) as { id: string; key: string };
    expect(shown).toEqual({
      id: expect.stringMatching(/^key_/),
      object: 'api_key',
      name: 'Shop',
      scopes: ['read', 'install'],
      last4: key.slice(-4),
      created: expect.any(Number),
      created_by: { type: 'api_key', id: await ownId(owner), name: 'Test' },
      expires_at: expiresAt,
      last_used_at: null,
      allowed_cidrs: ['127.0.0.0/8'],
      revoked_at: null,
    });
    expect((await call(owner, 'GET', '/v1/products', { key })).status).toBe(200);
    expect((await call(owner, 'GET', `/v1/api_keys/${shown.id}`)).json).toEqual(shown);
    const list = await call(owner, 'GET', '/v1/api_keys');
    expect(list.json.data.map(({ id }: { id: string }) => id)).toEqual([shown.id, await ownId(owner)]);
    expect(list.text).not.toContain(key);
  });

  test('is returned again to a retry, and stored only encrypted', async () => {
    const owner = await newAccount('Retries');
    const request = { body: { scopes: ['read'] }, idempotencyKey: 'new-key' };
    const [first, retried] = [
      await call(owner, 'POST', '/v1/api_keys', request),
      await call(owner, 'POST', '/v1/api_keys', request),
    ];
    expect(retried.text).toBe(first.text);
    expect(first.headers.get('cache-control')).toBe('no-store');
    const stored = { name: 'test_stored', text: 'select body from idempotency_keys where account_id = $1' };
    const [row] = await service.db.query<{ body: string }>(stored, [owner.accountUuid]);
    expect(row?.body).not.toContain(first.json.key.slice(8));
    expect((await auditOf(owner)).map(({ action }) => action)).toEqual([
      'api_key.created',
      'secret.shown_again',
    ]);
  });

  test('of another account is not found', async () => {
    const [owner, other] = [await newAccount('Owner'), await newAccount('Other')];
    const path = `/v1/api_keys/${await ownId(other)}`;
    for (const [method, at, body] of [
      ['GET', path, undefined],
      ['PATCH', path, { name: 'Mine' }],
      ['DELETE', path, undefined],
      ['POST', `${path}/roll`, {}],
    ] as const) {
      const reply = await call(owner, method, at, { ...(body && { body }) });
      expect(refusalOf(reply)).toEqual({ status: 404, code: 'resource_missing' });
    }
  });

  test.each([
    [{ scopes: ['operator'] }, 'parameter_invalid', 'scopes'],
    [{ scopes: [] }, 'parameter_invalid', 'scopes'],
    [{ scopes: ['read'], expires_at: 1 }, 'parameter_invalid', 'expires_at'],
    [{ scopes: ['read'], allowed_cidrs: ['10.0.0.1'] }, 'parameter_invalid', 'allowed_cidrs'],
    [
      { scopes: ['read'], allowed_cidrs: Array.from({ length: 21 }, (_, n) => `10.0.0.${n}/32`) },
      'parameter_invalid',
      'allowed_cidrs',
    ],
    [{ name: 'No scopes' }, 'parameter_missing', 'scopes'],
  ])('is not created from %j', async (body, code, param) => {
    const reply = await call(service, 'POST', '/v1/api_keys', { body });
    expect(reply.json.error).toMatchObject({ code, param: expect.stringContaining(param) });
  });

  test('creates, changes and rolls only keys whose scopes it has itself, also when it repeats a request', async () => {
    const owner = await newAccount('Scopes');
    const key = await service.createKey({ accountUuid: owner.accountUuid, scopes: ['admin', 'write'] });
    const lesser = { ...owner, key };
    const refused = { status: 403, code: 'scope_missing' };
    const wanted = { body: { scopes: ['read', 'write'] }, idempotencyKey: 'scopes-1' };
    const strong = await call(owner, 'POST', '/v1/api_keys', wanted);
    expect(refusalOf(await call(lesser, 'POST', '/v1/api_keys', wanted))).toEqual(refused);
    const path = `/v1/api_keys/${strong.json.id}`;
    const roll = { body: {}, idempotencyKey: 'scopes-2' };
    expect((await call(owner, 'POST', `${path}/roll`, roll)).status).toBe(201);
    expect(refusalOf(await call(lesser, 'POST', `${path}/roll`, roll))).toEqual(refused);
    expect(refusalOf(await call(lesser, 'PATCH', path, { body: { scopes: ['write'] } }))).toEqual(refused);
    const weak = await createKey(lesser, { scopes: ['write', 'install'] });
    const raised = await call(lesser, 'PATCH', `/v1/api_keys/${weak.id}`, { body: { scopes: ['read'] } });
    expect(refusalOf(raised)).toEqual(refused);
    // Revoking only takes away.
    expect((await call(lesser, 'DELETE', path)).status).toBe(200);
  });

  test('is changed, and the audit log has the old and the new values', async () => {
    const owner = await newAccount('Changes');
    const { id } = await createKey(owner, { name: 'Old', scopes: ['read', 'write'] });
    const changed = await call(owner, 'PATCH', `/v1/api_keys/${id}`, {
      body: { name: 'New', scopes: ['read'] },
    });
    expect([changed.status, changed.json]).toMatchObject([200, { id, name: 'New', scopes: ['read'] }]);
    expect((await auditOf(owner)).at(-1)).toEqual({
      action: 'api_key.updated',
      actor_id: await ownId(owner),
      target_id: id,
      changes: { name: { from: 'Old', to: 'New' }, scopes: { from: ['read', 'write'], to: ['read'] } },
    });
    for (const wrong of [{ expires_at: 1 }, { allowed_cidrs: ['203.0.113.7/33'] }]) {
      const refused = await call(owner, 'PATCH', `/v1/api_keys/${id}`, { body: wrong });
      expect([refused.status, refused.json.error.code]).toEqual([400, 'parameter_invalid']);
    }
  });

  test('that was revoked is refused on every process, stays in the list, and cannot be changed', async () => {
    const owner = await newAccount('Revokes');
    const { id, key } = await createKey(owner);
    for (const process of [service, second]) expect((await statusWith(process, key)).status).toBe(200);
    const revoked = await call(owner, 'DELETE', `/v1/api_keys/${id}`);
    expect([revoked.status, revoked.json]).toEqual([200, { id, object: 'api_key', deleted: true }]);
    for (const process of [service, second]) {
      const { code } = await until(
        () => statusWith(process, key),
        ({ status }) => status === 401,
      );
      expect(code).toBe('api_key_invalid');
    }
    const { revoked_at: at } = (await call(owner, 'GET', `/v1/api_keys/${id}`)).json;
    expect(at).toEqual(expect.any(Number));
    expect((await call(owner, 'DELETE', `/v1/api_keys/${id}`)).status).toBe(200);
    for (const [method, path] of [
      ['PATCH', `/v1/api_keys/${id}`],
      ['POST', `/v1/api_keys/${id}/roll`],
    ] as const) {
      expect(refusalOf(await call(owner, method, path, { body: {} }))).toEqual({
        status: 409,
        code: 'state_conflict',
      });
    }
    expect((await auditOf(owner)).map(({ action }) => action)).toEqual([
      'api_key.created',
      'api_key.revoked',
    ]);
  });
});

describe('rolling', () => {
  test('leaves both keys working for the overlap and then one, on every process', async () => {
    const owner = await newAccount('Rolls');
    const old = await createKey(owner, { name: 'Shop', scopes: ['read'] });
    for (const process of [service, second]) expect((await statusWith(process, old.key)).status).toBe(200);
    const reply = await call(owner, 'POST', `/v1/api_keys/${old.id}/roll`, { body: { expires_in: 3600 } });
    const { id, key, name, scopes, expires_at: expiresAt } = reply.json;
    expect([reply.status, name, scopes, expiresAt]).toEqual([201, 'Shop', ['read'], null]);
    for (const process of [service, second]) {
      for (const one of [old.key, key]) expect((await statusWith(process, one)).status).toBe(200);
    }
    for (const process of [service, second]) {
      process.clock.advance(3_600_000);
      // Until the process has looked the key up again.
      const { code } = await until(
        () => statusWith(process, old.key),
        ({ status }) => status === 401,
      );
      expect(code).toBe('api_key_expired');
      expect((await statusWith(process, key)).status).toBe(200);
    }
    expect((await auditOf(owner)).at(-1)).toMatchObject({
      action: 'api_key.rolled',
      target_id: old.id,
      changes: { new_key: id },
    });
  });

  test('never extends the old key, and gives the new one the lifetime of the old one', async () => {
    const owner = await newAccount('Lifetimes');
    const now = Math.floor(service.clock.nowMs() / 1000);
    const { id } = await createKey(owner, { scopes: ['read'], expires_at: now + 600 });
    const rolled = await call(owner, 'POST', `/v1/api_keys/${id}/roll`, { body: { expires_in: 3600 } });
    expect(rolled.json.expires_at).toBeGreaterThanOrEqual(now + 600);
    expect(rolled.json.expires_at).toBeLessThan(now + 1200);
    expect((await call(owner, 'GET', `/v1/api_keys/${id}`)).json.expires_at).toBe(now + 600);
  });

  test('with an overlap of 0 ends the old key at once', async () => {
    const owner = await newAccount('At once');
    const old = await createKey(owner);
    expect(
      (await call(owner, 'POST', `/v1/api_keys/${old.id}/roll`, { body: { expires_in: 0 } })).status,
    ).toBe(201);
    expect(await statusWith(service, old.key)).toEqual({ status: 401, code: 'api_key_expired' });
  });

  test('twice at once makes one new key', async () => {
    const owner = await newAccount('Twice');
    const { id } = await createKey(owner);
    const rolls = await Promise.all(
      [service, second, service].map((process) =>
        call({ ...process, key: owner.key }, 'POST', `/v1/api_keys/${id}/roll`, {
          body: { expires_in: 3600 },
        }),
      ),
    );
    expect(rolls.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await call(owner, 'GET', '/v1/api_keys')).json.data).toHaveLength(3);
  });
});

test('an operator’s key that is rolled twice at once becomes one new key', async () => {
  const key = await service.createKey({ scopes: ['operator'] });
  const [row] = await findKeysByHash(service.db, [hexHashOf(key)]);
  const keyUuid = row?.id ?? '';
  const roll = () =>
    service.db.transaction(async (tx) => {
      const locked = await lockKey(tx, { accountUuid: null, keyUuid });
      return replaceKey(tx, { ...service.service, ...commandLine }, locked as ApiKeyRow, {});
    });
  const rolling = await service.db.transaction(async (tx) => {
    const lock = 'select from api_keys where id = $1 and account_id is null for no key update';
    await tx.query({ name: 'test_hold_key', text: lock }, [keyUuid]);
    const both = Promise.allSettled([roll(), roll()]);
    await untilLockIsAwaited(service, 2);
    return { both };
  });
  const outcomes = (await rolling.both).map(({ status }) => status);
  expect(outcomes.sort()).toEqual(['fulfilled', 'rejected']);
});

test('the command line lists keys by account, in the order in which they were made, and operators’ last', async () => {
  const made = new Date('2026-01-01T00:00:00Z');
  const row = (accountUuid: string | null, digit: string): ApiKeyRow => ({
    ...{
      id: `${digit}0000000-0000-7000-8000-000000000000`,
      account_id: accountUuid,
      name: 'Listed',
      last4: 'xxxx',
    },
    scopes: [accountUuid === null ? 'operator' : 'read'],
    ...{ created_at: made, expires_at: null, revoked_at: null, last_used_at: null },
    ...{ allowed_cidrs: [], created_by: null, replaced_by: null },
  });
  const accounts = [(await newAccount('One')).accountUuid, (await newAccount('Other')).accountUuid].sort();
  const [one = '', other = ''] = accounts;
  const expected = [row(one, '1'), row(one, '4'), row(other, '0'), row(other, '3'), row(null, '2')];
  // Stored in another order, so that the one of the table is not taken for it.
  for (const [index, key] of [4, 3, 1, 2, 0].map((at) => [at, expected[at] as ApiKeyRow] as const))
    await insertKey(service.db, key, Buffer.alloc(32, index));
  const listed = (await listKeyRows(service.db, null)).filter(({ name }) => name === 'Listed');
  expect(listed.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  const own = (await listKeyRows(service.db, other)).filter(({ name }) => name === 'Listed');
  expect(own.map(({ id }) => id)).toEqual(expected.slice(2, 4).map(({ id }) => id));
});

describe('the number of usable keys', () => {
  const limitReached = { status: 409, code: 'api_key_limit_reached' };

  /** Adds keys until the account has this many. */
  const fill = ({ accountUuid }: Owner, count: number) =>
    service.db.query(
      {
        name: 'test_fill_keys',
        text: `
insert into api_keys (account_id, id, hash, name, scopes, last4, created_at)
select $1::uuid, uuid_v7(now()), sha256(gen_random_uuid()::text::bytea), 'Filler', '{read}', 'xxxx', now()
from generate_series(1, $2 - (select count(*) from api_keys where account_id = $1::uuid))`,
      },
      [accountUuid, count],
    );

  test('has a limit, up to which keys are created, and each can be rolled', async () => {
    const owner = await newAccount('Many keys');
    const roll = async (id: string) => call(owner, 'POST', `/v1/api_keys/${id}/roll`, { body: {} });
    await fill(owner, 999);
    const { id } = await createKey(owner);
    expect(refusalOf(await call(owner, 'POST', '/v1/api_keys', { body: { scopes: ['read'] } }))).toEqual(
      limitReached,
    );
    const { status, json } = await roll(id);
    expect(status).toBe(201);
    await fill(owner, 2_000);
    expect(refusalOf(await roll(json.id))).toEqual(limitReached);
    expect((await call(owner, 'DELETE', `/v1/api_keys/${id}`)).status).toBe(200);
    expect((await roll(json.id)).status).toBe(201);
    await service.db.pool.query(
      `update api_keys set expires_at = '2020-01-01' where account_id = $1 and name = 'Filler'`,
      [owner.accountUuid],
    );
    await createKey(owner);
  });
});

describe('the last admin key of an account', () => {
  const conflict = { status: 409, code: 'state_conflict' };

  test('cannot revoke itself, but can be rolled, and goes when there is another', async () => {
    const owner = await newAccount('Last');
    const path = `/v1/api_keys/${await ownId(owner)}`;
    expect(refusalOf(await call(owner, 'DELETE', path))).toEqual(conflict);
    const other = await createKey(owner, { scopes: ['admin'] });
    expect((await call({ ...owner, key: other.key }, 'DELETE', path)).status).toBe(200);
    const rolled = await call({ ...owner, key: other.key }, 'POST', `/v1/api_keys/${other.id}/roll`, {
      body: {},
    });
    expect(rolled.status).toBe(201);
  });

  test('stays when two admins revoke each other at once', async () => {
    for (let round = 0; round < 5; round++) {
      const one = await newAccount(`Duel ${round}`);
      const key = await service.createKey({ accountUuid: one.accountUuid, scopes: ['admin'] });
      const other = { ...one, url: second.url, key };
      const [oneId, otherId] = [await ownId(one), await ownId(other)];
      const replies = await Promise.all([
        call(one, 'DELETE', `/v1/api_keys/${otherId}`),
        call(other, 'DELETE', `/v1/api_keys/${oneId}`),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });
});

describe('a key with networks', () => {
  const refused = { status: 401, code: 'api_key_address_refused' };
  const from = (address: string) => ({ 'X-Forwarded-For': address });

  test('works only from them, by the address that a trusted proxy passes on', async () => {
    const key = await service.createKey({ allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'] });
    const at = async (process: TestService, address: string) =>
      refusalOf(await call(process, 'GET', '/v1/products', { key, headers: from(address) })).code ?? 'ok';
    expect(await at(second, '203.0.113.7')).toBe('ok');
    expect(await at(second, '2001:db8::7')).toBe('ok');
    expect(await at(second, '203.0.114.7')).toBe(refused.code);
    expect(await at(second, '203.0.113.7, 198.51.100.1')).toBe(refused.code);
    // This process trusts nobody.
    expect(await at(service, '203.0.113.7')).toBe(refused.code);
  });

  test('has the client’s address in calls through /mcp, and in the audit log', async () => {
    const { accountUuid } = await newAccount('Agents');
    const key = await service.createKey({ accountUuid, allowedCidrs: ['203.0.113.0/24'] });
    const headers = { ...from('203.0.113.7'), Accept: 'application/json, text/event-stream' };
    const list = { name: 'list_products', arguments: {} };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: list };
    const answered = await call(second, 'POST', '/mcp', { key, headers, body });
    expect([answered.status, answered.text]).toEqual([200, expect.stringContaining('prod_us_1gb_7d')]);
    expect(refusalOf(await call(service, 'POST', '/mcp', { key, headers, body }))).toEqual(refused);
    await call(second, 'POST', '/v1/api_keys', { key, headers, body: { scopes: ['read'] } });
    const text = 'select ip from audit_log where account_id = $1';
    expect(await service.db.query({ name: 'test_audit_ip', text }, [accountUuid])).toEqual([
      { ip: '203.0.113.7' },
    ]);
  });

  test('loses its open streams when they change', async () => {
    const owner = await newAccount('Streams');
    const { id, key } = await createKey(owner);
    const stream = await openSse({ url: service.url, key }, '/v1/events/feed');
    expect(stream.status).toBe(200);
    await call(owner, 'PATCH', `/v1/api_keys/${id}`, { body: { allowed_cidrs: ['203.0.113.0/24'] } });
    await stream.ended;
    expect(await statusWith(service, key)).toEqual(refused);
  });
});

describe('an open stream', () => {
  test('ends when its key loses `read`, and when its key expires', async () => {
    const owner = await newAccount('Open streams');
    const limited = await createKey(owner);
    const expiresAt = Math.floor(service.clock.nowMs() / 1000) + 3_600;
    const expiring = await createKey(owner, { scopes: ['read'], expires_at: expiresAt });
    const open = ({ key }: { key: string }) => openSse({ url: service.url, key }, '/v1/events/feed');
    const [ofLimited, ofExpiring] = [await open(limited), await open(expiring)];
    expect([ofLimited.status, ofExpiring.status]).toEqual([200, 200]);
    const ended: string[] = [];
    const noted = Promise.all([
      ofLimited.ended.then(() => ended.push('limited')),
      ofExpiring.ended.then(() => ended.push('expiring')),
    ]);
    const untilEnded = (count: number) =>
      until(
        async () => ended,
        ({ length }) => length >= count,
        60_000,
      );
    await call(owner, 'PATCH', `/v1/api_keys/${limited.id}`, { body: { scopes: ['network'] } });
    expect(await untilEnded(1)).toEqual(['limited']);
    service.clock.advance(3_601_000);
    expect(await untilEnded(2)).toEqual(['limited', 'expiring']);
    await noted;
  });
});

describe('the last use of a key', () => {
  const lastUse = async ({ id, ...owner }: Owner & { id: string }) =>
    (await call(owner, 'GET', `/v1/api_keys/${id}`)).json.last_used_at as number | null;
  const noting = async (db: Database, key: string) => {
    const keys = createKeyDirectory(db);
    const known = (await keys.lookUp(hexHashOf(key))) as KnownKey;
    return { note: (seconds: number) => keys.noteUse(known, seconds * 1_000), flush: keys.flushUses };
  };

  test('is the latest of all processes, whichever reports last', async () => {
    const owner = await newAccount('Used');
    const { id, key } = await createKey(owner);
    const [one, other] = [await noting(service.db, key), await noting(service.db, key)];
    one.note(2_000_000_000);
    other.note(1_900_000_000);
    await one.flush();
    await other.flush();
    expect(await lastUse({ ...owner, id })).toBe(2_000_000_000);
  });

  test('that could not be stored is stored with the next ones', async () => {
    const owner = await newAccount('Used while away');
    const { id, key } = await createKey(owner);
    let isAway = true;
    const query: Database['query'] = (statement, values) =>
      isAway && statement.name === 'api_key_touch'
        ? Promise.reject(new Error('away'))
        : service.db.query(statement, values);
    const { note, flush } = await noting({ ...service.db, query }, key);
    note(2_000_000_000);
    await expect(flush()).rejects.toThrow('away');
    isAway = false;
    await flush();
    expect(await lastUse({ ...owner, id })).toBe(2_000_000_000);
  });
});

test('a suspended account can read and revoke keys, and write nothing else', async () => {
  const { accountUuid, ...creator } = await newAccount('Suspended');
  const { id } = await createKey({ ...creator, accountUuid });
  await service.db.query(
    { name: 'test_suspend', text: `update accounts set status = 'suspended' where id = $1` },
    [accountUuid],
  );
  // A key that no process has cached.
  const owner = { ...creator, key: await service.createKey({ accountUuid }) };
  const refused = { status: 403, code: 'account_suspended' };
  const created = await call(owner, 'POST', '/v1/api_keys', { body: { scopes: ['read'] } });
  expect(refusalOf(created)).toEqual(refused);
  expect(refusalOf(await call(owner, 'POST', `/v1/api_keys/${id}/roll`, { body: {} }))).toEqual(refused);
  expect((await call(owner, 'GET', '/v1/api_keys')).status).toBe(200);
  expect((await call(owner, 'DELETE', `/v1/api_keys/${id}`)).status).toBe(200);
});
