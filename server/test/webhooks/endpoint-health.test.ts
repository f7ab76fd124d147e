import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { reportHealth } from '../../src/notify/webhooks/endpoints/report-health.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import { call, type Reply } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Receiver;
let isBroken = false;
beforeEach(async () => {
  service = await startService();
  receiver = await startReceiver();
  isBroken = true;
  receiver.answer((response, { path }) =>
    response.writeHead(path.startsWith('/bad') && isBroken ? 503 : 200).end(),
  );
});
afterEach(async () => {
  await receiver.stop();
  await service.stop();
});

async function createEndpoint(path: string, types = ['*']): Promise<string> {
  const body = { url: `${receiver.url}${path}?token=hush`, enabled_event_types: types };
  return (await call(service, 'POST', '/v1/webhook_endpoints', { body })).json.id;
}

async function publish(): Promise<void> {
  const body = { type: 'esim.provisioned', data: {} };
  expect((await call(service, 'POST', '/v1/events/test', { body })).status).toBe(202);
}

function endpoint(id: string): Promise<Reply['json']> {
  return call(service, 'GET', `/v1/webhook_endpoints/${id}`).then(({ json }) => json);
}

function failures(id: string, count: number): Promise<Reply['json']> {
  return until(
    () => endpoint(id),
    ({ failure_count }) => failure_count >= count,
  );
}

function success(id: string): Promise<Reply['json']> {
  return until(
    () => endpoint(id),
    ({ failing_since, last_success_at }) => failing_since === null && last_success_at !== null,
  );
}

async function healthEvents(): Promise<{ type: string; data: Record<string, unknown> }[]> {
  return (await call(service, 'GET', '/v1/events?type=webhook_endpoint.*')).json.data.reverse();
}

const typesOf = async () => (await healthEvents()).map(({ type }) => type.split('.')[1]);

const rule = { afterMs: 60_000, minFailures: 3 };

/** What every process's chore does each second. */
function report(processes = 1): Promise<unknown> {
  return Promise.all(
    Array.from({ length: processes }, () => reportHealth(service.db, service.service, rule)),
  );
}

function enable(id: string): Promise<Reply> {
  return call(service, 'POST', `/v1/webhook_endpoints/${id}/enable`);
}

const healthy = { failing_since: null, failure_count: 0, last_error: null, next_attempt_at: null };

test('an endpoint shows since when, how often and why it fails, and nothing of it after a success', async () => {
  service.startSender({ retryScheduleMs: [20, 20, 3_600_000] });
  const id = await createEndpoint('/bad');
  expect(await endpoint(id)).toMatchObject({ ...healthy, last_success_at: null });
  const createdAt = Math.floor(service.clock.nowMs() / 1000);
  await publish();
  const failing = await failures(id, 3);
  expect(failing).toMatchObject({
    status: 'enabled',
    failing_since: expect.any(Number),
    failure_count: 3,
    last_success_at: null,
    last_error: 'status 503',
  });
  expect(failing.failing_since).toBeGreaterThanOrEqual(createdAt);
  const inAnHour = Math.floor(Date.now() / 1000) + 3_600;
  expect(Math.abs(failing.next_attempt_at - inAnHour)).toBeLessThan(1_000);
  expect((await call(service, 'GET', '/v1/webhook_endpoints')).json.data).toEqual([failing]);

  isBroken = false;
  await publish();
  expect(await success(id)).toMatchObject({ ...healthy, last_success_at: expect.any(Number) });
});

test('the last error of an endpoint that cannot be reached is its cause', async () => {
  service.startSender({ retryScheduleMs: [] });
  const id = await createEndpoint('/bad');
  await receiver.stop();
  await publish();
  expect(await failures(id, 1)).toMatchObject({ last_error: 'connection refused', next_attempt_at: null });
});

test('the next attempt of a failing endpoint is that of the delivery that is due first', async () => {
  const id = await createEndpoint('/bad');
  for (let count = 0; count < 3; count++) await publish();
  await service.db.pool.query('update webhook_endpoints set failing_since = now(), failure_count = 3');
  const dueAt = (hour: number) => `2099-01-01T0${hour}:00:00Z`;
  await service.db.pool.query(
    `update delivery_queue q
     set attempt_count = 1, due_at = ($1::timestamptz[])[place.n::integer]
     from (select id, row_number() over (order by id) as n from delivery_queue) place
     where q.id = place.id`,
    [[2, 1, 3].map(dueAt)],
  );
  expect((await endpoint(id)).next_attempt_at).toBe(Date.parse(dueAt(1)) / 1_000);
});

