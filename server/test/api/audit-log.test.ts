import type { AuditAction } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeAuditLog } from '../../src/audit/purge-old.ts';
import { commandLine, recordAudit } from '../../src/audit/record.ts';
import { idOfUuid, uuidText } from '../../src/ids/uuid.ts';
import { esimMatchingIdPlace } from '../../src/secrets/sealed-places.ts';
import { urlForAudit } from '../../src/webhooks/endpoints/record-change.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

type Entry = {
  id: string;
  actor: { type: string; id: string | null; name: string | null };
  action: AuditAction;
  target: { type: string; id: string };
  changes?: Record<string, unknown>;
  request_id: string | null;
  ip: string | null;
  account_id?: string | null;
};

let service: TestService;
let operatorKey: string;
let serial = 0;

beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
  // An answer under this key cannot be stored, so its transaction is rolled back at its end.
  await service.db.pool.query(`alter table idempotency_keys add check (key <> 'rolled-back')`);
});
afterAll(() => service.stop());

async function listEntries(query = 'limit=100', key = service.key): Promise<Entry[]> {
  const reply = await call(service, 'GET', `/v1/audit_log?${query}`, { key });
  expect(reply.status).toBe(200);
  return reply.json.data;
}

async function listAll(query = 'limit=100'): Promise<Entry[]> {
  const reply = await call(service, 'GET', `/v1/operator/audit_log?${query}`, { key: operatorKey });
  expect(reply.status).toBe(200);
  return reply.json.data;
}

const post = (path: string, body: object = {}) => call(service, 'POST', path, { body });

async function endpoint(body: object = {}): Promise<string> {
  const settings = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['a.*'], ...body };
  return (await post('/v1/webhook_endpoints', settings)).json.id;
}

async function event(): Promise<string> {
  return (await post('/v1/events/test', { type: 'a.b', data: {} })).json.id;
}

async function pendingDelivery(): Promise<string> {
  const id = await endpoint();
  const eventId = await event();
  const { json } = await call(service, 'GET', `/v1/webhook_endpoints/${id}/deliveries`);
  expect(json.data[0].event_id).toBe(eventId);
  return json.data[0].id;
}

async function esim(): Promise<string> {
  const iccid = `8999901${String(++serial).padStart(12, '0')}`;
  const { keyring, newUuid } = service.service;
  const sealed = keyring.seal('SECRET-MATCHING-ID', esimMatchingIdPlace(service.accountUuid, iccid));
  await service.db.query(
    {
      name: 'test_insert_esim',
      text: `insert into esims (account_id, id, iccid, execution_id, product_id, status, profile_state, metadata, smdp_address,
        matching_id, confirmation_code_required, created_at, provisioned_at)
        values ($1, $2, $3, $4, 'prod_europe_5gb_30d', 'provisioned', 'released', '{}', 'smdp.example', $5, false, now(), now())`,
    },
    [service.accountUuid, uuidText(newUuid()), iccid, uuidText(newUuid()), sealed],
  );
  return iccid;
}

type Audited = {
  action: AuditAction;
  method?: string;
  /** Makes what the operation needs; returns its target. */
  target: () => Promise<string>;
  path: (target: string) => string;
  body?: object;
  changes?: unknown;
};

const hooks = '/v1/webhook_endpoints';
const missing = 'we_00000000000000000000000000';
/** Every operation of an account that is audited, except those of its keys. */
const audited: Audited[] = [
  {
    action: 'webhook_endpoint.created',
    target: async () => 'new',
    path: () => hooks,
    body: {
      url: 'http://127.0.0.1:9/in?token=geheim',
      enabled_event_types: ['a.b'],
      metadata: { a: 'geheim' },
    },
    changes: { url: 'http://127.0.0.1:9/in?…', enabled_event_types: ['a.b'], ordering: 'none' },
  },
  {
    action: 'webhook_endpoint.updated',
    method: 'PATCH',
    target: () => endpoint({ metadata: { kept: '1', removed: '2' } }),
    path: (id) => `${hooks}/${id}`,
    body: {
      url: 'http://127.0.0.1:9/v1/T00/x8fKq?token=geheim',
      metadata: { removed: null, added: 'geheim' },
      status: 'disabled',
    },
    changes: {
      url: { from: 'http://127.0.0.1:9/hook', to: 'http://127.0.0.1:9/v1/…/…?…' },
      metadata: { changed: ['removed', 'added'] },
      status: { from: 'enabled', to: 'disabled' },
    },
  },
  { action: 'webhook_endpoint.enabled', target: endpoint, path: (id) => `${hooks}/${id}/enable` },
  { action: 'webhook_endpoint.deleted', method: 'DELETE', target: endpoint, path: (id) => `${hooks}/${id}` },
  {
    action: 'webhook_endpoint.secret_rotated',
    target: endpoint,
    path: (id) => `${hooks}/${id}/rotate_secret`,
    body: { expires_in: 60 },
    changes: { expires_in: 60 },
  },
  {
    action: 'webhook_endpoint.recovery_started',
    target: endpoint,
    path: (id) => `${hooks}/${id}/recover`,
    body: { since: 1_700_000_000 },
    changes: { since: 1_700_000_000, recovery_id: expect.stringMatching(/^rec_/) },
  },
  {
    action: 'event.replayed',
    target: event,
    path: (id) => `/v1/events/${id}/replay`,
    changes: { delivery_count: expect.any(Number) },
  },
  { action: 'delivery.retried', target: pendingDelivery, path: (id) => `/v1/deliveries/${id}/retry` },
  { action: 'delivery.skipped', target: pendingDelivery, path: (id) => `/v1/deliveries/${id}/skip` },
  {
    action: 'esim.termination_ordered',
    method: 'DELETE',
    target: esim,
    path: (iccid) => `/v1/esims/${iccid}`,
  },
];

