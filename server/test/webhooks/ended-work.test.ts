import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { releaseOrphanedClaims, startWork } from '../../src/background/start-work.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { call } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  service = await startService();
  receiver = await startReceiver();
  const body = { url: receiver.url, enabled_event_types: ['*'] };
  await call(service, 'POST', '/v1/webhook_endpoints', { body });
});
afterEach(async () => {
  vi.useRealTimers();
  await receiver.stop();
  await service.stop();
});

const publish = () => call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
const received = (number: number) =>
  until(
    async () => receiver.received.length,
    (count) => count >= number,
  );

test('a sender that stops stores what it has counted, also an attempt that it made again', async () => {
  receiver.answer((response, _, count) => response.writeHead(count === 1 ? 500 : 200).end());
  const sender = service.startSender();
  await publish();
  await received(2);
  await sender.stop(60_000);
  const { rows } = await service.db.pool.query(
    'select sum(succeeded_count)::int as succeeded, sum(failed_count)::int as failed from endpoint_hours',
  );
  expect(rows).toEqual([{ succeeded: 1, failed: 1 }]);
});

test('a worker whose beat no longer reaches PostgreSQL cuts off what it sends, and sends it again when it does', async () => {
  let isCut = false;
  let reconnect = () => {};
  const connected = new Promise<void>((resolve) => {
    reconnect = resolve;
  });
  const query: Database['query'] = async (statement, values) => {
    if (isCut && statement.name === 'worker_beat') await connected;
    return service.db.query(statement, values);
  };
  const parts = { ...service.service, db: { ...service.db, query } };
  const config = { ...readConfig({}).config, webhookTimeoutMs: 600_000 };
  let isCutOff = false;
  receiver.answer((response) =>
    response.on('close', () => {
      isCutOff = true;
    }),
  );
  const work = startWork(parts, config, { network: null, core: null }, () => {});
  onTestFinished(async () => {
    reconnect();
    await work.stop(0);
  });
  await until(
    async () => (await service.db.pool.query('select from workers')).rows,
    ({ length }) => length === 1,
  );
  await publish();
  await received(1);
  isCut = true;
  receiver.answer((response) => response.end());
  await until(
    async () => isCutOff,
    (is) => is,
    60_000,
  );
  reconnect();
  await received(2);
  const deliveries = await until(
    async () => (await service.db.pool.query('select status, attempt_count from deliveries')).rows,
    ({ length }) => length === 1,
  );
  expect(deliveries).toEqual([{ status: 'succeeded', attempt_count: 1 }]);
});

test('a worker that was stopped does not warn that its beat is missing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  const work = startWork(service.service, readConfig({}).config, { network: null, core: null }, () => {});
  await work.stop(0);
  vi.advanceTimersByTime(60_000);
  expect(service.logLines.join('')).not.toContain('no beat of this worker');
});

test('a process starts although it cannot release the claims of an earlier one, as their leases expire', async () => {
  const query = () => Promise.reject(new Error('away'));
  await releaseOrphanedClaims({ ...service.db, query }, service.service.log);
  expect(service.logLines.join('')).toContain('claims of an earlier process were not released');
});
