import type { FastifyInstance } from 'fastify';
import { Gauge } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMetricsApp } from '../../src/http/metrics-app.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import { call, provision } from '../support/client.ts';
import { openConnection } from '../support/raw-http.ts';
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
  const text = await service.service.metrics.registry.metrics();
  const line = text
    .split('\n')
    .find((line) => line.startsWith(name) && labels.every((label) => line.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
}

test('metrics count the outcomes of orders and deliveries', async () => {
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSender();
  receiver.answer((response, _, count) => response.writeHead(count === 1 ? 500 : 200).end());
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
  const attempts = (outcome: string) =>
    metric('simplane_delivery_attempt_duration_seconds_count', `outcome="${outcome}"`);
  await until(
    async () => [await attempts('succeeded'), await attempts('pending')],
    (seen) => JSON.stringify(seen) === '[2,1]',
  );
  const rates = Object.entries(service.service.metrics.throughput.read());
  expect(Object.fromEntries(rates.map(([name, { last_hour }]) => [name, last_hour]))).toMatchObject({
    ...{ executions_succeeded: 2, executions_failed: 1, attempts_succeeded: 2, attempts_failed: 1 },
  });
});

test('a worker that was stopped in a pause of the network, and starts again, is not shown as paused', async () => {
  const network = createMockNetwork({ delayMs: 0 });
  const reason = { code: 'network_unavailable', message: 'down' } as const;
  const order = async () => ({ kind: 'failed', reason, isDown: true }) as const;
  const pause = { afterFailures: 1, pauseMs: 3_600_000 };
  const worker = service.startWorker({ ...network, order }, { pause });
  await provision(service);
  const paused = () => metric('simplane_network_paused');
  await until(paused, (value) => value === 1);
  await worker.stop(0);
  service.startWorker(network);
  expect(await paused()).toBe(0);
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

test('an order that runs hides none that waits, and a lapsed lease counts from its end', async () => {
  const oldest = () => metric('simplane_queue_oldest_due_seconds', 'queue="executions"');
  const { pool } = service.db;
  const [running, waiting] = [(await provision(service)).json.id, (await provision(service)).json.id];
  const set = (id: string, text: string) =>
    pool.query(`update execution_queue set ${text} where id = $1`, [uuidOfId('exec', id)]);
  await set(running, `due_at = now() - interval '3 hours', leased_until = now() + interval '1 hour'`);
  await set(waiting, `due_at = now() - interval '1 hour'`);
  expect(await oldest()).toBeGreaterThanOrEqual(3_600);
  expect(await oldest()).toBeLessThan(7_200);
  await set(running, `leased_until = now() - interval '2 hours'`);
  expect(await oldest()).toBeGreaterThanOrEqual(7_200);
  expect(await oldest()).toBeLessThan(10_800);
});

test('a delivery counts as overdue only if it is sent as soon as somebody takes it, and hides no other', async () => {
  const oldest = () => metric('simplane_queue_oldest_due_seconds', 'queue="deliveries"');
  const { pool } = service.db;
  await call(service, 'POST', '/v1/webhook_endpoints', {
    body: { url: receiver.url, enabled_event_types: ['*'] },
  });
  for (let n = 0; n < 2; n++)
    await call(service, 'POST', '/v1/events/test', { body: { type: 'esim.suspended', data: {} } });
  await pool.query(`update delivery_queue set due_at = now() - interval '1 hour'`);
  await pool.query(
    `update delivery_queue set due_at = now() + interval '1 hour' where id = (select min(id::text)::uuid from delivery_queue)`,
  );
  expect(await oldest()).toBeGreaterThanOrEqual(3_600);
  await pool.query(`update webhook_endpoints set status = 'disabled'`);
  expect(await oldest()).toBe(0);
  const block = (position: number | null) =>
    pool.query(
      `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, position, created_at)
       select account_id, gen_random_uuid(), gen_random_uuid(), id, 'event', 'a', $1, now() - interval '2 hours'
       from webhook_endpoints`,
      [position],
    );
  await block(1);
  expect(await oldest()).toBe(0);
  await block(null);
  expect(await oldest()).toBeGreaterThanOrEqual(7_200);
});

test('metrics are served while PostgreSQL fails, without what only it knows', async () => {
  const query = () => Promise.reject(new Error('no database'));
  const text = await createMetrics({ ...service.db, query }).registry.metrics();
  expect(text).toMatch(/^process_uptime_seconds \d/m);
  expect(text).not.toMatch(/^simplane_(queue_oldest_due|core_behind)_seconds[ {]/m);
});

describe('the port of the metrics', () => {
  let app: FastifyInstance;
  let target: { url: string; key: string };
  beforeEach(async () => {
    app = createMetricsApp(service.service);
    target = { url: await app.listen({ host: '127.0.0.1', port: 0 }), key: '' };
  });
  afterEach(async () => {
    app.server.closeAllConnections();
    await app.close();
  });

  test('serves them as plain text that a browser does not guess the type of, and nothing else', async () => {
    const { status, headers, text } = await call(target, 'GET', '/metrics');
    expect([status, headers.get('Content-Type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('simplane_queue_oldest_due_seconds');
    const missing = await call(target, 'GET', '/v1/me');
    const wrong = await call(target, 'POST', '/metrics');
    expect([missing.status, wrong.status, wrong.headers.get('Allow')]).toEqual([404, 405, 'GET, HEAD']);
    for (const reply of [headers, missing.headers, wrong.headers])
      expect(reply.get('X-Content-Type-Options')).toBe('nosniff');
  });

  test('collects once for scrapes that come together, so that they take one database connection', async () => {
    let collected = 0;
    let arrived = 0;
    let finish = () => {};
    const isFinished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    new Gauge({
      name: 'collected',
      help: 'How often metrics were collected.',
      registers: [service.service.metrics.registry],
      async collect() {
        collected += 1;
        await isFinished;
        this.set(collected);
      },
    });
    app.server.on('request', () => {
      arrived += 1;
    });
    const scrapes = Array.from({ length: 12 }, () => call(target, 'GET', '/metrics'));
    await until(
      async () => arrived,
      (count) => count === 12,
    );
    await call(target, 'GET', '/another'); // by its answer, the others have begun
    finish();
    for (const { text } of await Promise.all(scrapes)) expect(text).toMatch(/^collected 1$/m);
    expect((await call(target, 'GET', '/metrics')).text).toMatch(/^collected 2$/m);
  });

  test('makes room for a scraper while others hold as many silent connections as it takes', async () => {
    const held = await Promise.all(Array.from({ length: 64 }, () => openConnection(target.url)));
    await until(
      () =>
        call(target, 'GET', '/metrics').then(
          ({ status }) => status,
          () => null,
        ),
      (status) => status === 200,
    );
    // They were closed for it, not because they timed out.
    expect(await metric('simplane_http_connections_cut_total', 'reason="too_many"')).toBeGreaterThan(1);
    for (const { socket } of held) socket.destroy();
  });
});