describe('an audited operation', () => {
  test.each(audited)(
    '$action leaves one entry, also when it is replayed, and none when it is rolled back',
    async (one) => {
      const { action, method = 'POST', path, body = {}, changes } = one;
      const target = await one.target();
      const before = (await listEntries(`action=${action}&limit=100`)).length;
      const send = (idempotencyKey: string, to = target) =>
        call(service, method, path(to), { body, idempotencyKey });

      expect((await send('rolled-back')).status).toBe(500);
      expect(await listEntries(`action=${action}&limit=100`)).toHaveLength(before);

      const first = await send(action);
      expect(first.status).toBeLessThan(300);
      const replay = await send(action);
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
      const after = await listEntries(`action=${action}&limit=100`);
      expect(after).toHaveLength(before + 1);
      const [type = ''] = action.split('.');
      const id = target === 'new' ? first.json.id : target;
      expect(after[0]).toEqual({
        id: expect.stringMatching(/^aud_/),
        object: 'audit_entry',
        actor: { type: 'api_key', id: expect.stringMatching(/^key_/), name: 'Test' },
        action,
        target: { type, id },
        ...(changes !== undefined && { changes }),
        request_id: first.headers.get('request-id'),
        ip: '127.0.0.1',
        created: expect.any(Number),
      });
      expect(await listEntries(`target=${id}&action=${action}`)).toEqual([after[0]]);

      if (target === 'new') return;
      const refused = await send(`${action}-refused`, missing);
      expect(refused.status).toBe(404);
      expect(await listEntries(`action=${action}&limit=100`)).toHaveLength(before + 1);
    },
  );

  test('an update that changes nothing leaves an entry without changes', async () => {
    const id = await endpoint();
    await call(service, 'PATCH', `${hooks}/${id}`, { body: {} });
    const [entry] = await listEntries(`target=${id}&action=webhook_endpoint.updated`);
    expect(entry).not.toHaveProperty('changes');
  });

  test.each([
    ['https://example.com/webhooks/esim', 'https://example.com/webhooks/esim'],
    ['https://hooks.example/services/T02AB/B07/x8fKqZ0aa', 'https://hooks.example/services/…/…/…'],
    ['https://h.example/6f9619ff-8b86-d011-b42d-00c04fc964ff', 'https://h.example/…'],
    ['https://a:b@h.example:8443/x?k=v#f', 'https://…@h.example:8443/x?…'],
  ])('shows %s as %s', (url, shown) => {
    expect(urlForAudit(url)).toBe(shown);
  });
});

describe('a view of an activation code', () => {
  const views = (iccid: string) => listEntries(`target=${iccid}&action=esim.install_profile_viewed`);

  test('leaves an entry, by GET, HEAD and as a picture; a refused one leaves none', async () => {
    const iccid = await esim();
    const path = `/v1/esims/${iccid}/install`;
    await call(service, 'GET', path);
    await call(service, 'HEAD', path);
    const picture = await call(service, 'GET', path, { headers: { Accept: 'image/png' } });
    const reader = await service.createKey({ scopes: ['read'] });
    expect((await call(service, 'GET', path, { key: reader })).status).toBe(403);
    const entries = await views(iccid);
    expect(entries).toHaveLength(3);
    expect(entries[0]?.request_id).toBe(picture.headers.get('request-id'));
    expect(JSON.stringify(entries)).not.toContain('SECRET');
  });

  test('by a tool leaves an entry too', async () => {
    const iccid = await esim();
    const call_ = { name: 'get_install_profile', arguments: { iccid } };
    await call(service, 'POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call_ },
      headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25' },
    });
    expect(await views(iccid)).toHaveLength(1);
  });

  test('is refused if its entry cannot be written', async () => {
    const iccid = await esim();
    await service.db.pool.query(
      `alter table audit_log add constraint no_views check (target_id <> '${iccid}')`,
    );
    const reply = await call(service, 'GET', `/v1/esims/${iccid}/install`);
    expect([reply.status, reply.text.includes('SECRET')]).toEqual([500, false]);
    await service.db.pool.query('alter table audit_log drop constraint no_views');
  });
});

