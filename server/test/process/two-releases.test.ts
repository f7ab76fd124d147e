import { webhooks } from '@simplane/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, provision, type Reply } from '../support/client.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { buildLastRelease } from '../support/last-release.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_two_releases_sandbox';

let lastRelease: Awaited<ReturnType<typeof buildLastRelease>>;
let database: { url: string; drop(): Promise<void> };
let env: Record<string, string>;
/** Of the last release. It created the database. */
let older: ServerProcess;
/** Of this release. It migrated the database while the older one ran. */
let newer: ServerProcess;
let receiver: Receiver;

beforeAll(async () => {
  [lastRelease, database, receiver] = await Promise.all([
    buildLastRelease(),
    createEmptyDatabase(),
    startReceiver(),
  ]);
  env = {
    DATABASE_URL: database.url,
    SIMPLANE_API_KEY: key,
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 7).toString('base64'),
    SIMPLANE_MOCK_DELAY: '0s',
  };
  older = await spawnServer(env, { programs: lastRelease.programs });
  newer = await spawnServer(env);
});
afterAll(async () => {
  await newer?.end('SIGTERM');
  await older?.end('SIGTERM');
  await receiver?.stop();
  await database?.drop();
  await lastRelease?.remove();
});

const at = (server: ServerProcess) => ({ url: server.url, key });

/** Writes with a key, and returns how to repeat it elsewhere. */
function writer(method: string, path: string, idempotencyKey: string, body?: object) {
  return (server: ServerProcess): Promise<Reply> =>
    call(at(server), method, path, { idempotencyKey, ...(body && { body }) });
}

async function untilSucceeded(server: ServerProcess, executionId: string): Promise<string> {
  const read = async () => (await call(at(server), 'GET', `/v1/executions/${executionId}`)).json;
  const { status, iccid } = await until(read, (seen) => ['succeeded', 'failed'].includes(seen.status));
  expect(status).toBe('succeeded');
  return iccid;
}

test('what this release wrote is the same for processes of the last one: answers under a key, and every list and resource', async () => {
  const writes = [
    writer('POST', '/v1/webhook_endpoints', 'endpoint', { url: receiver.url, enabled_event_types: ['*'] }),
    writer('POST', '/v1/api_keys', 'api-key', { name: 'Made by the newer', scopes: ['read', 'write'] }),
    writer('POST', '/v1/events/test', 'test-event', { type: 'test.of_two_releases', data: {} }),
    // Accepted together: they share an entry of the audit log.
    ...Array.from({ length: 20 }, (_, n) =>
      writer('POST', '/v1/esims', `order-${n}`, { product_id: 'prod_europe_5gb_30d' }),
    ),
  ];
  const answers = await Promise.all(writes.map((write) => write(newer)));
  for (const { status, text } of answers) expect([201, 202], text).toContain(status);
  for (const [index, write] of writes.entries()) {
    const repeated = await write(older);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.text).toBe(answers[index]?.text);
  }
  const [endpoint, apiKey] = answers.map(({ json }) => json);
  await expectAllReadable(await writeMore(endpoint, apiKey, answers.at(-1)?.json.id));
});

