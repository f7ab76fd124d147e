import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findLink } from '../../src/orders/install-links/find.ts';
import { deleteExpiredLinks } from '../../src/orders/install-links/sql.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { removeOld } from '../support/remove-old.ts';
import { decode, fromPng } from '../support/scan-qr.ts';
import { startService, type TestService } from '../support/service.ts';

const daySeconds = 86_400;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

function create(iccid: string, body: object = {}, key = service.key, idempotencyKey?: string) {
  return call(service, 'POST', `/v1/esims/${iccid}/install_links`, {
    ...{ key, body },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
}

function list(iccid: string, key = service.key) {
  return call(service, 'GET', `/v1/esims/${iccid}/install_links?limit=100`, { key });
}

function revoke(iccid: string, id: string, key = service.key) {
  return call(service, 'DELETE', `/v1/esims/${iccid}/install_links/${id}`, { key });
}

function simulate(iccid: string, action: string) {
  return call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body: { action } });
}

function tokenOf(url: string): string {
  return url.split('/i/')[1] ?? '';
}

describe('an install link', () => {
  test('has a URL with 256 random bits and its QR code, which only the creation shows', async () => {
    const iccid = await insertEsim(service);
    const body = { expires_in: 3_600, language: 'de', return_url: 'https://shop.example/orders/1' };
    const { status, json, headers } = await create(iccid, body);
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toMatchObject({
      object: 'install_link',
      ...{ iccid, language: 'de', return_url: body.return_url, opened_at: null, installed_at: null },
    });
    expect(json.id).toMatch(/^ilk_/);
    expect(json.expires_at - json.created).toBe(3_600);
    expect(json.url.startsWith(`${service.url}/i/`)).toBe(true);
    expect(Buffer.from(tokenOf(json.url), 'base64url')).toHaveLength(32);
    expect(decode(fromPng(Buffer.from(json.qr.png.split(',')[1], 'base64'))).data).toBe(json.url);

    const { url: _, qr: _qr, ...rest } = json;
    expect((await list(iccid)).json.data).toEqual([rest]);
  });

  test('works for 30 days unless told otherwise', async () => {
    const { json } = await create(await insertEsim(service));
    expect(json.expires_at - json.created).toBe(30 * daySeconds);
    expect([json.language, json.return_url]).toEqual([null, null]);
  });

  test('is stored as a hash: its token is nowhere in the database, not even in the answer kept for a retry', async () => {
    const iccid = await insertEsim(service);
    const first = await create(iccid, {}, service.key, `link-${iccid}`);
    const again = await create(iccid, {}, service.key, `link-${iccid}`);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await list(iccid)).json.data).toHaveLength(1);
    const token = tokenOf(first.json.url);
    for (const table of ['install_links', 'idempotency_keys', 'audit_log', 'events']) {
      const { rows } = await service.db.pool.query(
        `select count(*)::integer as found from ${table} t where strpos(t::text, $1) > 0`,
        [token],
      );
      expect([table, rows[0].found]).toEqual([table, 0]);
    }
    expect(service.logLines.join('\n')).not.toContain(token);
  });

  test.each([
    [{ expires_in: 299 }, 'expires_in'],
    [{ expires_in: 366 * daySeconds }, 'expires_in'],
    [{ language: 'xx' }, 'language'],
    [{ return_url: 'http://shop.example/' }, 'return_url'],
    [{ return_url: 'javascript:alert(1)' }, 'return_url'],
    [{ return_url: 'https://user:secret@shop.example/' }, 'return_url'],
    [{ return_url: `https://shop.example/${'x'.repeat(500)}` }, 'return_url'],
  ])('is not created with %j', async (body, param) => {
    const { status, json } = await create(await insertEsim(service), body);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
  });

  test('needs an eSIM that can be installed', async () => {
    const iccid = await insertEsim(service);
    await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
    const ended = await create(iccid);
    expect([ended.status, ended.json.error.code]).toEqual([409, 'state_conflict']);
    await service.db.pool.query(`update esims set status = 'failed' where iccid = $1`, [iccid]);
    const failed = await create(iccid);
    expect([failed.status, failed.json.error.code]).toEqual([409, 'esim_not_ready']);
  });

  test('needs the scope install; a list needs read', async () => {
    const iccid = await insertEsim(service);
    const reader = await service.createKey({ scopes: ['read'] });
    const installer = await service.createKey({ scopes: ['install'] });
    expect((await create(iccid, {}, reader)).json.error.code).toBe('scope_missing');
    const { json } = await create(iccid, {}, installer);
    expect((await revoke(iccid, json.id, reader)).json.error.code).toBe('scope_missing');
    expect((await list(iccid, reader)).json.data).toHaveLength(1);
    expect((await revoke(iccid, json.id, installer)).json).toEqual({
      ...{ id: json.id, object: 'install_link', deleted: true },
    });
    expect((await list(iccid, reader)).json.data).toEqual([]);
    expect((await revoke(iccid, json.id, installer)).status).toBe(404);
  });

  test('of another account, or of another eSIM, counts as missing', async () => {
    const [iccid, sibling] = [await insertEsim(service), await insertEsim(service)];
    const { json } = await create(iccid);
    const other = await service.createAccount('Other');
    const replies = [
      await create(iccid, {}, other.key),
      await list(iccid, other.key),
      await revoke(iccid, json.id, other.key),
      await revoke(sibling, json.id),
    ];
    for (const reply of replies)
      expect([reply.status, reply.json.error.code]).toEqual([404, 'resource_missing']);
    expect((await list(iccid)).json.data).toHaveLength(1);
    expect((await list(sibling)).json.data).toEqual([]);
  });

  test('is one of at most 20 of its eSIM, also if they are created at once; expired and revoked ones make room', async () => {
    const [iccid, sibling] = [await insertEsim(service), await insertEsim(service)];
    await create(sibling);
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, n) => create(iccid, { expires_in: n === 0 ? 300 : 3_600 })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = replies.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ json }) => json.error.code))).toEqual(
      new Set(['install_link_limit_reached']),
    );
    const kept = (await list(iccid)).json.data;
    expect(kept).toHaveLength(20);
    await revoke(iccid, kept[0].id);
    expect((await create(iccid)).status).toBe(201);
    expect((await create(iccid)).status).toBe(409);
    service.clock.advance(3_601_000);
    expect((await create(iccid)).status).toBe(201);
    // The one that was created last without a lifetime of its own, and the new one.
    expect((await list(iccid)).json.data).toHaveLength(2);
    expect((await list(sibling)).json.data).toHaveLength(1);
  });

  test('tells when the eSIM was installed, once', async () => {
    const [iccid, sibling] = [await insertEsim(service), await insertEsim(service)];
    await create(iccid);
    await create(sibling);
    await simulate(iccid, 'download');
    expect((await list(iccid)).json.data[0].installed_at).toBeNull();
    await simulate(iccid, 'install');
    const [{ installed_at: at }] = (await list(iccid)).json.data;
    expect(at).toBeGreaterThan(0);
    service.clock.advance(5_000);
    await simulate(iccid, 'enable');
    await simulate(iccid, 'delete');
    await simulate(iccid, 'install');
    expect((await list(iccid)).json.data[0].installed_at).toBe(at);
    expect((await list(sibling)).json.data[0].installed_at).toBeNull();
  });

  test('that was made for an eSIM that is installed tells of the next installation only', async () => {
    const iccid = await insertEsim(service);
    await simulate(iccid, 'install');
    await create(iccid);
    const installedAt = async () => (await list(iccid)).json.data[0].installed_at;
    await simulate(iccid, 'enable');
    expect(await installedAt()).toBeNull();
    await simulate(iccid, 'delete');
    await simulate(iccid, 'install');
    expect(await installedAt()).toBeGreaterThan(0);
  });

  test('is removed 30 days after its end', async () => {
    const iccid = await insertEsim(service);
    await create(iccid, { expires_in: 300 });
    service.clock.advance(29 * daySeconds * 1_000);
    await removeOld(service);
    expect((await list(iccid)).json.data).toHaveLength(1);
    service.clock.advance(2 * daySeconds * 1_000);
    await removeOld(service);
    expect((await list(iccid)).json.data).toEqual([]);
  });

  test('is in the audit log when it is created and revoked', async () => {
    const iccid = await insertEsim(service);
    const { json } = await create(iccid);
    await revoke(iccid, json.id);
    const created = await call(service, 'GET', `/v1/audit_log?target=${iccid}`);
    expect(created.json.data[0]).toMatchObject({
      action: 'esim.install_link_created',
      changes: { install_link_id: json.id, expires_at: json.expires_at },
    });
    const revoked = await call(service, 'GET', `/v1/audit_log?target=${json.id}`);
    expect(revoked.json.data[0]).toMatchObject({
      action: 'install_link.revoked',
      target: { type: 'install_link', id: json.id },
      changes: { iccid },
    });
  });

  test('is found for its own token, however many are looked up at once, with one statement', async () => {
    const iccids = [await insertEsim(service), await insertEsim(service)];
    const [first, second] = await Promise.all(
      iccids.map(async (iccid) => tokenOf((await create(iccid)).json.url)),
    );
    const statements: string[] = [];
    const db = {
      ...service.db,
      query: ((statement, values) => {
        statements.push(statement.name);
        return service.db.query(statement, values);
      }) as typeof service.db.query,
    };
    const guesses = Array.from({ length: 50 }, (_, n) => `guess-${n}`);
    const tokens = [second, ...guesses, first] as string[];
    const found = await Promise.all(tokens.map((token) => findLink(db, service.clock, token)));
    expect(found.map((link) => link?.iccid)).toEqual([iccids[1], ...guesses.map(() => undefined), iccids[0]]);
    expect(statements).toEqual(['install_link_find']);
  });

  test('works until its end, and not at it', async () => {
    const { json } = await create(await insertEsim(service));
    await service.db.pool.query('update install_links set expires_at = to_timestamp($2) where id = $1', [
      ...[uuidOfId('ilk', json.id), json.expires_at],
    ]);
    const findAt = (ms: number) => findLink(service.db, { nowMs: () => ms }, tokenOf(json.url));
    expect(await findAt(json.expires_at * 1_000 - 1)).not.toBeNull();
    expect(await findAt(json.expires_at * 1_000)).toBeNull();
    // From then on it makes room.
    const esim = { account_id: service.accountUuid, iccid: json.iccid };
    const left = async (ms: number) => {
      await deleteExpiredLinks(service.db, esim, new Date(ms));
      return (await list(json.iccid)).json.data.length;
    };
    expect(await left(json.expires_at * 1_000 - 1)).toBe(1);
    expect(await left(json.expires_at * 1_000)).toBe(0);
  });
});
