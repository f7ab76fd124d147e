import { exampleCursor, exampleEvent, exampleGroupId } from '@simplane/contract';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { deployment } from '../../src/accounts/deployment.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { queueForDeployment } from '../../src/notify/webhooks/deployment-deliveries.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { type ExistingIds, fixedRequests, requestTo, unstorableBody } from '../support/arbitraries.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { insertFailed, insertUnknown, insertWaiting } from '../support/insert-executions.ts';
import { type OpenApi, operationsOf, responseChecker } from '../support/openapi-schemas.ts';
import { type RawRequest, send } from '../support/raw-http.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

// Before test collection: the OpenAPI document of the running service defines the tests.
const service = await startService({ requestLogLevel: 'writes', core: 'state' });
service.startCore({ setService: async () => ({ kind: 'done', result: {} }) });
afterAll(() => service.stop());

const document: OpenApi = (await call(service, 'GET', '/openapi.json', { key: null })).json;
const operations = operationsOf(document);
/** Formats of install profiles besides JSON. */
const pictures = [
  ...['image/png', 'image/svg+xml', 'text/csv; charset=utf-8', 'application/x-ndjson', 'application/zip'],
];
const operatorKey = await service.createKey({ scopes: ['operator', 'operator_write'] });

let shared: Promise<ExistingIds> | undefined;

/** Operations that end no object, because they read or name none, share their ids. */
function idsFor(operation: { method: string; path: string }): Promise<ExistingIds> {
  const isOwn = operation.path.startsWith('/v1/requests/') || operation.path.endsWith('/erasure');
  const mayEnd = operation.method !== 'GET' && operation.path.includes('{');
  if (mayEnd || isOwn) return existingIds(operation);
  shared ??= existingIds(operation);
  return shared;
}

/**
 * One of everything that a path can name, created per operation, since some operations end their object. The worker stops
 * afterwards, so no fuzzed order changes them.
 */
async function existingIds({ path }: { path: string }): Promise<ExistingIds> {
  const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
  const settled = async (accepted: Reply) =>
    until(
      async () => (await call(service, 'GET', `/v1/executions/${accepted.json.id}`)).json,
      ({ status }) => status === 'succeeded',
    );
  const [plain, suspended] = [
    await settled(await provision(service)),
    await settled(await provision(service)),
  ];
  await settled(await call(service, 'POST', `/v1/esims/${suspended.iccid}/suspend`));
  const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
  const endpoint = await call(service, 'POST', '/v1/webhook_endpoints', { body });
  const { json: event } = await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
  const deliveries = await call(service, 'GET', `/v1/events/${event.id}/deliveries`);
  const recovery = await call(service, 'POST', `/v1/webhook_endpoints/${endpoint.json.id}/recover`, {
    body: { since: 0 },
  });
  // Requests of the fuzz may have left as many unfinished as there can be.
  await service.db.pool.query('update batches set finished_at = now()');
  const batch = await call(service, 'POST', '/v1/batches', {
    body: { product_id: plain.product_id, quantity: 2 },
  });
  await worker.stop(0);
  const key = await call(service, 'POST', '/v1/api_keys', { body: { scopes: ['read'] } });
  const otherAccount = await service.createAccount('Other');
  const otherKey = await call(service, 'GET', '/v1/me', { key: otherAccount.key });
  const request = recovery.headers.get('request-id') as string;
  if (path.startsWith('/v1/requests/')) {
    await until(
      () => call(service, 'GET', `/v1/requests/${request}`),
      ({ status }) => status === 200,
    );
  }
  await insertFailed(service, 'declined', exampleGroupId);
  const consumer = await call(service, 'PUT', '/v1/event_consumers/fuzzed');
  const sessions = [
    await newSession(service.key, '/v1/sessions'),
    await newSession(operatorKey, '/v1/operator/sessions'),
  ];
  if (/\/eras(e|ure)$/.test(path)) await makeErasable(path, plain.iccid, otherAccount.accountUuid);
  return {
    products: ['prod_europe_5gb_30d', 'prod_sandbox_flaky'],
    executions: [plain.id, await insertWaiting(service), await insertUnknown(service)],
    failure_groups: [exampleGroupId],
    esims: [plain.iccid, suspended.iccid],
    bundles: await Promise.all([plain, suspended].map(({ iccid }) => firstBundle(iccid))),
    install_links: await Promise.all([plain, suspended].map(({ iccid }) => newInstallLink(iccid))),
    webhook_endpoints: [endpoint.json.id],
    events: [event.id],
    deliveries: [deliveries.json.data[0].id],
    recoveries: [recovery.json.id],
    batches: [batch.json.id],
    requests: [request],
    event_consumers: [consumer.json.name],
    accounts: [idOfUuid('acct', otherAccount.accountUuid)],
    api_keys: [key.json.id, otherKey.json.api_key.id],
    sessions,
  };
}

