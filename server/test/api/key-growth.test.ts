import type { Scope } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, type Reply } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let live: TestService;

beforeAll(async () => {
  service = await startService();
  live = await startService({ mode: 'live' });
});
afterAll(async () => {
  await live.stop();
  await service.stop();
});

type Holder = { url: string; key: string; accountUuid: string };
type KeyLimits = { scopes?: Scope[]; expiresAt?: Date; allowedCidrs?: string[] };

async function newAccount(name: string, on: TestService = service): Promise<Holder> {
  return { url: on.url, ...(await on.createAccount(name)) };
}

/** Another key of the account, with all scopes unless told otherwise. The tests come from 127.0.0.1. */
async function withLimits(owner: Holder, limits: KeyLimits, on: TestService = service): Promise<Holder> {
  return { ...owner, key: await on.createKey({ accountUuid: owner.accountUuid, ...limits }) };
}

const create = (by: Holder, body: object = {}, idempotencyKey?: string) =>
  call(by, 'POST', '/v1/api_keys', {
    body: { scopes: ['read'], ...body },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
const change = (by: Holder, id: string, body: object) => call(by, 'PATCH', `/v1/api_keys/${id}`, { body });
const roll = (by: Holder, id: string, idempotencyKey?: string) =>
  call(by, 'POST', `/v1/api_keys/${id}/roll`, {
    body: {},
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
const idOf = async (holder: Holder): Promise<string> => (await call(holder, 'GET', '/v1/me')).json.api_key.id;

function refusalOf({ status, json }: Reply) {
  return { status, code: json.error?.code, param: json.error?.param };
}
const refused = (param: string) => ({ status: 403, code: 'api_key_settings_refused', param });

/** Whole seconds, as the API shows them. */
const inSeconds = (seconds: number) => Math.floor(service.clock.nowMs() / 1000) + seconds;

describe('a key that expires', () => {
  let endsAt: number;
  let owner: Holder;
  let expiring: Holder;
  beforeAll(async () => {
    endsAt = inSeconds(3600);
    owner = await newAccount('Expiring');
    expiring = await withLimits(owner, { expiresAt: new Date(endsAt * 1000) });
  });

  test('creates only keys that expire no later, with its own expiry if none is given', async () => {
    expect(refusalOf(await create(expiring, { expires_at: null }))).toEqual(refused('expires_at'));
    expect(refusalOf(await create(expiring, { expires_at: endsAt + 1 }))).toEqual(refused('expires_at'));
    expect((await create(expiring, { expires_at: endsAt })).json.expires_at).toBe(endsAt);
    expect((await create(expiring)).json.expires_at).toBe(endsAt);
    expect((await create(owner)).json.expires_at).toBe(null);
  });

  test('changes only keys that expire no later, before and after', async () => {
    const { id: lasting } = (await create(owner)).json;
    for (const body of [{ name: 'Mine' }, { scopes: ['read', 'admin'] }, { expires_at: endsAt }]) {
      expect(refusalOf(await change(expiring, lasting, body))).toEqual(refused('expires_at'));
    }
    const { id } = (await create(expiring, { expires_at: endsAt - 60 })).json;
    expect(refusalOf(await change(expiring, id, { expires_at: null }))).toEqual(refused('expires_at'));
    expect(refusalOf(await change(expiring, id, { expires_at: endsAt + 1 }))).toEqual(refused('expires_at'));
    expect((await change(expiring, id, { expires_at: endsAt })).json.expires_at).toBe(endsAt);
  });

  test('rolls itself and others to keys that expire no later, and none that lasts longer', async () => {
    const { id: lasting } = (await create(owner)).json;
    expect(refusalOf(await roll(expiring, lasting))).toEqual(refused('expires_at'));
    const { id } = (await create(expiring, { expires_at: endsAt })).json;
    // Without a bound, the successor would be valid for as long as the key was, from now on.
    service.clock.advance(1_000_000);
    expect((await roll(expiring, id)).json.expires_at).toBe(endsAt);
    const { id: brief } = (await create(expiring, { expires_at: inSeconds(600) })).json;
    expect((await roll(expiring, brief)).json.expires_at).toBeLessThan(endsAt);
    const successor = await roll(expiring, await idOf(expiring));
    expect([successor.status, successor.json.expires_at]).toEqual([201, endsAt]);
  });

  test('does not get a longer-lasting key by repeating the request of another', async () => {
    const other = await withLimits(owner, { expiresAt: new Date(inSeconds(60) * 1000) });
    const made = await create(owner, {}, 'lasting');
    expect((await create(owner, {}, 'lasting')).text).toBe(made.text);
    expect(refusalOf(await create(other, {}, 'lasting'))).toEqual(refused('expires_at'));
    expect((await roll(owner, made.json.id, 'rolled')).status).toBe(201);
    expect(refusalOf(await roll(other, made.json.id, 'rolled'))).toEqual(refused('expires_at'));
  });
});

describe('a key with networks', () => {
  let owner: Holder;
  let bound: Holder;
  beforeAll(async () => {
    owner = await newAccount('Bound');
    bound = await withLimits(owner, { allowedCidrs: ['127.0.0.0/8', '2001:db8::/32'] });
  });

  test('creates only keys with networks within its own, and with its own if none are given', async () => {
    for (const cidrs of [[], ['0.0.0.0/0'], ['127.0.0.0/7'], ['127.0.0.0/8', '203.0.113.0/24'], ['::/0']]) {
      const reply = await create(bound, { allowed_cidrs: cidrs });
      expect([cidrs, refusalOf(reply)]).toEqual([cidrs, refused('allowed_cidrs')]);
    }
    const narrower = ['127.1.0.0/16', '2001:db8:7::/48', '127.0.0.0/8'];
    expect((await create(bound, { allowed_cidrs: narrower })).json.allowed_cidrs).toEqual(narrower);
    expect((await create(bound)).json.allowed_cidrs).toEqual(['127.0.0.0/8', '2001:db8::/32']);
    expect((await create(owner)).json.allowed_cidrs).toEqual([]);
  });

  test('changes only keys with networks within its own, before and after', async () => {
    const { id: free } = (await create(owner)).json;
    expect(refusalOf(await change(bound, free, { scopes: ['admin'] }))).toEqual(refused('allowed_cidrs'));
    const { id } = (await create(bound, { allowed_cidrs: ['127.0.0.1/32'] })).json;
    for (const cidrs of [[], ['0.0.0.0/0']]) {
      expect(refusalOf(await change(bound, id, { allowed_cidrs: cidrs }))).toEqual(refused('allowed_cidrs'));
    }
    expect((await change(bound, id, { allowed_cidrs: ['127.0.0.0/9'] })).status).toBe(200);
  });

  test('rolls itself with its networks, and no key that has others', async () => {
    const { id: elsewhere } = (await create(owner, { allowed_cidrs: ['203.0.113.0/24'] })).json;
    expect(refusalOf(await roll(bound, elsewhere))).toEqual(refused('allowed_cidrs'));
    const successor = await roll(bound, await idOf(bound));
    expect([successor.status, successor.json.allowed_cidrs]).toEqual([201, ['127.0.0.0/8', '2001:db8::/32']]);
  });
});

describe('of itself, a key changes', () => {
  test('the name, and no limit', async () => {
    const owner = await newAccount('Itself');
    const itself = await withLimits(owner, { expiresAt: new Date(inSeconds(3600) * 1000) });
    const id = await idOf(itself);
    for (const [param, body] of [
      ['expires_at', { expires_at: inSeconds(60) }],
      ['allowed_cidrs', { allowed_cidrs: ['127.0.0.0/8'] }],
      ['scopes', { name: 'New', scopes: ['admin'] }],
    ] as const) {
      expect(refusalOf(await change(itself, id, body))).toEqual(refused(param));
    }
    expect(await change(itself, id, { name: 'New' })).toMatchObject({ status: 200, json: { name: 'New' } });
    // Another admin may.
    expect((await change(owner, id, { expires_at: null, scopes: ['read'] })).status).toBe(200);
  });
});

describe('while its request waits, a key that', () => {
  test.each([
    ['is revoked', 'revoked_at = now()'],
    ['expires', `expires_at = now() - interval '1 day'`],
    ['loses admin', `scopes = '{read}'`],
    ['is bound to other networks', `allowed_cidrs = '{203.0.113.0/24}'`],
  ])('%s makes, changes and rolls no other', async (what, assignment) => {
    const owner = await newAccount(what);
    const { id: other } = (await create(owner)).json;
    for (const attempt of [
      (by: Holder) => create(by),
      (by: Holder) => change(by, other, { name: 'Stolen' }),
      (by: Holder) => roll(by, other),
    ]) {
      const thief = await withLimits(owner, {});
      const keyUuid = uuidOfId('key', await idOf(thief));
      const { reply } = await service.db.transaction(async (tx) => {
        const lock = 'select from accounts where id = $1 for no key update';
        await tx.query({ name: 'test_hold_account', text: lock }, [owner.accountUuid]);
        const reply = attempt(thief);
        await untilLockIsAwaited(service);
        const text = `update api_keys set ${assignment} where id = $1`;
        await tx.query({ name: `test_limit ${what}`, text }, [keyUuid]);
        return { reply };
      });
      const ended = await reply;
      expect(refusalOf(ended)).toMatchObject({ status: 401, code: 'api_key_invalid' });
      expect(ended.headers.get('www-authenticate')).toBe('Bearer');
    }
    const text = 'select name from api_keys where account_id = $1 order by id';
    const names = await service.db.query({ name: 'test_names', text }, [owner.accountUuid]);
    expect(names.map((row) => Object.values(row)[0])).toEqual(['Test', 'API key', 'Test', 'Test', 'Test']);
  });
});

describe('the last admin key of an account is not revoked', () => {
  const conflict = { status: 409, code: 'state_conflict', param: undefined };
  const revoke = async (by: Holder, of: Holder) =>
    refusalOf(await call(by, 'DELETE', `/v1/api_keys/${await idOf(of)}`));

  test('if the others do not work from the caller’s address', async () => {
    const owner = await newAccount('Elsewhere');
    await create(owner);
    const text = `update api_keys set allowed_cidrs = '{203.0.113.0/24}' where last4 = $1 and account_id = $2`;
    const elsewhere = await withLimits(owner, {});
    await service.db.query({ name: 'test_bind', text }, [elsewhere.key.slice(-4), owner.accountUuid]);
    expect(await revoke(owner, owner)).toEqual(conflict);
    const here = await withLimits(owner, { allowedCidrs: ['203.0.113.0/24', '127.0.0.0/8'] });
    expect((await revoke(owner, owner)).status).toBe(200);
    expect(await revoke(here, here)).toEqual(conflict);
  });

  test('if the others are about to expire, also by one of them', async () => {
    const owner = await newAccount('Soon');
    const soon = await withLimits(owner, { expiresAt: new Date(inSeconds(86_000) * 1000) });
    expect(await revoke(owner, owner)).toEqual(conflict);
    expect(await revoke(soon, owner)).toEqual(conflict);
    // Not later than the other: one of two that end together may go.
    const twin = await withLimits(owner, { expiresAt: new Date(inSeconds(86_000) * 1000) });
    expect((await revoke(twin, soon)).status).toBe(200);
    const later = await withLimits(owner, { expiresAt: new Date(inSeconds(90_000) * 1000) });
    expect((await revoke(later, owner)).status).toBe(200);
  });
});

describe('an admin key is revoked, although all others expire within the day', () => {
  /** Two admins with an hour left, after the only other one was revoked. */
  async function withTwo(name: string) {
    const owner = await newAccount(name);
    const id = await idOf(owner);
    const expiresAt = new Date(inSeconds(3_600) * 1000);
    const [one, other] = [await withLimits(owner, { expiresAt }), await withLimits(owner, { expiresAt })];
    const text = 'update api_keys set revoked_at = now() where id = $1 and account_id = $2';
    await service.db.query({ name: 'test_revoke_owner', text }, [uuidOfId('key', id), owner.accountUuid]);
    return { revoked: id, one, other };
  }
  const revoke = async (by: Holder, id: string) => (await call(by, 'DELETE', `/v1/api_keys/${id}`)).status;

  test('if another lasts as long', async () => {
    const { one, other } = await withTwo('As long');
    expect(await revoke(one, await idOf(other))).toBe(200);
  });

  test('if it was revoked before: that changes nothing', async () => {
    const { one, revoked } = await withTwo('Again');
    expect(await revoke(one, revoked)).toBe(200);
  });
});

describe('in live mode, the network scope', () => {
  const refusedScope = { status: 403, code: 'scope_missing', param: 'scopes' };

  test('is the operator’s to give: an account’s admin neither creates, adds nor rolls it', async () => {
    const owner = await newAccount('Tenant', live);
    expect(refusalOf(await create(owner, { scopes: ['network'] }))).toEqual(refusedScope);
    const { id } = (await create(owner, { scopes: ['read'] })).json;
    expect(refusalOf(await change(owner, id, { scopes: ['read', 'network'] }))).toEqual(refusedScope);
    expect(refusalOf(await roll(owner, await idOf(owner)))).toEqual(refusedScope);

    const operator = { url: live.url, key: await live.createKey({ scopes: ['operator'] }) };
    const path = `/v1/operator/accounts/${idOfUuid('acct', owner.accountUuid)}/api_keys`;
    const given = await call(operator, 'POST', path, { body: { scopes: ['network', 'read'] } });
    expect([given.status, given.json.scopes]).toEqual([201, ['network', 'read']]);
  });

  test('stays with a key that has it, also when the key is changed', async () => {
    const owner = await newAccount('Holder', live);
    const feed = await withLimits(owner, { scopes: ['network', 'read'] }, live);
    const id = await idOf(feed);
    const renamed = await change(owner, id, { name: 'Feed', scopes: ['network'] });
    expect([renamed.status, renamed.json.scopes]).toEqual([200, ['network']]);
  });

  test('is given freely in a sandbox, where it reaches only its own account', async () => {
    const owner = await newAccount('Sandbox');
    expect((await create(owner, { scopes: ['network'] })).status).toBe(201);
  });
});
