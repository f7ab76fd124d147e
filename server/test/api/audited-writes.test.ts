import {
  type AuditAction,
  exampleGroupId,
  isWrite,
  type Operation,
  type OperationId,
  type Operations,
  operations,
} from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOfUuid } from '../../src/ids/uuid.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed, insertUnknown, insertWaiting } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';

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

type WriteId = {
  [Id in OperationId]: Operations[Id]['method'] extends 'GET' ? never : Id;
}[OperationId];
type Params = Record<string, string>;
type Write = {
  /** Makes what the operation needs. */
  params?: () => Promise<Params>;
  body?: object | ((params: Params) => object | Promise<object>);
} & (
  | {
      action: AuditAction;
      /** Entries about other objects that it also changes. */
      also?: AuditAction[];
      changes?: unknown;
    }
  | { unaudited: string }
);

const hook = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['a.*'] };
const catalogProduct = {
  ...{ name: 'Europe 5 GB', countries: ['DE'], data_bytes: 5_000_000_000, validity_days: 30 },
  ...{ price: { amount: 900, currency: 'eur' }, speeds: ['4G'] },
};

const newEsim = async () => ({ iccid: await insertEsim(service) });
const newEndpoint = async (body: object = {}) => ({
  id: (await post('/v1/webhook_endpoints', { ...hook, ...body })).json.id,
});
const newEvent = async () => ({ id: (await post('/v1/events/test', { type: 'a.b', data: {} })).json.id });
const newKey = async () => ({ id: (await post('/v1/api_keys', { scopes: ['read'] })).json.id });
const newSession = async (key: string, path: string) => {
  await startSession(key);
  return { id: (await call(service, 'GET', `${path}?limit=1`, { key })).json.data[0].id };
};
const newAccount = async () => ({
  id: idOfUuid('acct', (await service.createAccount('Other')).accountUuid),
});

async function newDelivery(): Promise<Params> {
  const { id } = await newEndpoint();
  await newEvent();
  const { json } = await call(service, 'GET', `/v1/webhook_endpoints/${id}/deliveries`);
  return { id: json.data[0].id };
}

async function newConsumer(): Promise<Params> {
  const name = `consumer-${++serial}`;
  await call(service, 'PUT', `/v1/event_consumers/${name}`, { body: {} });
  return { name };
}

async function newAccountKey(): Promise<Params> {
  const { id } = await newAccount();
  const { json } = await post(`/v1/operator/accounts/${id}/api_keys`, { scopes: ['read'] }, operatorKey);
  return { id, key_id: json.id };
}

const post = (path: string, body: object = {}, key = service.key) =>
  call(service, 'POST', path, { body, key });

const order = 'An order has an execution and events of its own.';
const feed = 'A reader’s position; the consumer shows it.';

