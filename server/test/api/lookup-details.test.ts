import { type Operation, operations } from '@simplane/contract';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());

test('every parameter of every list and look-up is refused if it is empty', async () => {
  const operatorKey = await service.createKey({ scopes: ['operator'] });
  const reads = (Object.values(operations) as Operation[]).filter(
    ({ method, query }) => query && method === 'GET',
  );
  let count = 0;
  for (const { path, scope, query } of reads) {
    const key = scope === 'operator' ? operatorKey : service.key;
    for (const [name, schema] of Object.entries(query?.properties ?? {})) {
      if (name === 'starting_after') continue;
      const param = (schema as { type?: string }).type === 'object' ? `${name}[key]` : name;
      const required = (query?.required ?? [])
        .filter((other) => other !== name)
        .map((other) => `&${other}=x`);
      const url = `${path.replaceAll(/\{\w+\}/g, 'x')}?${encodeURIComponent(param)}=${required.join('')}`;
      const { status, json } = await call(service, 'GET', url, { key });
      expect([url, status, json.error?.param]).toEqual([url, 400, param]);
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(60);
});

test('usage has 30 days, or 24 hours, up to the present one', async () => {
  const iccid = await insertEsim(service);
  for (const [interval, count, seconds] of [
    ['day', 30, 86_400],
    ['hour', 24, 3_600],
  ] as const) {
    const { json } = await call(service, 'GET', `/v1/esims/${iccid}/usage?interval=${interval}`);
    expect(json.points).toHaveLength(count);
    const now = service.clock.nowMs() / 1_000;
    expect(json.points.at(-1).start).toBe(Math.floor(now / seconds) * seconds);
  }
});

test('the timeline names the requests that ordered', async () => {
  const body = { product_id: 'prod_europe_5gb_30d' };
  const requests = new Map<string, string>();
  async function order(method: 'POST' | 'DELETE', path: string) {
    const { json, headers } = await call(
      service,
      method,
      path,
      method === 'POST' ? { body: path.endsWith('suspend') ? {} : body } : {},
    );
    requests.set(json.id, headers.get('request-id') ?? '');
    return until(
      async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json,
      ({ status }) => status === 'succeeded',
    );
  }
  const { iccid } = await order('POST', '/v1/esims');
  await order('POST', `/v1/esims/${iccid}/bundles`);
  await order('POST', `/v1/esims/${iccid}/suspend`);
  await order('DELETE', `/v1/esims/${iccid}`);
  const { data } = (await call(service, 'GET', `/v1/esims/${iccid}/timeline?limit=100`)).json;
  type Entry = { id: string; event_id?: string; request_id?: string };
  const shown = data
    .filter((entry: Entry) => !entry.event_id)
    .map((entry: Entry) => [entry.id, entry.request_id]);
  expect(shown).toEqual([...requests].reverse());
  expect(data.some((entry: Entry) => entry.event_id && 'request_id' in entry)).toBe(false);
});

test('the timeline names the request that ordered, not one that retried the order', async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  const operatorKey = await own.createKey({ scopes: ['operator', 'operator_write'] });
  const { json: order, headers } = await provision(own);
  const retry = `/v1/operator/executions/${order.id}/retry`;
  expect((await call(own, 'POST', retry, { key: operatorKey })).status).toBe(202);
  own.startWorker(createMockNetwork({ delayMs: 0 }));
  const { iccid } = await until(
    async () => (await call(own, 'GET', `/v1/executions/${order.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  const { data } = (await call(own, 'GET', `/v1/esims/${iccid}/timeline`)).json;
  const entry = data.find(({ id }: { id: string }) => id === order.id);
  expect(entry.request_id).toBe(headers.get('request-id'));
});

test('the timeline names the request that ordered, however often the code was looked at since', async () => {
  const iccid = await insertEsim(service);
  const body = { product_id: 'prod_europe_5gb_30d' };
  const { json: added, headers } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body });
  await service.db.pool.query(
    `insert into audit_log (account_id, id, actor_type, action, target_type, target_id, request_id, created_at)
     select $1, uuid_v7(now() + interval '5 minutes'), 'api_key', 'esim.install_profile_viewed', 'esim', $2, 'req_1', now()
     from generate_series(1, 1000)`,
    [service.accountUuid, iccid],
  );
  const { data } = (await call(service, 'GET', `/v1/esims/${iccid}/timeline?limit=100`)).json;
  const ordered = data.find(({ id }: { id: string }) => id === added.id);
  expect(ordered.request_id).toBe(headers.get('request-id'));
});

test('the timeline names no request where the audit log knows none, as of what a command has ordered', async () => {
  const own = await startService();
  onTestFinished(() => own.stop());
  own.startWorker(createMockNetwork({ delayMs: 0 }));
  const { json: order } = await provision(own);
  const { iccid } = await until(
    async () => (await call(own, 'GET', `/v1/executions/${order.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  const body = { product_id: 'prod_europe_5gb_30d' };
  const { json: added } = await call(own, 'POST', `/v1/esims/${iccid}/bundles`, { body });
  await own.db.pool.query('update audit_log set request_id = null where account_id = $1', [own.accountUuid]);
  const { data } = (await call(own, 'GET', `/v1/esims/${iccid}/timeline?limit=100`)).json;
  for (const { id } of [order, added]) {
    const entry = data.find((one: { id: string }) => one.id === id);
    expect([id, entry?.id, 'request_id' in entry]).toEqual([id, id, false]);
  }
});
