import type { AuditAction } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine, recordAudit } from '../../src/accounts/audit/record.ts';
import { urlForAudit } from '../../src/notify/webhooks/endpoints/describe-change.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { removeOld } from '../support/remove-old.ts';
import { startService, type TestService } from '../support/service.ts';

type Entry = {
  id: string;
  actor: { type: string; id: string | null; name: string | null };
  action: AuditAction;
  target: { type: string; id: string };
  changes?: Record<string, unknown>;
  request_id: string | null;
  ip: string | null;
  via: string | null;
  account_id?: string | null;
};

let service: TestService;
let operatorKey: string;

beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
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

async function endpoint(): Promise<string> {
  const settings = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['a.*'] };
  return (await post('/v1/webhook_endpoints', settings)).json.id;
}

const esim = () => insertEsim(service);

const hooks = '/v1/webhook_endpoints';

describe('an entry about an endpoint', () => {
  test('of an update that changes nothing has no changes', async () => {
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
  ])('shows the URL %s as %s', (url, shown) => {
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
    expect(seen.map(({ action, actor, ip, via }) => ({ action, actor, ip, via }))).toEqual(
      ['account.updated', 'account.viewed'].map((action) => ({
        action,
        actor: { type: 'operator', id: null, name: 'Operator' },
        ip: null,
        via: null,
      })),
    );
    const all = await listAll(`account_id=${accountId}`);
    expect(all).toMatchObject([
      { account_id: accountId, actor: { type: 'command_line', id: null, name: null }, via: 'command_line' },
      { account_id: accountId, actor: { type: 'operator', name: 'Test' }, ip: '127.0.0.1', via: 'api' },
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
    expect(await removeOld(service, { tables: ['audit_log'] })).toBe(0);
    await endpoint();
    service.clock.advance(2 * 86_400_000);
    expect(await removeOld(service, { tables: ['audit_log'] })).toBeGreaterThanOrEqual(own);
    expect(await listAll()).toMatchObject([{ action: 'webhook_endpoint.created' }]);
  });

  const startOfLog = async () => (await listAll()).length;
});