describe('the audit log', () => {
  test('of an account has nothing of another, and needs the admin scope', async () => {
    const id = await endpoint();
    const other = await service.createAccount('Other');
    expect(await listEntries(`target=${id}`, other.key)).toEqual([]);
    expect(await listEntries('limit=100', other.key)).toEqual([]);
    const [{ actor }] = (await listEntries('limit=1')) as [Entry];
    expect(await listEntries(`actor=${actor.id}`, other.key)).toEqual([]);
    const writer = await service.createKey({ scopes: ['read', 'write'] });
    expect((await call(service, 'GET', '/v1/audit_log', { key: writer })).status).toBe(403);
  });

  test('shows an account its operator without key and address, and the operator everything', async () => {
    const { accountUuid, key } = await service.createAccount('Viewed');
    const accountId = idOfUuid('acct', accountUuid);
    await call(service, 'GET', '/v1/esims', { key: operatorKey, headers: { 'Service-Account': accountId } });
    await recordAudit(
      service.db,
      { ...service.service, ...commandLine },
      { accountUuid, action: 'account.updated', target: { type: 'account', id: accountId } },
    );
    const seen = await listEntries('actor=operator', key);
    expect(seen.map(({ action, actor, ip }) => ({ action, actor, ip }))).toEqual(
      ['account.updated', 'account.viewed'].map((action) => ({
        action,
        actor: { type: 'operator', id: null, name: 'Operator' },
        ip: null,
      })),
    );
    const all = await listAll(`account_id=${accountId}`);
    expect(all).toMatchObject([
      { account_id: accountId, actor: { type: 'command_line', id: null, name: null }, request_id: null },
      { account_id: accountId, actor: { type: 'operator', name: 'Test' }, ip: '127.0.0.1' },
    ]);
    const [byCommand, byKey] = all as [Entry, Entry];
    for (const account of ['', `&account_id=${accountId}`]) {
      expect((await listAll(`actor=command_line${account}`))[0]).toEqual(byCommand);
      expect((await listAll(`actor=${byKey.actor.id}${account}`))[0]).toEqual(byKey);
      expect(
        await listAll(`actor=${byKey.actor.id}&action=account.viewed&target=${accountId}${account}`),
      ).toEqual([byKey]);
      expect(await listAll(`target=${accountId}${account}`)).toEqual(all);
    }
  });

  test('pages with each filter as without, and only through the entries that match', async () => {
    const { key } = await service.createAccount('Paged');
    for (let n = 0; n < 5; n++) {
      const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['a.b'] };
      const { json } = await call(service, 'POST', hooks, { key, body });
      await call(service, 'POST', `${hooks}/${json.id}/enable`, { key, body: {} });
    }
    const all = await listEntries('limit=100', key);
    expect(all).toHaveLength(10);
    const actor = `actor=${all[0]?.actor.id}`;
    const enabled = all.filter(({ action }) => action === 'webhook_endpoint.enabled');
    const since = 'created[gte]=1700000000';
    for (const [query, expected] of [
      ['', all],
      [actor, all],
      [since, all],
      ['created[lt]=1700000000', []],
      [`${actor}&${since}`, all],
      ['action=webhook_endpoint.enabled', enabled],
      [`${actor}&action=webhook_endpoint.enabled&${since}`, enabled],
      [`target=${all[1]?.target.id}`, all.slice(0, 2)],
      [`target=${all[1]?.target.id}&${actor}`, all.slice(0, 2)],
    ] as const) {
      expect([query, await walk(`/v1/audit_log?limit=3&${query}`, key)]).toEqual([query, expected]);
    }
  });

  async function walk(path: string, key: string): Promise<Entry[]> {
    const { json } = await call(service, 'GET', path, { key });
    const rest = json.has_more
      ? await walk(`${path.replace(/&starting_after=.*/, '')}&starting_after=${json.next_cursor}`, key)
      : [];
    return [...json.data, ...rest];
  }

  test('keeps entries for a year', async () => {
    const own = await startOfLog();
    service.clock.advance(364 * 86_400_000);
    expect(await purgeAuditLog(service.db, service.clock)).toBe(0);
    await endpoint();
    service.clock.advance(2 * 86_400_000);
    expect(await purgeAuditLog(service.db, service.clock)).toBeGreaterThanOrEqual(own);
    expect(await listAll()).toMatchObject([{ action: 'webhook_endpoint.created' }]);
  });

  const startOfLog = async () => (await listAll()).length;
});
