import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call, provision } from '../support/client.ts';
import { exchange, head } from '../support/raw-http.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  service = await startService();
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.stop();
  await service.stop();
});

/** The value of one series; undefined when there is none. */
async function metric(name: string, ...labels: string[]): Promise<number | undefined> {
  const { text } = await call(service, 'GET', '/metrics', { key: null });
  const line = text
    .split('\n')
    .find((line) => line.startsWith(name) && labels.every((label) => line.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
}

test('metrics count the outcomes of orders and deliveries', async () => {
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSender();
  await call(service, 'POST', '/v1/webhook_endpoints', {
    body: { url: receiver.url, enabled_event_types: ['esim.provisioned'] },
  });
  await provision(service);
  await provision(service, undefined, { product_id: 'prod_sandbox_flaky' });
  await provision(service, undefined, { product_id: 'prod_sandbox_declined' });
  const executions = (outcome: string) => metric('simplane_executions_total', `outcome="${outcome}"`);
  await until(
    async () => [await executions('succeeded'), await executions('failed'), await executions('postponed')],
    (seen) => JSON.stringify(seen) === '[2,1,2]',
  );
  await until(
    () => metric('simplane_delivery_attempt_duration_seconds_count', 'outcome="succeeded"'),
    (count) => count === 2,
  );
});

test('metrics show how long the oldest due work has waited, without failing endpoints', async () => {
  const oldest = (queue: string) => metric('simplane_queue_oldest_due_seconds', `queue="${queue}"`);
  expect([await oldest('executions'), await oldest('deliveries')]).toEqual([0, 0]);
  await provision(service);
  await call(service, 'POST', '/v1/webhook_endpoints', {
    body: { url: receiver.url, enabled_event_types: ['*'] },
  });
  await call(service, 'POST', '/v1/events/test', { body: { type: 'esim.suspended', data: {} } });
  const backdate = (text: string) => service.db.query({ name: text, text });
  await backdate(`update execution_queue set due_at = now() - interval '1 hour'`);
  await backdate(`update delivery_queue set due_at = now() - interval '2 hours'`);
  expect(await oldest('executions')).toBeGreaterThanOrEqual(3_600);
  expect(await oldest('deliveries')).toBeGreaterThanOrEqual(7_200);
  await backdate(`update webhook_endpoints set failing_since = now()`);
  expect(await oldest('deliveries')).toBe(0);
});

test('metrics are served only to loopback clients with a loopback Host and no proxy headers', async () => {
  const status = async (headers: Record<string, string>) =>
    (await exchange(service.url, head('GET', '/metrics', headers))).status;
  for (const host of [
    'localhost',
    'LOCALHOST:4000',
    '127.0.0.1',
    '127.0.0.1:4000',
    '127.1.2.3',
    '[::1]:4000',
  ])
    expect([host, await status({ Host: host })]).toEqual([host, 200]);
  const scraper = { 'User-Agent': 'Prometheus/3.5.0', 'X-Prometheus-Scrape-Timeout-Seconds': '10' };
  expect(await status({ ...scraper, Accept: 'text/plain', 'Accept-Encoding': 'gzip' })).toBe(200);

  for (const host of ['api.example.com', 'localhost.example.com', '127.0.0.1.example.com', '10.0.0.1', ''])
    expect([host, await status({ Host: host })]).toEqual([host, 404]);
  for (const name of forwardingHeaders) {
    expect([name, await status({ [name]: '127.0.0.1' })]).toEqual([name, 404]);
    expect([name, await status({ [name.toUpperCase()]: '' })]).toEqual([name, 404]);
  }
  const old = await exchange(service.url, 'GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:4000\r\n\r\n');
  expect([old.status, old.json.error.code]).toEqual([404, 'route_missing']);
});

const forwardingHeaders = [
  'Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Port',
  'X-Forwarded-Prefix',
  'X-Forwarded',
  'Forwarded-For',
  'X-Real-IP',
  'Via',
  'CF-Connecting-IP',
  'CF-Ray',
  'True-Client-IP',
  'X-Client-IP',
  'Client-IP',
  'X-Cluster-Client-IP',
  'Fastly-Client-IP',
  'Fly-Client-IP',
  'X-Envoy-External-Address',
  'X-Envoy-Expected-Rq-Timeout-Ms',
  'X-Original-Forwarded-For',
  'X-Original-URL',
  'X-Amzn-Trace-Id',
  'X-Varnish',
  'X-Trace-Id',
  'X-Amz-Cf-Id',
  'X-Azure-ClientIP',
  'X-Appengine-User-IP',
  'X-Remote-IP',
  'X-Remote-Addr',
  'X-ProxyUser-IP',
  'X-Request-ID',
  'Proxy-Connection',
];