/** Every operation that writes, with the entry that it leaves, or the reason why it leaves none. */
const writes: Record<WriteId, Write> = {
  createEsim: { unaudited: order, body: { product_id: 'prod_europe_5gb_30d' } },
  updateEsim: {
    unaudited: 'Metadata are the account’s own notes.',
    params: newEsim,
    body: { metadata: { a: 'b' } },
  },
  suspendEsim: { unaudited: order, params: newEsim },
  resumeEsim: { unaudited: order, params: async () => ({ iccid: await insertEsim(service, 'suspended') }) },
  terminateEsim: { action: 'esim.termination_ordered', params: newEsim },
  addBundle: { unaudited: order, params: newEsim, body: { product_id: 'prod_europe_5gb_30d' } },
  reportUsage: {
    unaudited: 'A report of the network, up to thousands in a request.',
    body: async () => ({
      records: [
        { record_id: `cdr-${++serial}`, iccid: await insertEsim(service), bytes: 1, at: 1_700_000_000 },
      ],
    }),
  },
  cancelExecution: { unaudited: order, params: async () => ({ id: (await provision(service)).json.id }) },
  sendTestEvent: {
    unaudited: 'A test event is an event in the log itself.',
    body: { type: 'a.b', data: {} },
  },
  replayEvent: {
    action: 'event.replayed',
    params: newEvent,
    changes: { delivery_count: expect.any(Number) },
  },
  putEventConsumer: { unaudited: feed, params: async () => ({ name: `put-${++serial}` }) },
  deleteEventConsumer: { unaudited: feed, params: newConsumer },
  acknowledgeEvents: {
    unaudited: feed,
    params: newConsumer,
    body: async () => ({ cursor: (await call(service, 'GET', '/v1/events/feed?after=now')).json.cursor }),
  },
  seekEventConsumer: { unaudited: feed, params: newConsumer, body: { after: 'start' } },
  createWebhookEndpoint: {
    action: 'webhook_endpoint.created',
    body: { ...hook, url: 'http://127.0.0.1:9/in?token=geheim', metadata: { a: 'geheim' } },
    changes: { url: 'http://127.0.0.1:9/in?…', enabled_event_types: ['a.*'], ordering: 'none' },
  },
  updateWebhookEndpoint: {
    action: 'webhook_endpoint.updated',
    params: () => newEndpoint({ metadata: { kept: '1', removed: '2' } }),
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
  deleteWebhookEndpoint: { action: 'webhook_endpoint.deleted', params: newEndpoint },
  enableWebhookEndpoint: { action: 'webhook_endpoint.enabled', params: newEndpoint },
  rotateWebhookSecret: {
    action: 'webhook_endpoint.secret_rotated',
    params: newEndpoint,
    body: { expires_in: 60 },
    changes: { expires_in: 60 },
  },
  probeWebhookEndpoint: { unaudited: 'It changes nothing here.', params: newEndpoint },
  recoverWebhookEndpoint: {
    action: 'webhook_endpoint.recovery_started',
    params: newEndpoint,
    body: { since: 1_700_000_000 },
    changes: { since: 1_700_000_000, recovery_id: expect.stringMatching(/^rec_/) },
  },
  retryDelivery: { action: 'delivery.retried', params: newDelivery },
  skipDelivery: { action: 'delivery.skipped', params: newDelivery },
  simulateEsim: {
    unaudited: 'It stands for a report of the network.',
    params: newEsim,
    body: { action: 'attach', country: 'FR' },
  },
  createApiKey: {
    action: 'api_key.created',
    body: { scopes: ['read'] },
    changes: expect.objectContaining({ scopes: ['read'] }),
  },
  updateApiKey: {
    action: 'api_key.updated',
    params: newKey,
    body: { name: 'New' },
    changes: { name: { from: expect.any(String), to: 'New' } },
  },
  deleteApiKey: { action: 'api_key.revoked', params: newKey, changes: { name: expect.any(String) } },
  rollApiKey: {
    action: 'api_key.rolled',
    params: newKey,
    changes: { new_key: expect.stringMatching(/^key_/), expires_at: expect.any(Object) },
  },
  deleteSession: {
    action: 'session.ended',
    params: () => newSession(service.key, '/v1/sessions'),
    changes: { api_key: expect.stringMatching(/^key_/) },
  },
  deleteOperatorSession: {
    action: 'session.ended',
    params: () => newSession(operatorKey, '/v1/operator/sessions'),
    changes: { api_key: expect.stringMatching(/^key_/) },
  },
  createAccount: {
    action: 'account.created',
    body: { name: 'New' },
    changes: expect.objectContaining({ name: 'New' }),
  },
  updateAccount: {
    action: 'account.updated',
    params: newAccount,
    body: { status: 'suspended' },
    changes: { status: { from: 'active', to: 'suspended' } },
  },
  createAccountApiKey: {
    action: 'api_key.created',
    params: newAccount,
    body: { scopes: ['read'] },
    changes: expect.objectContaining({ scopes: ['read'] }),
  },
  deleteAccountApiKey: {
    action: 'api_key.revoked',
    params: newAccountKey,
    changes: { name: expect.any(String) },
  },
  retryExecution: {
    action: 'execution.retried',
    params: async () => ({ id: await insertWaiting(service) }),
    changes: { next_attempt_at: 'now' },
  },
  resolveExecution: {
    action: 'execution.resolved',
    params: async () => ({ id: await insertUnknown(service) }),
    body: { outcome: 'not_reserved' },
    changes: { outcome: 'not_reserved' },
  },
  retryFailureGroup: {
    action: 'failure_group.retried',
    also: ['execution.retried'],
    params: async () => {
      await service.db.pool.query('delete from failure_group_retries');
      await insertFailed(service, 'declined', exampleGroupId);
      return { id: exampleGroupId };
    },
    changes: { first: expect.stringMatching(/^exec_/), failed: expect.any(Number) },
  },
  putCatalogProduct: {
    action: 'product.updated',
    params: async () => ({ id: `prod_${++serial}` }),
    body: catalogProduct,
    changes: expect.objectContaining({ name: catalogProduct.name }),
  },
  deactivateProduct: {
    action: 'product.deactivated',
    params: async () => {
      const id = `prod_${++serial}`;
      await call(service, 'PUT', `/v1/operator/products/${id}`, { body: catalogProduct, key: operatorKey });
      return { id };
    },
    changes: { active: { from: true, to: false } },
  },
};

const all = Object.entries(operations) as [OperationId, Operation][];
const cases = (Object.entries(writes) as [WriteId, Write][]).map(([id, write]) => ({
  id,
  write,
  definition: operations[id] as Operation,
  actions: 'action' in write ? [write.action, ...(write.also ?? [])] : [],
}));

test('every operation that writes is audited, or has a reason why not', () => {
  const expected = all.filter(([, definition]) => isWrite(definition)).map(([id]) => id);
  expect(Object.keys(writes).sort()).toEqual(expected.sort());
  const byOperator = cases.filter(({ definition }) => definition.scope === 'operator');
  expect(byOperator.filter(({ actions }) => actions.length === 0)).toEqual([]);
});

describe.each(cases)('$id', ({ id, write, definition, actions }) => {
  const key = () => (definition.scope === 'operator' ? operatorKey : service.key);

  async function prepare() {
    const params = (await write.params?.()) ?? {};
    const body = typeof write.body === 'function' ? await write.body(params) : (write.body ?? {});
    const path = definition.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
    return { params, body, path };
  }

  test('with a key leaves exactly its entries, also when it is repeated, and none when it is refused or rolled back', async () => {
    const { params, body, path } = await prepare();
    const send = (idempotencyKey: string, to = path, sent = body) =>
      call(service, definition.method, to, { body: sent, idempotencyKey, key: key() });
    const before = await lastEntry();

    expect((await send('rolled-back')).status).toBe(500);
    expect((await send(`${id}-invalid`, path, { ...body, unknown: 1 })).status).toBe(400);
    if (Object.keys(params).length > 0 && definition.method !== 'PUT') {
      const missing = definition.path.replaceAll(/\{\w+\}/g, 'none');
      expect((await send(`${id}-refused`, missing)).status).toBe(404);
    }
    expect(await entriesAfter(before)).toEqual([]);

    const first = await send(id);
    expect([first.status, first.text]).toEqual([definition.status, expect.anything()]);
    expect((await send(id)).headers.get('idempotent-replayed')).toBe('true');
    const entries = await entriesAfter(before);
    expect(entries.map(({ action }) => action).sort()).toEqual([...actions].sort());
    if ('unaudited' in write) return;

    const shown = await call(service, 'GET', logPathOf(definition, write.action), { key: key() });
    expect(shown.json.data[0]).toMatchObject({
      actor: { type: definition.scope === 'operator' ? 'operator' : 'api_key', name: 'Test' },
      action: write.action,
      target: { type: write.action.split('.')[0], id: targetOf(write.action, params, first) },
      request_id: first.headers.get('request-id'),
      ip: '127.0.0.1',
    });
    expect(shown.json.data[0].changes).toEqual(write.changes);
  });

  test('from the dashboard leaves exactly one entry of its own or of the page’s', async () => {
    const headers = await signIn(key());
    for (const idempotencyKey of [`${id}-dashboard`, undefined]) {
      const { body, path } = await prepare();
      const before = await lastEntry();
      const { status } = await call(service, definition.method, `/dashboard/api${path}`, {
        ...{ key: null, headers, body },
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
      expect(status).toBe(definition.status);
      const entries = (await entriesAfter(before)).map(({ action }) => action).sort();
      expect(entries).toEqual(actions.length > 0 ? [...actions].sort() : ['dashboard.write']);
    }
  });
});

function targetOf(action: AuditAction, params: Params, { json }: Reply): string | undefined {
  return action.endsWith('.created') ? json.id : (params['key_id'] ?? params['iccid'] ?? params['id']);
}

function logPathOf({ scope }: Operation, action: AuditAction): string {
  return `/v1/${scope === 'operator' ? 'operator/' : ''}audit_log?action=${action}&limit=1`;
}

const sessions = new Map<string, Promise<Record<string, string>>>();

/** The headers of a session that stands for this key. */
function signIn(key: string): Promise<Record<string, string>> {
  const known = sessions.get(key) ?? startSession(key);
  sessions.set(key, known);
  return known;
}

async function startSession(key: string): Promise<Record<string, string>> {
  const headers = { Origin: service.url };
  const reply = await call(service, 'POST', '/dashboard/api/session', {
    ...{ key: null, headers, body: { api_key: key } },
  });
  expect(reply.status).toBe(201);
  const [cookie = ''] = reply.headers.get('set-cookie')?.split(';') ?? [];
  return { ...headers, Cookie: cookie, 'X-CSRF-Token': reply.json.csrf_token };
}

async function lastEntry(): Promise<string> {
  const { rows } = await service.db.pool.query('select max(id::text) as id from audit_log');
  return rows[0]?.id ?? '';
}

/** In every account: an entry in the wrong one must not go unnoticed. */
async function entriesAfter(id: string): Promise<{ action: AuditAction }[]> {
  const { rows } = await service.db.pool.query('select action from audit_log where id::text > $1', [id]);
  return rows;
}
