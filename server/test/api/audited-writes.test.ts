import {
  type AuditAction,
  exampleGroupId,
  isOperators,
  isWrite,
  type OperationId,
  type Operations,
  operations,
  type WriteOperation,
} from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queueForDeployment } from '../../src/notify/webhooks/deployment-deliveries.ts';
import { storeBundle } from '../../src/orders/bundles/run-top-up.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed, insertUnknown, insertWaiting } from '../support/insert-executions.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operatorKey: string;
let serial = 0;

beforeAll(async () => {
  service = await startService({ core: 'state' });
  operatorKey = await service.createKey({ scopes: ['operator', 'operator_write'] });
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
  /** Entries about other objects that it also changes. */
  also?: AuditAction[];
  /** The target's id, if it is not that of the path. */
  target?: (answer: Reply) => string;
  changes?: unknown;
  /** Whether its stored answer has a secret. */
  isSecret?: true;
};

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

async function newBatch(): Promise<Params> {
  return { id: (await post('/v1/batches', { product_id: 'prod_sandbox_held', quantity: 2 })).json.id };
}

async function newDelivery(): Promise<Params> {
  const { id } = await newEndpoint();
  await newEvent();
  const { json } = await call(service, 'GET', `/v1/webhook_endpoints/${id}/deliveries`);
  return { id: json.data[0].id };
}

const newOperatorEndpoint = async () => ({
  id: (await post('/v1/operator/webhook_endpoints', hook, operatorKey)).json.id,
});

async function newOperatorDelivery(): Promise<Params> {
  const { id } = await newOperatorEndpoint();
  await newEvent();
  await sequenceEvents(service);
  await queueForDeployment(service.service);
  const { json } = await call(service, 'GET', `/v1/operator/webhook_endpoints/${id}/deliveries`, {
    key: operatorKey,
  });
  return { id: json.data[0].id };
}

async function newConsumer(base = '/v1', key = service.key): Promise<Params> {
  const name = `consumer-${++serial}`;
  await call(service, 'PUT', `${base}/event_consumers/${name}`, { body: {}, key });
  return { name };
}
const newOperatorConsumer = () => newConsumer('/v1/operator', operatorKey);

const lastCursor = async (base = '/v1', key = service.key) => ({
  cursor: (await call(service, 'GET', `${base}/events/feed?after=now`, { key })).json.cursor,
});

async function newAccountKey(): Promise<Params> {
  const { id } = await newAccount();
  const { json } = await post(`/v1/operator/accounts/${id}/api_keys`, { scopes: ['read'] }, operatorKey);
  return { id, key_id: json.id };
}

const post = (path: string, body: object = {}, key = service.key) =>
  call(service, 'POST', path, { body, key });

const execution = { execution_id: expect.stringMatching(/^exec_/) };
const answeredId = ({ json }: Reply) => json.id;

/** Every operation that writes: how to call it, and what its entry tells. */
const writes: Record<WriteId, Write> = {
  createEsim: { target: answeredId, body: { product_id: 'prod_europe_5gb_30d' } },
  updateEsim: {
    params: newEsim,
    body: { metadata: { a: 'geheim' }, description: 'geheim' },
    changes: { metadata: { changed: ['a'] }, description: { changed: true } },
  },
  suspendEsim: { params: newEsim, changes: execution },
  resumeEsim: {
    params: async () => ({ iccid: await insertEsim(service, 'suspended') }),
    changes: execution,
  },
  terminateEsim: { params: newEsim, changes: execution },
  eraseEsim: {
    params: async () => {
      const { iccid } = await newEsim();
      await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
      return { iccid };
    },
  },
  addBundle: { params: newEsim, body: { product_id: 'prod_europe_5gb_30d' }, changes: execution },
  cancelBundle: {
    params: async () => {
      const iccid = await insertEsim(service);
      const { db, accountUuid, service: deps } = service;
      const product = { id: 'prod_europe_5gb_30d', data_bytes: 1, validity_days: 1, countries: ['DE'] };
      await storeBundle(db, { accountUuid, iccid, product, price: null }, deps);
      const { json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
      return { iccid, id: json.data[0].id };
    },
    changes: { bundle_id: expect.stringMatching(/^bdl_/) },
  },
  createInstallLink: {
    params: newEsim,
    isSecret: true,
    changes: { install_link_id: expect.stringMatching(/^ilk_/), expires_at: expect.any(Number) },
  },
  revokeInstallLink: {
    params: async () => {
      const { iccid } = await newEsim();
      return { iccid, id: (await post(`/v1/esims/${iccid}/install_links`)).json.id };
    },
    changes: { iccid: expect.any(String) },
  },
  updateBranding: {
    target: () => idOfUuid('acct', service.accountUuid),
    body: () => ({ name: `Shop ${++serial}` }),
    changes: { name: expect.objectContaining({ to: expect.any(String) }) },
  },
  reportUsage: {
    target: ({ headers }) => headers.get('request-id') ?? '',
    body: async () => ({
      records: [
        {
          record_id: `cdr-${++serial}`,
          iccid: await insertEsim(service),
          bytes: 1,
          at: Math.floor(Date.now() / 1_000),
        },
      ],
    }),
    changes: { accepted: 1, duplicates: 0, rejected: 0 },
  },
  createBatch: {
    target: answeredId,
    body: { product_id: 'prod_sandbox_held', quantity: 2 },
    changes: { total: 2, product_id: 'prod_sandbox_held' },
  },
  cancelBatch: { params: newBatch, changes: { canceled: 2 } },
  cancelExecution: { params: async () => ({ id: (await provision(service)).json.id }) },
  sendTestEvent: {
    target: answeredId,
    body: { type: 'a.b', data: {} },
    changes: { type: 'a.b' },
  },
  replayEvent: {
    params: newEvent,
    changes: { delivery_count: expect.any(Number) },
  },
  replayEvents: {
    body: async () => ({ event_ids: [(await newEvent()).id] }),
    target: ({ headers }) => headers.get('request-id') ?? '',
    changes: { event_ids: [expect.any(String)], delivery_count: expect.any(Number) },
  },
  putEventConsumer: { params: async () => ({ name: `put-${++serial}` }) },
  deleteEventConsumer: { params: () => newConsumer() },
  acknowledgeEvents: {
    params: () => newConsumer(),
    body: () => lastCursor(),
    changes: { cursor: expect.any(String) },
  },
  putOperatorEventConsumer: { params: async () => ({ name: `put-${++serial}` }) },
  deleteOperatorEventConsumer: { params: newOperatorConsumer },
  acknowledgeOperatorEvents: {
    params: newOperatorConsumer,
    body: () => lastCursor('/v1/operator', operatorKey),
    changes: { cursor: expect.any(String) },
  },
  seekOperatorEventConsumer: {
    params: newOperatorConsumer,
    body: { after: 'start' },
    changes: { after: 'start' },
  },
  seekEventConsumer: { params: () => newConsumer(), body: { after: 'start' }, changes: { after: 'start' } },
  createWebhookEndpoint: {
    isSecret: true,
    target: answeredId,
    body: { ...hook, url: 'http://127.0.0.1:9/in?token=geheim', metadata: { a: 'geheim' } },
    changes: { url: 'http://127.0.0.1:9/in?…', enabled_event_types: ['a.*'], ordering: 'none' },
  },
  updateWebhookEndpoint: {
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
  deleteWebhookEndpoint: { params: newEndpoint },
  enableWebhookEndpoint: { params: newEndpoint },
  rotateWebhookSecret: {
    isSecret: true,
    params: newEndpoint,
    body: { expires_in: 60 },
    changes: { expires_in: 60 },
  },
  probeWebhookEndpoint: { params: newEndpoint, changes: { outcome: 'failed' } },
  recoverWebhookEndpoint: {
    params: newEndpoint,
    body: { since: 1_700_000_000 },
    changes: { since: 1_700_000_000, recovery_id: expect.stringMatching(/^rec_/) },
  },
  createOperatorWebhookEndpoint: {
    isSecret: true,
    target: answeredId,
    body: hook,
    changes: { url: hook.url, enabled_event_types: ['a.*'], ordering: 'none' },
  },
  updateOperatorWebhookEndpoint: {
    params: newOperatorEndpoint,
    body: { status: 'disabled' },
    changes: { status: { from: 'enabled', to: 'disabled' } },
  },
  deleteOperatorWebhookEndpoint: { params: newOperatorEndpoint },
  enableOperatorWebhookEndpoint: { params: newOperatorEndpoint },
  rotateOperatorWebhookSecret: {
    isSecret: true,
    params: newOperatorEndpoint,
    body: { expires_in: 60 },
    changes: { expires_in: 60 },
  },
  probeOperatorWebhookEndpoint: { params: newOperatorEndpoint, changes: { outcome: 'failed' } },
  recoverOperatorWebhookEndpoint: {
    params: newOperatorEndpoint,
    changes: { recovery_id: expect.stringMatching(/^rec_/) },
  },
  retryOperatorDelivery: { params: newOperatorDelivery },
  skipOperatorDelivery: { params: newOperatorDelivery },
  retryDelivery: { params: newDelivery },
  skipDelivery: { params: newDelivery },
  simulateEsim: {
    params: newEsim,
    body: { action: 'attach', country: 'FR' },
    changes: { action: 'attach' },
  },
  createApiKey: {
    isSecret: true,
    target: answeredId,
    body: { scopes: ['read'] },
    changes: expect.objectContaining({ scopes: ['read'] }),
  },
  updateApiKey: {
    params: newKey,
    body: { name: 'New' },
    changes: { name: { from: expect.any(String), to: 'New' } },
  },
  deleteApiKey: { params: newKey, changes: { name: expect.any(String) } },
  rollApiKey: {
    isSecret: true,
    params: newKey,
    changes: { new_key: expect.stringMatching(/^key_/), expires_at: expect.any(Object) },
  },
  deleteSession: {
    params: () => newSession(service.key, '/v1/sessions'),
    changes: { api_key: expect.stringMatching(/^key_/) },
  },
  deleteOperatorSession: {
    params: () => newSession(operatorKey, '/v1/operator/sessions'),
    changes: { api_key: expect.stringMatching(/^key_/) },
  },
  createAccount: {
    target: answeredId,
    body: { name: 'New' },
    changes: expect.objectContaining({ name: 'New' }),
  },
  updateAccount: {
    params: newAccount,
    body: { status: 'suspended' },
    changes: { status: { from: 'active', to: 'suspended' } },
  },
  eraseAccount: {
    params: async () => {
      const params = await newAccount();
      await call(service, 'DELETE', `/v1/operator/accounts/${params['id']}?terminate_esims=true`, {
        key: operatorKey,
      });
      return params;
    },
  },
  closeAccount: { params: newAccount, changes: { terminate_esims: false } },
  createAccountApiKey: {
    isSecret: true,
    target: answeredId,
    params: newAccount,
    body: { scopes: ['read'] },
    changes: expect.objectContaining({ scopes: ['read'] }),
  },
  deleteAccountApiKey: {
    params: newAccountKey,
    changes: { name: expect.any(String) },
  },
  retryExecution: {
    params: async () => ({ id: await insertWaiting(service) }),
    changes: { next_attempt_at: 'now' },
  },
  resolveExecution: {
    params: async () => ({ id: await insertUnknown(service) }),
    body: { outcome: 'not_reserved' },
    changes: { outcome: 'not_reserved' },
  },
  resyncCore: { target: () => 'core' },
  takeObservations: {
    target: ({ headers }) => headers.get('request-id') ?? '',
    body: async () => ({
      usage_records: [
        {
          record_id: `cdr-${++serial}`,
          iccid: await insertEsim(service),
          bytes: 1,
          at: Math.floor(Date.now() / 1_000),
        },
      ],
    }),
    changes: { accepted: 1, duplicates: 0, rejected: 0 },
  },
  retryFailureGroup: {
    also: ['execution.retried'],
    params: async () => {
      await service.db.pool.query('delete from failure_group_retries');
      await insertFailed(service, 'declined', exampleGroupId);
      return { id: exampleGroupId };
    },
    changes: { first: expect.stringMatching(/^exec_/), failed: expect.any(Number) },
  },
  putCatalogProduct: {
    params: async () => ({ id: `prod_${++serial}` }),
    body: catalogProduct,
    changes: expect.objectContaining({ name: catalogProduct.name }),
  },
  deactivateProduct: {
    params: async () => {
      const id = `prod_${++serial}`;
      await call(service, 'PUT', `/v1/operator/products/${id}`, { body: catalogProduct, key: operatorKey });
      return { id };
    },
    changes: { active: { from: true, to: false } },
  },
};

const cases = (Object.entries(writes) as [WriteId, Write][]).map(([id, write]) => {
  const definition: WriteOperation = operations[id];
  return { id, write, definition, actions: [definition.audit.action, ...(write.also ?? [])].sort() };
});

test('every operation that writes is called here', () => {
  const expected = Object.entries(operations).filter(([, definition]) => isWrite(definition));
  expect(Object.keys(writes).sort()).toEqual(expected.map(([id]) => id).sort());
});

describe.each(cases)('$id', ({ id, write, definition, actions }) => {
  const { action, target } = definition.audit;
  const isOperator = isOperators(definition);
  const key = () => (isOperator ? operatorKey : service.key);
  const shown = (what: AuditAction) =>
    call(service, 'GET', `/v1/${isOperator ? 'operator/' : ''}audit_log?action=${what}&limit=1`, {
      key: key(),
    });

  async function prepare() {
    const params = (await write.params?.()) ?? {};
    const body = typeof write.body === 'function' ? await write.body(params) : (write.body ?? {});
    const path = definition.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
    return { params, body, path };
  }

  test('leaves exactly its entries, and none when it is refused or rolled back', async () => {
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
    expect(await actionsAfter(before)).toEqual(actions);
    const [entry] = (await shown(action)).json.data;
    expect(entry).toMatchObject({
      actor: { type: isOperator ? 'operator' : 'api_key', name: 'Test' },
      action,
      target: { type: target, id: write.target?.(first) ?? Object.values(params).at(-1) },
      request_id: first.headers.get('request-id'),
      ip: '127.0.0.1',
      via: 'api',
    });
    expect(entry.changes).toEqual(write.changes);

    const told = await entriesAfter(before);
    const again = await send(id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const added = (await entriesAfter(before)).slice(told.length);
    expect(added.map((one) => one.action)).toEqual(write.isSecret ? ['secret.shown_again'] : []);
    if (!write.isSecret) return;
    expect(added).toMatchObject([{ account_id: told[0]?.account_id }]);
    expect((await shown('secret.shown_again')).json.data).toMatchObject([
      { target: { type: target, id: first.json.id }, request_id: again.headers.get('request-id') },
    ]);
  });

  test('without an idempotency key, and from the dashboard, leaves the same entries', async () => {
    const headers = await signIn(key());
    for (const way of ['api', 'dashboard']) {
      const { body, path } = await prepare();
      const before = await lastEntry();
      const { status } = await call(
        service,
        definition.method,
        way === 'api' ? path : `/dashboard/api${path}`,
        {
          ...(way === 'api' ? { key: key() } : { key: null, headers }),
          body,
        },
      );
      expect(status).toBe(definition.status);
      expect(await actionsAfter(before)).toEqual(actions);
      expect(new Set((await entriesAfter(before)).map(({ via }) => via))).toEqual(new Set([way]));
    }
  });
});

test('a recovery that is only previewed leaves no entry', async () => {
  const { id } = await newEndpoint();
  const headers = await signIn(service.key);
  const before = await lastEntry();
  for (const [path, options] of [
    ['', {}],
    ['', { idempotencyKey: 'previewed' }],
    ['/dashboard/api', { key: null, headers }],
  ] as const) {
    const { status } = await call(service, 'POST', `${path}/v1/webhook_endpoints/${id}/recover`, {
      ...options,
      body: { since: 1_700_000_000, dry_run: true },
    });
    expect(status).toBe(200);
  }
  expect(await entriesAfter(before)).toEqual([]);
});

test('a write that finds nothing to change leaves no entry', async () => {
  const { id: execution } = (await provision(service)).json;
  const [{ id: key }, { id: account, key_id: accountKey }] = await Promise.all([newKey(), newAccountKey()]);
  const writes = [
    ['PUT', `/v1/event_consumers/once`, service.key],
    ['POST', `/v1/executions/${execution}/cancel`, service.key],
    ['DELETE', `/v1/api_keys/${key}`, service.key],
    ['DELETE', `/v1/operator/accounts/${account}/api_keys/${accountKey}`, operatorKey],
  ] as const;
  const sendAll = async () => {
    for (const [method, path, by] of writes) {
      expect((await call(service, method, path, { body: {}, key: by })).status).toBe(200);
    }
  };
  await sendAll();
  const before = await lastEntry();
  await sendAll();
  expect(await entriesAfter(before)).toEqual([]);
});

test('a write by an agent’s tool is told as such', async () => {
  const tool = (name: string, args: object) =>
    call(service, 'POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25' },
    });
  const before = await lastEntry();
  await tool('send_test_event', { type: 'a.b', data: {}, idempotency_key: 'agent-1' });
  await tool('provision_esim', { product_id: 'prod_europe_5gb_30d', idempotency_key: 'agent-2' });
  expect(await entriesAfter(before)).toMatchObject([
    { action: 'event.test_sent', via: 'agent' },
    { action: 'esim.ordered', via: 'agent' },
  ]);
});

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

type Entry = { action: AuditAction; account_id: string | null; via: string | null };

/** In every account: an entry in the wrong one must not go unnoticed. */
async function entriesAfter(id: string): Promise<Entry[]> {
  const { rows } = await service.db.pool.query(
    'select action, account_id, via from audit_log where id::text > $1 order by id',
    [id],
  );
  return rows;
}

async function actionsAfter(id: string): Promise<AuditAction[]> {
  return (await entriesAfter(id)).map(({ action }) => action).sort();
}
