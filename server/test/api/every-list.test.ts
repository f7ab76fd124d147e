import { idPrefixes, isOperators, type OperationId, operations } from '@simplane/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { createDatabaseClock } from '../../src/platform/db/database-clock.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { startHeartbeat } from '../../src/platform/processes/start-heartbeat.ts';
import { createThroughput } from '../../src/platform/telemetry/throughput.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const lists = (Object.keys(operations) as OperationId[]).filter((id) => {
  const operation = operations[id];
  return operation.method === 'GET' && 'query' in operation && 'starting_after' in operation.query.properties;
});

let service: TestService;
let operator: string;
/** What stands for `{…}` in the paths of lists that belong to something. */
let owners: Record<string, string>;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  service = await startService({ requestLogLevel: 'writes' });
  operator = await service.createKey({ scopes: ['operator', 'operator_write'] });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
  service.startSender();
  for (const first of ['898830300000000000', '898830400000000000']) stops.push(await startReporting(first));
  owners = await fill();
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await service.stop();
});

/** A process that has a range of ICCIDs and calls an SM-DP+. */
async function startReporting(first: string): Promise<() => Promise<void>> {
  const { db, newUuid } = service.service;
  const heartbeat = await startHeartbeat({
    ...{ db, newUuid, clock: createDatabaseClock(), role: 'worker', version: '1.2.3' },
    report: () => ({
      ...{ cell: null, encryption_keys: [], certificates: [], clock_skew_ms: 0 },
      iccid_ranges: [{ first, size: 100 }],
      networks: [
        {
          ...{ kind: 'smdp', host: `smdp-${first}.example`, reachable: true, latency_ms: 1, tried_ms_ago: 1 },
          ...{ last_error: null, peer_ends_at: null, paused: false },
        },
      ],
      throughput: createThroughput().read(),
    }),
    onError: (error) => {
      throw error;
    },
  });
  return heartbeat.stop;
}

async function request(method: string, path: string, body?: object) {
  const key = path.startsWith('/v1/operator') ? operator : service.key;
  const { status, text, json } = await call(service, method, path, { key, ...(body && { body }) });
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return json;
}

const fullService = { state: 'full', reason: null, kbps: null, bundle_id: null, until: null };

/** Makes at least two of everything that can be listed. */
async function fill(): Promise<Record<string, string>> {
  const endpoints: string[] = [];
  for (const [root, key] of [
    ['/v1', service.key],
    ['/v1/operator', operator],
  ] as const) {
    for (const name of ['a', 'b']) {
      const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
      const { id } = await request('POST', `${root}/webhook_endpoints`, body);
      endpoints.push(id);
      for (let n = 0; n < 2; n++)
        await request('POST', `${root}/webhook_endpoints/${id}/recover`, { since: 0 });
      await request('PUT', `${root}/event_consumers/${name}`, {});
      const signIn = { key: null, headers: { Origin: service.url }, body: { api_key: key } };
      expect((await call(service, 'POST', '/dashboard/api/session', signIn)).status).toBe(201);
    }
  }
  const iccid = await insertEsim(service);
  for (const action of ['download', 'install'])
    await request('POST', `/v1/sandbox/esims/${iccid}/simulate`, { action });
  let event = '';
  for (let n = 0; n < 2; n++) {
    event = (await request('POST', '/v1/events/test', { type: 'test.listed', data: {} })).id;
    await request('POST', `/v1/esims/${iccid}/install_links`, {});
    await request('POST', `/v1/esims/${iccid}/bundles`, { product_id: 'prod_europe_5gb_30d' });
    await request('POST', '/v1/batches', { product_id: 'prod_europe_5gb_30d', quantity: 1 });
    await request('POST', '/v1/api_keys', { scopes: ['read'] });
    await request('POST', '/v1/operator/accounts', { name: `Account ${n}` });
    await service.db.pool.query(
      `insert into core_queue (account_id, iccid, id, version, service, since, due_at, is_refused)
       values ($1, $2, gen_random_uuid(), 1, $3, now(), now(), false)`,
      [service.accountUuid, `898830300000000010${n}`, fullService],
    );
  }
  const at = Math.floor(service.clock.nowMs() / 1_000);
  const records = ['r1', 'r2'].map((record_id) => ({
    record_id,
    bytes: 1,
    at,
    iccid: '8999905000000000019',
  }));
  await request('POST', '/v1/usage_records', { records });
  const [ofAccount = '', , ofDeployment = ''] = endpoints;
  return {
    '/v1/esims/{iccid}': iccid,
    '/v1/events/{id}': event,
    '/v1/webhook_endpoints/{id}': ofAccount,
    '/v1/operator/webhook_endpoints/{id}': ofDeployment,
    '/v1/operator/accounts/{id}': idOfUuid(idPrefixes.account, service.accountUuid),
  };
}

function pathOf(id: OperationId): string {
  const { path } = operations[id];
  const [owner] = path.match(/.*\}/) ?? [];
  return owner === undefined ? path : path.replace(/\{\w+\}/, owners[owner] ?? `no-owner-for-${owner}`);
}

/** Lists to which other requests add meanwhile are asked for what is there already. */
const filters: Partial<Record<OperationId, string>> = { listRequests: 'operation=sendTestEvent&' };

test.each(lists)('%s, one item a page, has each of its items once, and then no next page', async (id) => {
  const page = (query: string) => request('GET', `${pathOf(id)}?${filters[id] ?? ''}${query}`);
  const { data: all } = await until(
    () => page('limit=100'),
    ({ data }) => data.length > 1,
  );
  const walked: Record<string, unknown>[] = [];
  for (let cursor = ''; walked.length <= all.length; ) {
    const { data, has_more, next_cursor } = await page(`limit=1${cursor}`);
    walked.push(...data);
    if (!has_more) break;
    cursor = `&starting_after=${next_cursor}`;
  }
  expect(walked.map(nameOf)).toEqual(all.map(nameOf));
  expect(isOperators(operations[id])).toBe(pathOf(id).startsWith('/v1/operator'));
});

/** What tells items of one list apart. */
const nameOf = (item: Record<string, unknown>) =>
  ['id', 'name', 'type', 'iccid', 'record_id', 'host', 'first'].map((field) => item[field]);