test('a success of a healthy endpoint writes its row once a minute', async () => {
  service.startSender();
  const id = await createEndpoint('/good');
  const version = async () => {
    const { rows } = await service.db.pool.query('select xmin::text from webhook_endpoints');
    return rows[0].xmin as string;
  };
  const delivered = (count: number) =>
    until(
      async () =>
        (await call(service, 'GET', `/v1/webhook_endpoints/${id}/deliveries?status=succeeded`)).json.data,
      ({ length }) => length === count,
    );
  await publish();
  await delivered(1);
  const first = await version();
  service.clock.advance(50_000);
  await publish();
  await delivered(2);
  expect(await version()).toBe(first);
  service.clock.advance(20_000);
  await publish();
  await delivered(3);
  expect(await version()).not.toBe(first);
});

describe('webhook_endpoint.failing', () => {
  test('is written once after the time and the failures, by however many processes, and not sent to itself', async () => {
    service.startSender({ retryScheduleMs: Array(3).fill(20) });
    const bad = await createEndpoint('/bad');
    await createEndpoint('/good', ['webhook_endpoint.*']);
    await publish();
    const { failing_since } = await failures(bad, 4);
    await report();
    expect(await healthEvents()).toEqual([]);
    service.clock.advance(61_000);
    await Promise.all([report(3), report(3)]);
    await report();
    const events = await healthEvents();
    expect(events).toMatchObject([
      {
        type: 'webhook_endpoint.failing',
        data: {
          webhook_endpoint_id: bad,
          url: `${receiver.url}/bad`,
          failing_since,
          failure_count: 4,
          last_error: 'status 503',
        },
      },
    ]);
    const told = () => receiver.received.filter(({ body }) => body.includes('webhook_endpoint.failing'));
    await until(
      async () => told().length,
      (count) => count > 0,
    );
    expect(told().map(({ path }) => path)).toEqual(['/good?token=hush']);
    const { json } = await call(service, 'GET', `/v1/webhook_endpoints/${bad}/deliveries`);
    expect(json.data).toHaveLength(1);
  });

  test('is not written for two failures, however long ago', async () => {
    service.startSender({ retryScheduleMs: [20] });
    const bad = await createEndpoint('/bad');
    await publish();
    await failures(bad, 2);
    service.clock.advance(86_400_000);
    await report();
    expect(await healthEvents()).toEqual([]);
  });

  test('is not written for an endpoint that its owner has disabled', async () => {
    service.startSender({ retryScheduleMs: Array(3).fill(20) });
    const bad = await createEndpoint('/bad');
    await publish();
    await failures(bad, 4);
    await call(service, 'PATCH', `/v1/webhook_endpoints/${bad}`, { body: { status: 'disabled' } });
    service.clock.advance(61_000);
    await report();
    expect(await healthEvents()).toEqual([]);
  });

  test('is lost by no rollback: the mark and the event commit together', async () => {
    service.startSender({ retryScheduleMs: Array(3).fill(20) });
    const bad = await createEndpoint('/bad');
    await publish();
    await failures(bad, 4);
    service.clock.advance(61_000);
    const dying = {
      ...service.db,
      transaction: <T>(work: Parameters<typeof service.db.transaction<T>>[0]) =>
        service.db.transaction<T>(async (tx) => {
          await work(tx);
          throw new Error('killed before the commit');
        }),
    };
    await expect(reportHealth(dying, service.service, rule)).rejects.toThrow('killed');
    expect(await typesOf()).toEqual([]);
    await report();
    expect(await typesOf()).toEqual(['failing']);
  });
});

test('neither a recovery nor a replay sends an event about an endpoint to itself', async () => {
  service.startSender({ retryScheduleMs: Array(3).fill(20) });
  const bad = await createEndpoint('/bad');
  const good = await createEndpoint('/good');
  await publish();
  await failures(bad, 4);
  service.clock.advance(61_000);
  await report();
  isBroken = false;
  const [event] = (await call(service, 'GET', '/v1/events?type=webhook_endpoint.failing')).json.data;

  const replay = await call(service, 'POST', `/v1/events/${event.id}/replay`, { body: {} });
  const to = replay.json.deliveries.map((one: { webhook_endpoint_id: string }) => one.webhook_endpoint_id);
  expect(to).toEqual([good]);

  const body = { since: Math.floor(service.clock.nowMs() / 1000) - 3_600 };
  const recovery = await call(service, 'POST', `/v1/webhook_endpoints/${bad}/recover`, { body });
  expect(recovery.status).toBe(202);
  // Repeats like the server, because a recovery waits for older transactions, including other tests'.
  const ended = await until(
    async () => {
      await runRecoveries(service.db, service.service);
      return (await call(service, 'GET', `/v1/recoveries/${recovery.json.id}`)).json;
    },
    ({ status }) => status === 'succeeded',
  );
  expect(ended).toMatchObject({ checked_count: 2, queued_count: 1 });
  const { json: sent } = await call(service, 'GET', `/v1/webhook_endpoints/${bad}/deliveries`);
  expect(sent.data.length).toBeGreaterThan(0);
  expect(sent.data.map((one: { event_id: string }) => one.event_id)).not.toContain(event.id);
});

