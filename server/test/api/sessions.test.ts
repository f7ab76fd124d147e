import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { createLink } from '../../src/accounts/sessions/create-link.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, type Reply } from '../support/client.ts';
import { send } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse } from '../support/sse.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
/** Another process on the same database, behind a proxy on the same machine. */
let second: TestService;
beforeAll(async () => {
  service = await startService();
  second = await startService({ databaseUrl: service.databaseUrl, trustedProxies: ['127.0.0.0/8'] });
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

type Holder = { url: string; key: string; accountUuid: string };
type Headers = Record<string, string>;

async function newAccount(name: string): Promise<Holder> {
  return { url: service.url, ...(await service.createAccount(name)) };
}

const attempt = (body: object, headers: Headers = {}, on: TestService = service) =>
  call(on, 'POST', '/dashboard/api/session', { key: null, headers: { Origin: on.url, ...headers }, body });

async function signIn(body: object, headers: Headers = {}, on: TestService = service) {
  const reply = await attempt(body, headers, on);
  expect(reply.status, reply.text).toBe(201);
  const cookie = reply.headers.get('set-cookie') ?? '';
  const [Cookie = ''] = cookie.split(';');
  return { cookie, headers: { Origin: on.url, Cookie, 'X-CSRF-Token': reply.json.csrf_token as string } };
}

const me = (headers: Headers, on: TestService = service) =>
  call(on, 'GET', '/dashboard/api/v1/me', { key: null, headers });
/** The same session at the other process: its port is part of the cookie's name. */
const atSecond = ({ Cookie = '' }: Headers) => ({
  Cookie: Cookie.replace(/_\d+=/, `_${new URL(second.url).port}=`),
});
const list = async (by: { url: string; key: string }, path = '/v1/sessions') =>
  (await call(by, 'GET', path)).json.data;
const auditOf = async (by: Holder, action: string) =>
  (await call(by, 'GET', `/v1/audit_log?action=${action}`)).json.data;
const keyIdOf = async (by: { url: string; key: string }) => (await call(by, 'GET', '/v1/me')).json.api_key.id;

function refusalOf({ status, json }: Reply) {
  return { status, code: json.error?.code };
}

describe('the list of sessions', () => {
  test('shows who is signed in, newest first and in pages, without a token', async () => {
    const owner = await newAccount('List');
    const agents = ['One', 'Two', `Three${'x'.repeat(300)}`];
    const tokens: string[] = [];
    for (const agent of agents) {
      const { headers } = await signIn({ api_key: owner.key }, { 'User-Agent': agent });
      tokens.push(headers.Cookie.split('=')[1] ?? '');
    }
    const all = await call(owner, 'GET', '/v1/sessions');
    const shown = (userAgent: string) => ({
      id: expect.stringMatching(/^sess_/),
      object: 'session',
      api_key: { id: expect.stringMatching(/^key_/), name: 'Test', last4: owner.key.slice(-4) },
      ip: '127.0.0.1',
      user_agent: userAgent,
      created: expect.any(Number),
      expires_at: expect.any(Number),
    });
    expect(all.json.data).toEqual([
      shown(`Three${'x'.repeat(300)}`.slice(0, 200)),
      shown('Two'),
      shown('One'),
    ]);
    for (const token of tokens) {
      expect(all.text).not.toContain(token);
      expect(all.text).not.toContain(Buffer.from(token).toString('hex'));
    }
    const page = (await call(owner, 'GET', '/v1/sessions?limit=2')).json;
    const rest = (await call(owner, 'GET', `/v1/sessions?starting_after=${page.next_cursor}`)).json;
    expect([...page.data, ...rest.data]).toEqual(all.json.data);
  });

  test('has the sessions of the account only, and none that has ended', async () => {
    const [owner, other] = [await newAccount('Mine'), await newAccount('Theirs')];
    const revoked = await service.createKey({ accountUuid: owner.accountUuid });
    const shortened = await service.createKey({ accountUuid: owner.accountUuid });
    for (const key of [owner.key, revoked, shortened, other.key]) await signIn({ api_key: key });
    expect(await list(owner)).toHaveLength(3);
    await call(owner, 'DELETE', `/v1/api_keys/${await keyIdOf({ ...owner, key: revoked })}`);
    await call(owner, 'PATCH', `/v1/api_keys/${await keyIdOf({ ...owner, key: shortened })}`, {
      body: { expires_at: Math.floor(service.clock.nowMs() / 1000) + 60 },
    });
    service.clock.advance(60_000);
    expect((await list(owner)).map(({ api_key }: { api_key: { last4: string } }) => api_key.last4)).toEqual([
      owner.key.slice(-4),
    ]);
    service.clock.advance(12 * 3_600_000);
    expect(await list(owner)).toEqual([]);
  });

  test('needs admin', async () => {
    const key = await service.createKey({ scopes: ['read', 'write'] });
    for (const [method, path] of [
      ['GET', '/v1/sessions'],
      ['DELETE', '/v1/sessions/sess_00000000000000000000000000'],
    ] as const) {
      expect(refusalOf(await call(service, method, path, { key }))).toEqual({
        status: 403,
        code: 'scope_missing',
      });
    }
  });
});

describe('ending a session', () => {
  test('signs it out on every process with its open streams, and leaves the others', async () => {
    const owner = await newAccount('Ends');
    const [kept, ended] = [await signIn({ api_key: owner.key }), await signIn({ api_key: owner.key })];
    const stream = await openSse({ url: `${service.url}/dashboard/api`, key: '' }, '/v1/events/feed', {
      cookie: ended.headers.Cookie,
    });
    const [{ id }] = await list(owner);
    const reply = await call(owner, 'DELETE', `/v1/sessions/${id}`);
    expect([reply.status, reply.json]).toEqual([200, { id, object: 'session', deleted: true }]);
    for (const status of [
      (await me(ended.headers)).status,
      (await me(atSecond(ended.headers), second)).status,
    ]) {
      expect(status).toBe(401);
    }
    expect((await me(kept.headers)).status).toBe(200);
    await stream.ended;
    const [entry] = await auditOf(owner, 'session.ended');
    expect(entry).toMatchObject({
      actor: { type: 'api_key', id: await keyIdOf(owner) },
      target: { type: 'session', id },
      changes: { api_key: await keyIdOf(owner) },
    });
    expect(refusalOf(await call(owner, 'DELETE', `/v1/sessions/${id}`))).toEqual({
      status: 404,
      code: 'resource_missing',
    });
  });

  test('of another account, or of an operator, is not found', async () => {
    const [owner, other] = [await newAccount('Owner'), await newAccount('Other')];
    const operatorKey = await service.createKey({ scopes: ['operator'] });
    const operator = { url: service.url, key: operatorKey };
    const [ofOther, ofOperator] = [
      await signIn({ api_key: other.key }),
      await signIn({ api_key: operatorKey }),
    ];
    const [[theirs], [operators]] = [await list(other), await list(operator, '/v1/operator/sessions')];
    for (const { id } of [theirs, operators]) {
      expect((await call(owner, 'DELETE', `/v1/sessions/${id}`)).status).toBe(404);
    }
    expect((await call(operator, 'DELETE', `/v1/operator/sessions/${theirs.id}`)).status).toBe(404);
    for (const { headers } of [ofOther, ofOperator]) expect((await me(headers)).status).toBe(200);
  });

  test('works for operators among themselves', async () => {
    const operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
    const { headers } = await signIn({ api_key: operator.key });
    const [{ id, api_key: by }] = await list(operator, '/v1/operator/sessions');
    expect(by.id).toBe(await keyIdOf(operator));
    expect((await call(operator, 'DELETE', `/v1/operator/sessions/${id}`)).status).toBe(200);
    expect((await me(headers)).status).toBe(401);
  });

  test('is in the audit log, also by signing out', async () => {
    const owner = await newAccount('Signs out');
    const { headers } = await signIn({ api_key: owner.key });
    const [{ id }] = await list(owner);
    await call(owner, 'DELETE', '/dashboard/api/session', { key: null, headers });
    for (const action of ['session.started', 'session.ended']) {
      expect(await auditOf(owner, action)).toMatchObject([
        { actor: { type: 'api_key' }, target: { type: 'session', id }, ip: '127.0.0.1' },
      ]);
    }
  });
});

describe('a session', () => {
  test('ends with its key at the latest', async () => {
    const owner = await newAccount('Short');
    const expiresAt = new Date(service.clock.nowMs() + 3_600_000);
    const key = await service.createKey({ accountUuid: owner.accountUuid, expiresAt });
    const { cookie } = await signIn({ api_key: key });
    expect(Number(/Max-Age=(\d+)/.exec(cookie)?.[1])).toBeLessThanOrEqual(3_600);
    const [{ expires_at: at }] = await list(owner);
    expect(at).toBe(Math.floor(expiresAt.getTime() / 1000));
  });

  test('of a key with networks stays in them', async () => {
    const key = await service.createKey({ allowedCidrs: ['203.0.113.0/24'] });
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const { headers } = await signIn({ api_key: key }, from('203.0.113.7'), second);
    expect((await me({ ...headers, ...from('203.0.113.8') }, second)).status).toBe(200);
    expect(refusalOf(await me({ ...headers, ...from('198.51.100.1') }, second))).toEqual({
      status: 401,
      code: 'api_key_address_refused',
    });
  });

  test('makes no key that has more than its own', async () => {
    const expiresAt = new Date(service.clock.nowMs() + 3_600_000);
    const { headers } = await signIn({ api_key: await service.createKey({ expiresAt }) });
    const reply = await call(service, 'POST', '/dashboard/api/v1/api_keys', {
      ...{ key: null, headers, body: { scopes: ['read'], expires_at: null } },
    });
    expect(refusalOf(reply)).toEqual({ status: 403, code: 'api_key_settings_refused' });
  });

  test('is one of the twenty newest of its key, also when another begins at the same time', async () => {
    const owner = await newAccount('Twenty');
    const keyUuid = uuidOfId('key', await keyIdOf(owner));
    const fill = `
insert into dashboard_sessions (hash, key_id, created_at, expires_at)
select sha256(gen_random_uuid()::text::bytea), $1, now() - n * interval '1 hour', now() + interval '1 day'
from generate_series(1, $2::integer) n`;
    await service.db.query({ name: 'test_fill_sessions', text: fill }, [keyUuid, 19]);
    const { reply } = await service.db.transaction(async (tx) => {
      const lock = 'select from api_keys where id = $1 for no key update';
      await tx.query({ name: 'test_hold_key', text: lock }, [keyUuid]);
      await tx.query({ name: 'test_fill_sessions', text: fill }, [keyUuid, 1]);
      const reply = attempt({ api_key: owner.key });
      // Without a lock it would not wait, and would not see the session of this transaction.
      await Promise.race([reply, untilLockIsAwaited(service)]);
      return { reply };
    });
    expect((await reply).status).toBe(201);
    const text = `
select count(*)::integer as count, count(*) filter (where created_at < now() - interval '18.5 hours')::integer as oldest
from dashboard_sessions
where key_id = $1`;
    const left = await service.db.query({ name: 'test_count_sessions', text }, [keyUuid]);
    expect(left).toEqual([{ count: 20, oldest: 0 }]);
  });
});

describe('over TLS', () => {
  const publicUrl = 'https://esim.example';
  const page = { Host: 'esim.example', Origin: publicUrl };
  let secure: TestService;
  beforeAll(async () => {
    secure = await startService({ databaseUrl: service.databaseUrl, publicUrl: () => publicUrl });
  });
  afterAll(() => secure.stop());

  test('the cookie is one that only this host can set, and /v1 ignores it', async () => {
    const request = { path: '/dashboard/api/session', chunked: false };
    const signedIn = await send(secure.url, {
      ...request,
      method: 'POST',
      headers: { ...page, 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify({ api_key: service.key })),
    });
    const cookie = signedIn.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^__Host-simplane_session=[\w-]{43}; Path=\/; Secure; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const [pair = ''] = cookie.split(';');
    const ask = (path: string, sent: string, host = page.Host) =>
      send(secure.url, {
        ...{ ...request, method: 'GET', path, body: null },
        headers: { Host: host, Cookie: sent },
      });
    expect((await ask('/dashboard/api/v1/me', pair)).status).toBe(200);
    expect((await ask('/v1/me', pair)).json.error.code).toBe('api_key_missing');
    // A name that other hosts and plain HTTP can set is not read.
    const port = new URL(secure.url).port;
    const plain = pair.replace('__Host-simplane_session', `simplane_session_${port}`);
    expect((await ask('/dashboard/api/v1/me', plain)).status).toBe(401);
    expect((await ask('/dashboard/api/v1/me', plain, `127.0.0.1:${port}`)).status).toBe(200);
    // Another port of the same name is another site.
    expect((await ask('/dashboard/api/v1/me', pair, 'esim.example:8443')).json.error.code).toBe(
      'host_not_allowed',
    );
  });
});

describe('a refused sign-in', () => {
  const entriesOfStrangers = async () => {
    const text = `select ip, changes from audit_log where action = 'session.refused' and actor_type = 'anonymous'`;
    return service.db.query<{ ip: string; changes: object }>({ name: 'test_strangers', text });
  };
  const countOf = async (reason: string) => {
    const text = await service.service.metrics.registry.metrics();
    const line = new RegExp(`simplane_sign_ins_refused_total\\{reason="${reason}"\\} (\\d+)`).exec(text);
    return Number(line?.[1] ?? 0);
  };

  test('with a key that exists is in the audit log of its account, up to ten times an hour', async () => {
    const owner = await newAccount('Refused');
    const expired = await service.createKey({ accountUuid: owner.accountUuid, expiresAt: new Date(0) });
    const elsewhere = await service.createKey({
      accountUuid: owner.accountUuid,
      allowedCidrs: ['203.0.113.0/24'],
    });
    for (let n = 0; n < 15; n++) expect((await attempt({ api_key: expired })).status).toBe(401);
    expect((await attempt({ api_key: elsewhere })).status).toBe(401);
    const { json } = await call(owner, 'GET', '/v1/audit_log?action=session.refused&limit=100');
    const reasons = json.data.map(({ changes }: { changes: { reason: string } }) => changes.reason);
    expect(reasons).toEqual(['api_key_address_refused', ...Array(10).fill('api_key_expired')]);
    expect(json.data[0]).toMatchObject({
      actor: { type: 'api_key', name: 'Test' },
      target: { type: 'api_key', id: expect.stringMatching(/^key_/) },
      ip: '127.0.0.1',
    });
    expect(await countOf('api_key_expired')).toBeGreaterThanOrEqual(15);
  });

  test('with a link of a key that no longer works is in the audit log of its account', async () => {
    const owner = await newAccount('Refused link');
    const key = await service.createKey({ accountUuid: owner.accountUuid, expiresAt: new Date(0) });
    const text = 'select id from api_keys where account_id = $1 and last4 = $2';
    const values = [owner.accountUuid, key.slice(-4)];
    const [row] = await service.db.query<{ id: string }>({ name: 'test_key_id', text }, values);
    const link = await createLink(service.db, { ...service.service, ...commandLine }, row?.id ?? '');
    expect((await attempt({ link: link.replace(/^.*#link=/, '') })).status).toBe(401);
    expect(await auditOf(owner, 'session.refused')).toMatchObject([
      { changes: { reason: 'api_key_expired' } },
    ]);
  });

  test('of a stranger is in the operator’s audit log once an hour and address, and always counted', async () => {
    const counted = await countOf('api_key_invalid');
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const guess = (address: string) => attempt({ api_key: 'sp_test_guess' }, from(address), second);
    for (let n = 0; n < 5; n++) await attempt({ api_key: `sp_test_guess_${n}` });
    await attempt({ link: 'guessed' });
    expect(await countOf('api_key_invalid')).toBe(counted + 5);
    // Every address of a /64 is the guesser's own; of many networks, the process notes sixty.
    for (let n = 0; n < 5; n++) await guess(`2001:db8::${n}`);
    for (let n = 0; n < 100; n++) await guess(`198.51.100.${n}`);
    const entries = await entriesOfStrangers();
    const of = (start: string) => entries.filter(({ ip }) => ip.startsWith(start));
    expect(of('127.0.0.1')).toEqual([{ ip: '127.0.0.1', changes: { reason: 'api_key_invalid' } }]);
    expect([of('2001:db8:'), of('198.51.100.')].map(({ length }) => length)).toEqual([1, 59]);
    expect(JSON.stringify(entries)).not.toContain('guess');
  });
});