/** Writes more at the newer process, and returns an id for each list. */
async function writeMore(
  endpoint: { id: string; created: number },
  apiKey: { id: string },
  execution: string,
): Promise<Record<string, string>> {
  const iccid = await untilSucceeded(newer, execution);
  const suspended = await call(at(newer), 'POST', `/v1/esims/${iccid}/suspend`);
  await untilSucceeded(older, suspended.json.id);
  await call(at(newer), 'PUT', '/v1/event_consumers/reader', { body: { after: 'start' } });
  const guess = { api_key: 'sp_test_a_guessed_key_of_a_stranger' };
  await call(at(newer), 'POST', '/dashboard/api/session', {
    ...{ key: null, headers: { Origin: newer.url }, body: guess },
  });
  const recovery = await call(at(newer), 'POST', `/v1/webhook_endpoints/${endpoint.id}/recover`, {
    body: { since: endpoint.created },
  });
  const [{ id: event }] = (await call(at(newer), 'GET', '/v1/events?limit=1')).json.data;
  const delivery = await until(
    async () => (await call(at(newer), 'GET', `/v1/events/${event}/deliveries`)).json.data[0]?.id,
    (id) => id !== undefined,
  );
  const request = recovery.headers.get('request-id') ?? '';
  await until(
    async () => (await call(at(newer), 'GET', `/v1/requests/${request}`)).status,
    (status) => status === 200, // it is written in batches
  );
  return {
    ...{ products: 'prod_europe_5gb_30d', esims: iccid, executions: execution, events: event },
    ...{ event_consumers: 'reader', webhook_endpoints: endpoint.id, deliveries: delivery },
    ...{ api_keys: apiKey.id, requests: request, recoveries: recovery.json.id },
    accounts: (await call(at(newer), 'GET', '/v1/me')).json.account.id,
  };
}

async function createOperatorKey(): Promise<string> {
  const made = await runInProcess(['keys', 'create', '--scopes', 'operator', '--json'], env);
  return JSON.parse(made.stdout)[0].key;
}

/** Reads at the older process all that it can read, by its own description of the API. */
async function expectAllReadable(ids: Record<string, string>): Promise<void> {
  const operatorKey = await createOperatorKey();
  const { paths } = (await call(at(older), 'GET', '/openapi.json')).json;
  const readable = Object.keys(paths).filter((path) => 'get' in paths[path]);
  expect(readable.length).toBeGreaterThan(40);
  for (const pattern of readable) {
    const path = pattern.replace(/(\w+)\/\{\w+\}/, (_, list: string) => `${list}/${ids[list]}`);
    const query = pattern === '/v1/search' ? '?q=esim' : '';
    const of = { key: pattern.startsWith('/v1/operator/') ? operatorKey : key };
    const [seen, expected] = await Promise.all(
      [older, newer].map((server) => call(at(server), 'GET', path + query, of)),
    );
    expect(seen?.status, `${path}: ${seen?.text}`).toBe(200);
    if (pattern.endsWith('audit_log')) expect(idsIn(seen)).toEqual(idsIn(expected));
  }
}

function idsIn(page: Reply | undefined): string[] {
  return page?.json.data.map(({ id }: { id: string }) => id);
}

test('after the newer process has stopped, the older one goes on: orders, and webhooks signed with secrets it did not make', async () => {
  const endpoint = await call(at(newer), 'POST', '/v1/webhook_endpoints', {
    body: { url: `${receiver.url}/after`, enabled_event_types: ['esim.provisioned'] },
  });
  expect(await newer.end('SIGTERM')).toBe(0);
  const ordered = await provision(at(older), 'after-the-way-back');
  await untilSucceeded(older, ordered.json.id);
  const [got] = await until(
    async () => receiver.received.filter(({ path }) => path === '/after'),
    (received) => received.length > 0,
  );
  const signature = got?.headers['service-signature'];
  await webhooks.verify(got?.body ?? '', signature, endpoint.json.secret, { toleranceSeconds: 3_600 });
});

test('what the older process put into the feed while it was alone is in the operator’s feed too', async () => {
  const feedOf = (path: string, of = {}) => call(at(newer), 'GET', `${path}?after=start&limit=1000`, of);
  const { json: alone } = await call(at(older), 'GET', '/v1/events/feed?after=start&limit=1000');
  expect(alone.data.at(-1).type).toBe('esim.provisioned');
  newer = await spawnServer(env);
  const ofAccount = idsIn(await feedOf('/v1/events/feed'));
  expect(ofAccount.slice(0, alone.data.length)).toEqual(alone.data.map(({ id }: { id: string }) => id));
  const ofAll = await feedOf('/v1/operator/events/feed', { key: await createOperatorKey() });
  expect(idsIn(ofAll).slice(0, alone.data.length)).toEqual(ofAccount.slice(0, alone.data.length));
});