describe('webhook_endpoint.recovered', () => {
  async function failAndReport(): Promise<string> {
    service.startSender({ retryScheduleMs: Array(3).fill(20) });
    const bad = await createEndpoint('/bad');
    await publish();
    await failures(bad, 4);
    service.clock.advance(61_000);
    await report();
    expect(await typesOf()).toEqual(['failing']);
    return bad;
  }

  test('follows the first success after `failing`, once, and a new failure starts over', async () => {
    const bad = await failAndReport();
    isBroken = false;
    await publish();
    await success(bad);
    await Promise.all([report(3), report(3)]);
    await publish();
    await report();
    const events = await healthEvents();
    expect(events.map(({ type }) => type.split('.')[1])).toEqual(['failing', 'recovered']);
    expect(events[1]?.data).toEqual({ webhook_endpoint_id: bad, url: `${receiver.url}/bad` });

    isBroken = true;
    await publish();
    await failures(bad, 4);
    service.clock.advance(61_000);
    await report();
    expect(await typesOf()).toEqual(['failing', 'recovered', 'failing']);
  });

  test('is not written for failures that were never reported', async () => {
    service.startSender({ retryScheduleMs: [20] });
    const bad = await createEndpoint('/bad');
    await publish();
    await failures(bad, 2);
    isBroken = false;
    await publish();
    await success(bad);
    await report();
    expect(await healthEvents()).toEqual([]);
  });

  test('waits for a success after `enable`, and failures after `enable` are reported again', async () => {
    const bad = await failAndReport();
    expect((await enable(bad)).json).toMatchObject(healthy);
    await report();
    expect(await typesOf()).toEqual(['failing']);
    await publish();
    await failures(bad, 4);
    service.clock.advance(61_000);
    await report();
    expect(await typesOf()).toEqual(['failing', 'failing']);
    isBroken = false;
    await enable(bad);
    await publish();
    await success(bad);
    await report();
    expect(await typesOf()).toEqual(['failing', 'failing', 'recovered']);
  });
});

test('a disabled endpoint is logged and counted, keeps its health, and recovers after enable', async () => {
  service.startSender({
    disableRule: { afterMs: 60_000, minFailures: 5 },
    retryScheduleMs: [...Array(3).fill(20), ...Array(20).fill(500)],
  });
  const bad = await createEndpoint('/bad');
  await publish();
  await failures(bad, 4);
  service.clock.advance(61_000);
  await report();
  const disabled = await until(
    () => endpoint(bad),
    ({ status }) => status === 'disabled',
  );
  expect(disabled).toMatchObject({
    failing_since: expect.any(Number),
    last_error: 'status 503',
    next_attempt_at: null,
  });
  expect(await typesOf()).toEqual(['failing', 'disabled']);
  const line = () => service.logLines.find((one) => one.includes('webhook endpoint disabled'));
  await until(
    async () => line(),
    (found) => found !== undefined,
  );
  expect(JSON.parse(line() ?? '')).toMatchObject({
    level: 'warn',
    webhook_endpoint_id: bad,
    account_id: expect.stringMatching(/^acct_/),
    failure_count: disabled.failure_count,
    last_error: 'status 503',
  });
  expect(line()).not.toContain('hush');
  const metrics = await service.service.metrics.registry.metrics();
  expect(metrics).toMatch(/^simplane_webhook_endpoints_disabled_total 1$/m);

  isBroken = false;
  await enable(bad);
  await publish();
  await success(bad);
  await report();
  expect(await typesOf()).toEqual(['failing', 'disabled', 'recovered']);
});

test('an endpoint that was disabled without a report is reported as recovered too', async () => {
  service.startSender({ disableRule: { afterMs: 0, minFailures: 1 } });
  const bad = await createEndpoint('/bad');
  await publish();
  await until(
    () => endpoint(bad),
    ({ status }) => status === 'disabled',
  );
  isBroken = false;
  await enable(bad);
  await publish();
  await success(bad);
  await report();
  expect(await typesOf()).toEqual(['disabled', 'recovered']);
});

test('the log has a line for each attempt, with the reason of a failed one and without the URL', async () => {
  receiver.answer((response, _, count) => (count === 1 ? response.destroy() : response.end()));
  const id = await createEndpoint('/cut');
  const sender = service.startSender();
  await publish();
  await success(id);
  await sender.stop(1_000);
  const lines = service.logLines.filter((line) => line.includes('"msg":"delivery"'));
  const attempt = { level: 'info', webhook_endpoint_id: id, duration_ms: expect.any(Number) };
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { ...attempt, attempt: 1, outcome: 'pending', error: expect.any(String) },
    { ...attempt, attempt: 2, outcome: 'succeeded', status: 200 },
  ]);
  expect(lines.join()).not.toContain('hush');
});