/** What the deployment has like an account. */
async function idsOfDeployment(): Promise<ExistingIds> {
  const asOperator = (method: string, path: string, body = {}) =>
    call(service, method, `/v1/operator/${path}`, { key: operatorKey, ...(method !== 'GET' && { body }) });
  // Requests of the fuzz may have created as many as there can be.
  await service.db.pool.query('delete from webhook_endpoints where account_id = $1', [deployment.uuid]);
  const { json: endpoint } = await asOperator('POST', 'webhook_endpoints', {
    ...{ url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] },
  });
  await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
  await sequenceEvents(service);
  await queueForDeployment(service.service);
  const deliveries = await asOperator('GET', `webhook_endpoints/${endpoint.id}/deliveries`);
  const recovery = await asOperator('POST', `webhook_endpoints/${endpoint.id}/recover`);
  const consumer = await asOperator('PUT', 'event_consumers/fuzzed');
  return {
    webhook_endpoints: [endpoint.id],
    deliveries: [deliveries.json.data[0].id],
    recoveries: [recovery.json.id],
    event_consumers: [consumer.json.name],
  };
}

async function firstBundle(iccid: string): Promise<string> {
  return (await call(service, 'GET', `/v1/esims/${iccid}/bundles`)).json.data[0].id;
}

async function newInstallLink(iccid: string): Promise<string> {
  return (await call(service, 'POST', `/v1/esims/${iccid}/install_links`)).json.id;
}

async function newSession(key: string, path: string): Promise<string> {
  await call(service, 'POST', '/dashboard/api/session', {
    ...{ key: null, headers: { Origin: service.url }, body: { api_key: key } },
  });
  return (await call(service, 'GET', `${path}?limit=1`, { key })).json.data[0].id;
}

/** The documented examples are no cursor and no event of this account, so no acknowledgement or replay would succeed. */
function withExisting<Operation extends object>(
  operation: Operation,
  { cursor, event }: { cursor: string; event: string },
): Operation {
  const text = JSON.stringify(operation).replaceAll(exampleCursor, cursor);
  return JSON.parse(text.replaceAll(exampleEvent('esim.provisioned').id, event));
}

function authorizationFor({ path }: { path: string }): string {
  return `Bearer ${path.startsWith('/v1/operator/') ? operatorKey : service.key}`;
}

/** The feed would hold back an empty page for so many seconds. */
function withoutWaiting(path: string): string {
  return path.replaceAll(/(?<=[?&]wait=)\d{1,2}(?=&|$)/g, '0');
}

function expectDocumented(reply: Reply, check: (status: number, json: unknown) => string | null): void {
  expect(reply.status, reply.text).toBeLessThan(500);
  expect(reply.headers.get('request-id')).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(reply.headers.get('service-version')).toBe('2026-11-01');
  if (pictures.includes(reply.headers.get('content-type') ?? '')) return;
  expect(check(reply.status, reply.json), reply.text).toBeNull();
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(
    textsOf(reply).filter((text) => /\p{Surrogate}/u.test(text)),
    'half of a surrogate pair',
  ).toEqual([]);
  // A replayed refusal is byte-identical, so it has the id of the first request.
  const isReplay = reply.headers.get('idempotent-replayed') === 'true';
  if (reply.status >= 400 && !isReplay)
    expect(reply.json.error.request_id).toBe(reply.headers.get('request-id'));
}

function textsOf(reply: Reply): string[] {
  const texts: string[] = [];
  JSON.parse(reply.text, (_, value: unknown) => {
    if (typeof value === 'string') texts.push(value);
  });
  return texts;
}

/** Limits how long a failing run shrinks its counterexample. */
const bounds = { interruptAfterTimeLimit: 240_000, markInterruptAsFailure: true };

/** Ends an eSIM and an account, and erases them for an operation that shows that. */
async function makeErasable(path: string, iccid: string, accountUuid: string): Promise<void> {
  const account = `/v1/operator/accounts/${idOfUuid('acct', accountUuid)}`;
  await call(service, 'DELETE', `${account}?terminate_esims=true`, { key: operatorKey });
  await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
  if (path.endsWith('/erase')) return;
  await call(service, 'POST', `${account}/erase`, { key: operatorKey });
  await call(service, 'POST', `/v1/esims/${iccid}/erase`);
}

test('the document describes at least 32 operations', () => {
  expect(operations.length).toBeGreaterThanOrEqual(32);
});

describe.each(operations)('$method $path', (operation) => {
  const check = responseChecker(document, operation);

  test('answers every request as documented, and never with a server error', async () => {
    const seen = new Set<number>();
    const existing = await idsFor(operation);
    // The operator changes products, and orders need theirs as it is.
    const isOperator = operation.path.startsWith('/v1/operator/');
    const ids = isOperator
      ? { ...existing, products: ['prod_th_unlimited_10d'], ...(await idsOfDeployment()) }
      : existing;
    const { cursor } = isOperator
      ? (await call(service, 'GET', '/v1/operator/events/feed', { key: operatorKey })).json
      : (await call(service, 'GET', '/v1/events/feed')).json;
    const described = withExisting(operation, { cursor, event: existing.events?.[0] ?? '' });
    const expectAnswer = async (request: RawRequest) => {
      const reply = await send(service.url, {
        ...request,
        path: withoutWaiting(request.path),
        headers: { ...request.headers, Authorization: authorizationFor(operation) },
      });
      seen.add(reply.status);
      expectDocumented(reply, check);
    };
    const hasSeen = (from: number, to: number) => [...seen].some((status) => status >= from && status < to);
    // A run is only meaningful if some requests succeed and some are refused. Most operations need few of the fixed ones for that.
    for (const [count, request] of fixedRequests(described, ids, 30).entries()) {
      if (count >= 8 && hasSeen(200, 300) && hasSeen(400, 500)) break;
      await expectAnswer(request);
    }
    expect([hasSeen(200, 300), hasSeen(400, 500)]).toEqual([true, true]);
    // A body can be wrong in more ways.
    const numRuns = operation.method === 'GET' ? 4 : 6;
    await fc.assert(fc.asyncProperty(requestTo(described, ids), expectAnswer), { numRuns, ...bounds });
  });

  test('answers every invalid Authorization header with 401', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
      fc.string({ unit: 'grapheme-ascii', maxLength: 60 }).map((text) => `Bearer ${text}`),
      fc
        .string({ unit: fc.constantFrom('é', 'ÿ', ' ', 's', 'p', '_') })
        .map((text) => `Bearer sp_test_${text}`),
      fc.constantFrom('Bearer', 'Bearer ', 'bearer sp_live_x', `Bearer ${'k'.repeat(8_000)}`),
    );
    await fc.assert(
      fc.asyncProperty(value, async (authorization) => {
        const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
        const headers = { Authorization: authorization };
        const reply = await send(service.url, {
          method: operation.method,
          path,
          headers,
          body: null,
          chunked: false,
        });
        expectDocumented(reply, check);
        expect(reply.status).toBe(401);
      }),
      // The same code answers for every operation, so that each adds a few.
      { numRuns: 2, ...bounds },
    );
  });
});

describe.each(operations.filter(({ method }) => method !== 'GET'))('$method $path', (operation) => {
  const check = responseChecker(document, operation);

  test('refuses a value that cannot be stored, wherever it is in the body', async () => {
    await fc.assert(
      fc.asyncProperty(unstorableBody(operation.body), async (text) => {
        const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
        const headers = { Authorization: authorizationFor(operation), 'Content-Type': 'application/json' };
        const body = Buffer.from(text);
        const reply = await send(service.url, {
          method: operation.method,
          path,
          headers,
          body,
          chunked: false,
        });
        expectDocumented(reply, check);
        expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request_error']);
      }),
      { numRuns: 6, ...bounds },
    );
  });
});

test('the fuzzed service still answers, and its data can be read', async () => {
  expect((await call(service, 'GET', '/readyz')).status).toBe(200);
  const check = operations.find(({ operationId }) => operationId === 'listExecutions');
  if (!check) throw new Error('listExecutions is not described');
  const reply = await call(service, 'GET', '/v1/executions?limit=100');
  expectDocumented(reply, responseChecker(document, check));
  expect(reply.json.data.length).toBeGreaterThan(1);
});
